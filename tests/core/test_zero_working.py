"""Derivations of ZeRO's states and largest models, against the functions and the paper's tables."""

import pytest

from core.units import GB
from core.zero import OFFLOADS, RECIPES, STAGES, largest_model, zero_memory
from core.zero_working import largest_model_working, zero_working
from tests.core.test_working import calculate, holds


@pytest.mark.parametrize("offload", OFFLOADS)
@pytest.mark.parametrize("optimizer", RECIPES)
@pytest.mark.parametrize("stage", STAGES)
def test_model_states(stage, optimizer, offload):
    inputs = {"stage": stage, "optimizer": optimizer, "offload": offload}
    working = zero_working(70553706496, 64, **inputs)
    holds(working, zero_memory(70553706496, 64, **inputs).total_bytes)


def test_model_states_read_as_on_a_whiteboard():
    assert zero_working(7.5e9, 64, stage=2).lines == (
        "2Ψ + 2Ψ/N + 12Ψ/N",
        "= 2 × 7,500,000,000 + 2 × 7,500,000,000 / 64 + 12 × 7,500,000,000 / 64",
        "= 16,640,625,000 bytes",
    )


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("optimizer", RECIPES)
def test_the_largest_model(stage, optimizer):
    working = largest_model_working(80 * 2**30, 24, stage=stage, optimizer=optimizer)
    holds(working, largest_model(80 * 2**30, 24, stage=stage, optimizer=optimizer))


# Rajbhandari et al. 2020, arXiv:1910.02054, table 2, without model parallelism: 64 V100 of 32 GB.
@pytest.mark.parametrize(("stage", "published_billions"), [(0, 2.0), (1, 7.6), (2, 14.4), (3, 128.0)])
def test_the_arithmetic_of_the_largest_model_gives_table_2(stage, published_billions):
    working = largest_model_working(32 * GB, 64, stage=stage)
    assert calculate(working.substitution) / 1e9 == pytest.approx(published_billions, abs=0.05)


def test_what_lies_in_host_memory_is_a_zero_in_the_sum():
    working = zero_working(7.5e9, 64, stage=2, offload="optimizer")
    assert working.formula.endswith(" + 0")
    assert working.terms[-1].why == "in host memory"
