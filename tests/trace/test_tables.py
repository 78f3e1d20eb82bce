"""Rows of a report: numbers of the split, kernels, collectives and launches, with units."""

import pytest

from core.trace import tables
from core.trace.reading import read_trace
from core.trace.report import report
from tests.trace.build import ALL_REDUCE, MATMUL, as_bytes, call, gpu, recording, step

TWO = report(read_trace([(f"rank{rank}.json", as_bytes(recording(rank), rank, 2)) for rank in range(2)]))
# A step of 100 us: 60 of compute, 30 of a collective of which 10 lie beside it, and 20 of launch between.
HAND = report(
    read_trace(
        [
            (
                "trace.json",
                as_bytes(
                    [
                        step(3, 0, 200),
                        call(0, 5, 1),
                        gpu(10, 40, MATMUL, launch=1),
                        call(6, 4, 2),
                        gpu(40, 30, ALL_REDUCE, stream=8, launch=2, **{"In msg nelems": 1000, "dtype": "BFloat16"}),
                        call(75, 5, 3),
                        gpu(90, 20, MATMUL, launch=3),
                    ]
                ),
            )
        ]
    )
)


def test_split_rows_are_times_and_shares():
    (row,) = tables.split_rows(["rank 0"], [HAND.gpus[0].whole])
    assert row == {
        "of": "rank 0",
        "whole": "100 us",
        "compute": "60.0 us (60.0%)",
        "exposed communication": "20.0 us (20.0%)",
        "idle: launch": "20.0 us (20.0%)",
        "communication that compute hides": "10.0 us",
    }


def test_a_step_of_a_split_is_a_split():
    gpu_split = TWO.gpus[1]
    one = tables.step_split(gpu_split.by_step, 2)
    assert float(one.whole_s) == gpu_split.by_step.whole_s[2]
    assert sum(float(part) for part in one.parts().values()) == pytest.approx(float(one.whole_s))


def test_kernels_come_longest_first_with_their_share():
    rows = tables.kernel_rows(HAND.kernels[0])
    assert rows[0]["kernel"] == f"{MATMUL[:32]} ... {MATMUL[-32:]}"
    assert rows[1]["kernel"] == "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"
    assert rows[0] | {"kernel": ""} == {
        "kernel": "",
        "work": "matrix products",
        "share": "66.7%",
        "total": "60.0 us",
        "runs": "2",
        "mean": "30.0 us",
        "longest": "40.0 us",
    }
    assert rows[1]["work"] == "communication"
    assert len(tables.kernel_rows(TWO.kernels[0], count=1)) == 1


def test_a_name_too_long_keeps_both_ends():
    name = "a" * 50 + "b" * 200 + "end"
    found = report(read_trace([("t.json", as_bytes([gpu(0, 5, name)]))]))
    shown = tables.kernel_rows(found.kernels[0])[0]["kernel"]
    assert shown.startswith("aaa")
    assert shown.endswith("bend")
    assert " ... " in shown
    assert len(shown) < tables.LONGEST_NAME + 8


def test_collectives_say_what_is_exposed():
    (row,) = tables.collective_rows(HAND.collectives[0], "GB")
    assert (row["runs"], row["each"], row["total"], row["exposed"], row["hidden"]) == (
        "1",
        "2.00 kB",
        "30.0 us",
        "20.0 us",
        "33.3%",
    )


def test_launches_by_rank():
    (row,) = tables.launch_rows(HAND.ranks, HAND.launches)
    assert (row["launches"], row["a call, median"], row["on the GPU, median"]) == ("3", "5.00 us", "30.0 us")
    assert row["kernels of graphs"] == "none"
    assert len(tables.launch_rows(TWO.ranks, TWO.launches)) == 2


def test_a_trace_without_launches_says_none():
    found = report(read_trace([("t.json", as_bytes([gpu(0, 5)]))]))
    (row,) = tables.launch_rows(found.ranks, found.launches)
    assert row["a call, median"] == "none"


def test_columns_hold_every_gpu_and_step_in_seconds():
    columns = tables.split_columns(TWO)
    assert {len(column) for column in columns.values()} == {2 * (1 + 3)}
    whole = [seconds for step_, seconds in zip(columns["step"], columns["whole_s"], strict=True) if step_ == -1]
    assert whole == [float(gpu_.whole.whole_s) for gpu_ in TWO.gpus]
    parts = [name for name in columns if name.endswith("_s") and name != "whole_s"]
    assert sum(columns[name][0] for name in parts) == pytest.approx(columns["whole_s"][0])


def test_kernels_of_a_graph_are_counted_apart():
    events = [call(0, 5, 1, "cudaGraphLaunch"), gpu(10, 5, launch=1), gpu(20, 5, launch=1)]
    found = report(read_trace([("t.json", as_bytes(events))]))
    (row,) = tables.launch_rows(found.ranks, found.launches)
    assert (row["launches"], row["kernels of graphs"]) == ("0", "2; graphs launched: 1")


def test_a_collective_that_tells_no_size_has_an_unknown_one():
    found = report(read_trace([("t.json", as_bytes([gpu(0, 10, ALL_REDUCE)]))]))
    assert tables.collective_rows(found.collectives[0], "GB")[0]["each"] == "unknown"


def test_a_part_that_one_of_the_splits_has_is_a_column_of_all():
    alone = report(read_trace([("t.json", as_bytes([gpu(0, 1000), gpu(1500, 500)]))])).gpus[0].whole
    first, second = tables.split_rows(["a", "b"], [HAND.gpus[0].whole, alone])
    assert list(first) == list(second)
    assert (first["idle: unknown"], second["idle: unknown"]) == ("none", "500 us (25.0%)")
    assert (second["exposed communication"], second["communication that compute hides"]) == ("none", "none")
