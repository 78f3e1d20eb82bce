"""The limit that a trace names."""

from __future__ import annotations

import numpy as np
import pytest

from core.trace.examples import examples
from core.trace.reading import read_trace
from core.trace.report import report
from core.trace.verdict import LIMITS, TraceVerdict, verdict
from tests.trace.build import ADD, ALL_REDUCE, MATMUL, TO_GPU, call, gpu, host, read

FLASH = "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128>>"
LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


def of(*events) -> TraceVerdict:
    return verdict(report(read(*events)))


def decode(gap: float) -> list:
    """Kernels of 2 us, each launched when the one before it is long done."""
    return [event for i in range(50) for event in (call(gap * i, 6, i + 1), gpu(gap * i + 8, 2, launch=i + 1))]


@pytest.mark.parametrize(
    ("events", "limit", "step"),
    [
        ([gpu(0, 90), gpu(95, 5)], "kernels", 1),
        ([gpu(0, 90, FLASH), gpu(95, 5)], "kernels", 4),
        ([gpu(0, 40), gpu(40, 60, ALL_REDUCE, stream=13)], "communication", 3),
        (decode(20), "launch", 4),
        ([call(0, 5, 1), gpu(6, 9, launch=1), host(20, 80, LOADER), call(99, 5, 2), gpu(105, 9, launch=2)], "input", 1),
        ([gpu(0, 10), gpu(10, 40, TO_GPU)], "copies", 2),
        ([gpu(0, 10), gpu(100, 10)], "unknown", 1),
    ],
)  # fmt: skip
def test_the_longest_part_binds(events, limit, step):
    found = of(*events)
    assert (found.limit, found.step) == (limit, step)
    assert sum(found.shares.values()) == pytest.approx(1)
    assert found.title
    assert found.advice
    assert f"{found.shares[limit]:.0%} of the time" in found.evidence[0]


def test_communication_that_compute_hides_binds_nothing():
    found = of(gpu(0, 100), gpu(0, 100, ALL_REDUCE, stream=13))
    assert found.limit == "kernels"
    assert found.shares["communication"] == 0


def test_a_large_second_limit_is_named_with_its_step():
    found = of(gpu(0, 30), gpu(30, 60, ALL_REDUCE), gpu(90, 10, TO_GPU))
    assert (found.also, found.also_step) == ("kernels", 1)
    assert found.advice.endswith("Then compute kernels, 30%.")
    assert of(gpu(0, 85), gpu(85, 15, ALL_REDUCE)).also is None
    waits = of(gpu(0, 70), gpu(70, 30, ALL_REDUCE))
    assert (waits.limit, waits.also, waits.also_step) == ("kernels", "communication", 3)
    assert of(gpu(0, 40), gpu(100, 10)).also == "kernels"  # the gap's reason is unknown, and stays first
    assert of(gpu(0, 70), gpu(100, 10)).also is None, "an unknown reason has no step to read"


def test_kernels_of_two_kinds_do_not_outweigh_a_limit_that_is_longer_than_each():
    """30 of products, 30 of others, 40 of communication: of the method's limits communication takes longest."""
    found = of(gpu(0, 30, MATMUL), gpu(30, 30, ADD), gpu(60, 40, ALL_REDUCE))
    assert (found.limit, found.step) == ("communication", 3)
    assert found.shares["kernels"] == pytest.approx(0.6)
    assert found.kinds == pytest.approx((0.3, 0.3))
    assert (found.also, found.also_step) == ("kernels", 1)
    assert found.evidence[1].startswith("Kernels take 60% in all, but by their names of two kinds")
    # Of one kind they bind.
    assert of(gpu(0, 30, MATMUL), gpu(30, 30, FLASH), gpu(60, 40, ALL_REDUCE)).limit == "kernels"
    assert of(gpu(0, 60, ADD), gpu(60, 40, ALL_REDUCE)).limit == "kernels"


def test_the_recorded_training_step_names_its_communication_and_its_kernels():
    found = verdict(report(read_trace(examples()["training"].files())))
    assert (found.limit, found.step) == ("communication", 3)
    assert (found.also, found.also_step) == ("kernels", 1)
    assert found.shares["kernels"] > found.shares["communication"] > max(found.kinds)


def test_the_most_to_gain():
    found = of(gpu(0, 30), gpu(30, 60, ALL_REDUCE), gpu(90, 10, TO_GPU))
    assert found.most_gain == pytest.approx(1 / 0.4)
    assert of(gpu(0, 10)).most_gain == np.inf


def test_shares_are_the_mean_over_gpus_and_their_span_is_said():
    found = of(gpu(0, 100), gpu(0, 50, device=1), gpu(50, 50, ALL_REDUCE, device=1))
    assert found.shares["kernels"] == pytest.approx(0.75)
    assert "75% of the time (50% to 100% of a GPU's)" in found.evidence[0]


def test_no_time_at_all_is_unknown():
    assert of(gpu(0, 0)).shares == {limit: float(limit == "unknown") for limit in LIMITS}
