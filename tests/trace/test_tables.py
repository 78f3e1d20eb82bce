"""Rows of a trace: numbers with their units, nothing measured left out, nothing unmeasured made up."""

from __future__ import annotations

import numpy as np
import pytest

from core.trace.examples import examples
from core.trace.reading import read_trace
from core.trace.report import report
from core.trace.tables import (
    LONGEST_NAME,
    TOP_KERNELS,
    collective_rows,
    kernel_rows,
    launch_rows,
    split_columns,
    split_rows,
    step_split,
)
from tests.trace.build import ALL_REDUCE, call, gpu, read, step

NAMED = {"Collective name": "allreduce", "In msg nelems": 1_000_000, "dtype": "BFloat16"}
# Compute hides half of a collective; then 500 us with nothing queued, and a wait of the host.
EVENTS = [
    step(3, 0, 2500),
    call(0, 5, 1),
    gpu(10, 1000, launch=1),
    call(20, 5, 2),
    gpu(510, 1000, ALL_REDUCE, stream=13, launch=2, **NAMED),
    call(1900, 5, 3),
    gpu(2010, 100, launch=3),
    call(1910, 300, 4, "cudaDeviceSynchronize"),
]
ALONE = [gpu(0, 1000), gpu(1500, 500)]  # nothing says what launched them


@pytest.fixture(scope="module")
def made():
    return report(read(*EVENTS))


@pytest.fixture(scope="module")
def recorded():
    return [
        report(read_trace([(path.name, path.read_bytes()) for path in example.paths]))
        for example in examples().values()
    ]


def test_a_split_is_told_in_time_and_share(made):
    assert split_rows(["rank 0"], [made.gpus[0].whole]) == [
        {
            "of": "rank 0",
            "whole": "2.10 ms",
            "compute": "1.10 ms (52.4%)",
            "exposed communication": "500 us (23.8%)",
            "idle: launch": "500 us (23.8%)",
            "communication that compute hides": "500 us",
        }
    ]


def test_parts_that_one_of_the_rows_has_are_columns_of_all(made):
    alone = report(read(*ALONE)).gpus[0].whole
    first, second = split_rows(["a", "b"], [made.gpus[0].whole, alone])
    assert list(first) == list(second)
    assert (first["idle: unknown"], second["idle: unknown"]) == ("none", "500 us (25.0%)")
    assert (second["exposed communication"], second["communication that compute hides"]) == ("none", "none")


def test_without_communication_there_is_no_column_on_hiding_it():
    (row,) = split_rows(["a"], [report(read(*ALONE)).gpus[0].whole])
    assert row == {"of": "a", "whole": "2.00 ms", "compute": "1.50 ms (75.0%)", "idle: unknown": "500 us (25.0%)"}


def test_one_step_of_a_split_has_that_steps_values(recorded):
    for found in recorded:
        for one in found.gpus:
            for at in range(one.steps.size):
                parts = step_split(one.by_step, at).parts()
                assert {name: float(values[at]) for name, values in one.by_step.parts().items()} == parts


def test_kernels_come_longest_first_and_no_more_than_asked(recorded, made):
    product, add = kernel_rows(made.kernels[0])[0], kernel_rows(made.kernels[0])[1]
    assert (product["total"], product["runs"], product["mean"], product["longest"]) == (
        "1.10 ms",
        "2",
        "550 us",
        "1.00 ms",
    )
    assert (add["work"], add["runs"]) == ("communication", "1")
    for found in recorded:
        for kernels in found.kernels:
            assert len(kernel_rows(kernels)) == min(TOP_KERNELS, len(kernels))
            assert len(kernel_rows(kernels, 3)) == 3


def test_a_name_too_long_keeps_both_its_ends():
    name = "first_" + "x" * 200 + "_last_variant"
    (row,) = kernel_rows(report(read(gpu(0, 10, name))).kernels[0])
    assert len(row["kernel"]) <= LONGEST_NAME + len(" ... ")
    assert row["kernel"].startswith("first_")
    assert row["kernel"].endswith("last_variant")
    assert " ... " in row["kernel"]


def test_collectives_say_bytes_and_what_is_exposed(made):
    assert collective_rows(made.collectives[0], "GB") == [
        {
            "collective": made.collectives[0][0].name,
            "runs": "1",
            "each": "2.00 MB",
            "total": "1.00 ms",
            "exposed": "500 us",
            "hidden": "50.0%",
        }
    ]


def test_a_collective_that_tells_no_size_has_an_unknown_one():
    found = report(read(gpu(0, 10, ALL_REDUCE)))
    assert collective_rows(found.collectives[0], "GB")[0]["each"] == "unknown"


def test_launches_of_a_rank_in_a_row(made):
    (row,) = launch_rows(made.ranks, made.launches)
    assert (row["rank"], row["launches"], row["kernels of graphs"]) == ("0", "3", "none")
    assert (row["a call, median"], row["on the GPU, median"]) == ("5.00 us", "1.00 ms")
    # From the call's end: 5 us, 485 us, 105 us; only the first found nothing queued.
    assert (row["call to start, median"], row["found nothing queued"]) == ("105 us", "33.3%")
    assert row["host waits"] == "1, 300 us"


def test_kernels_of_a_graph_are_counted_apart():
    found = report(read(call(0, 5, 1, "cudaGraphLaunch"), gpu(10, 5, launch=1), gpu(20, 5, launch=1)))
    (row,) = launch_rows(found.ranks, found.launches)
    assert row["kernels of graphs"] == "2 from 1 graph launch"
    assert row["a call, median"] == "none"


def test_a_trace_without_launches_says_none():
    found = report(read(*ALONE))
    (row,) = launch_rows(found.ranks, found.launches)
    assert row["launches"] == "0"
    assert {row[name] for name in row if "median" in name or name == "shorter than its call"} == {"none"}


def test_columns_have_one_entry_for_each_gpu_and_step_and_add_up(recorded):
    for found in recorded:
        columns = split_columns(found)
        assert {len(values) for values in columns.values()} == {sum(1 + one.steps.size for one in found.gpus)}
        assert columns["step"].count(-1) == len(found.gpus)
        parts = [values for name, values in columns.items() if name not in ("rank", "gpu", "step", "whole_s")]
        assert np.sum(parts, axis=0) == pytest.approx(columns["whole_s"])
