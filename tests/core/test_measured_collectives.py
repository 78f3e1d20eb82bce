"""Collectives as measured: a start and a rate that are found again, beside what a ring could do."""

import pytest

from core.collective_time import bus_bytes_per_s
from core.measured_collectives import collective_over_bytes, fit_collective
from core.measured_file import CollectiveRow
from core.measured_profile import Profile, load_profile

H200 = load_profile("h200-sxm")


def test_a_start_and_a_rate_are_found_again():
    sizes = tuple(2**i for i in range(9, 30))
    row = CollectiveRow(op="all_reduce", ranks=8, num_bytes=sizes, seconds=tuple(2e-5 + s / 2e11 for s in sizes))
    fit = fit_collective(Profile(H200.file.model_copy(update={"collectives": (row,)})), "all_reduce", 8)
    assert fit.latency_s == pytest.approx(2e-5, rel=0.001)
    assert fit.bytes_per_s == pytest.approx(2e11, rel=0.001)
    assert fit.bus_bytes_per_s == pytest.approx(2e11 * 2 * 7 / 8, rel=0.001)
    assert fit.worst < 0.001


def test_the_fit_of_eight_h200_is_that_of_their_ends():
    curves, (fit,) = collective_over_bytes([H200], "all_reduce", 8)
    assert fit.latency_s == pytest.approx(16.0e-6, rel=0.03)
    # 512 MiB in 2.0403 ms: what nccl-tests calls bus bandwidth, start included.
    whole = bus_bytes_per_s("all_reduce", 2**29, 8, 2.0403e-3)
    assert fit.bus_bytes_per_s == pytest.approx(float(whole), rel=0.06)
    assert fit.link_bytes_per_s == 450e9
    assert curves.floor_name == "a ring at the link's raw rate"
    assert collective_over_bytes([load_profile("gb200")], "all_reduce", 8)[1] == ()


def test_a_single_size_has_a_rate_without_a_start():
    row = CollectiveRow(op="all_reduce", ranks=2, num_bytes=(1000,), seconds=(1e-6,))
    fit = fit_collective(Profile(H200.file.model_copy(update={"collectives": (row,)})), "all_reduce", 2)
    assert fit.bytes_per_s == pytest.approx(1e9)
