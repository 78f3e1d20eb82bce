"""The derivation of what a ZeRO stage sends, against the function and section 7 of the paper."""

import pytest

from core.collectives import zero_traffic
from core.traffic_working import traffic_working
from core.zero import STAGES
from tests.core.test_working import calculate, holds


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("data_parallel", [1, 64])
def test_traffic(data_parallel, stage):
    inputs = {"stage": stage, "optimizer": "adam-fp32-grads", "accumulation_steps": 8}
    holds(
        traffic_working(70553706496, data_parallel, **inputs),
        zero_traffic(70553706496, data_parallel, **inputs).total_bytes,
    )


# 2 x 2 x 7.5e9 = 30e9 bytes, of which a ring of 64 sends 63 / 64.
def test_an_all_reduce_reads_as_on_a_whiteboard():
    assert traffic_working(7.5e9, 64, stage=0).lines == (
        "2 × 2 Ψ (N - 1) / N",
        "= 2 × 2 × 7,500,000,000 × (64 - 1) / 64",
        "= 29,531,250,000 bytes",
    )


# Rajbhandari et al. 2020, section 7: 2 Ψ elements for plain data parallelism and stages 1 and 2, 3 Ψ for stage 3.
@pytest.mark.parametrize(("stage", "times_psi"), [(0, 2), (1, 2), (2, 2), (3, 3)])
def test_many_gpus_send_the_papers_multiple_of_the_parameters(stage, times_psi):
    sent = calculate(traffic_working(7.5e9, 1024, stage=stage).substitution)
    assert sent / (2 * 7.5e9) == pytest.approx(times_psi, rel=2e-3)  # a ring of 1,024 sends 1,023 parts


def test_stage_2_sends_gradients_with_each_micro_batch_and_weights_once():
    gradients, weights = traffic_working(7.5e9, 64, stage=2, accumulation_steps=4).terms
    assert gradients.value == 4 * weights.value
    assert weights.value == pytest.approx(15e9 * 63 / 64)
