"""Several files as one job."""

from __future__ import annotations

import json

import pytest

from core.trace.columns import TraceError
from core.trace.reading import read_trace
from core.trace.steps import step_ranges
from tests.trace.build import call, document, gpu, step


def rank(number, steps, world=2, *, name=None):
    """A file with one launch and one kernel in each step."""
    events = []
    for i in steps:
        events += [step(i, 100 * i, 90), call(100 * i + 5, 5, i + 1), gpu(100 * i + 20, 50, launch=i + 1)]
    return (name or f"file{number}.json", json.dumps(document(events, number, world)).encode())


def refusal(*files):
    with pytest.raises(TraceError) as refused:
        read_trace(files)
    return str(refused.value)


def test_two_files_of_one_rank_are_refused():
    assert refusal(rank(1, [0], name="a"), rank(1, [0], name="b")).startswith("a and b are both of rank 1")


def test_files_of_two_jobs_are_refused():
    assert "different jobs: of 2 and 4 ranks" in refusal(rank(0, [0], 2), rank(1, [0], 4))


def test_ranks_without_a_common_step_are_refused():
    said = refusal(rank(0, [1, 2]), rank(1, [3, 4]))
    assert "different steps (rank 0: 1, 2; rank 1: 3, 4)" in said


def test_only_common_steps_are_kept_and_that_is_marked():
    trace = read_trace([rank(0, [1, 2, 3]), rank(1, [2, 3, 4])])
    assert [step_ranges(each)[0].tolist() for each in trace.ranks] == [[2, 3], [2, 3]]
    assert [int(each.on_gpu.sum()) for each in trace.ranks] == [2, 2]
    assert trace.notes == ("The ranks do not have the same steps; only those that all have are kept: 2, 3.",)


def test_a_rank_with_nothing_in_the_common_steps_is_refused():
    events = [step(1, 0, 50), step(2, 100, 50), call(110, 5, 1), gpu(120, 5, launch=1)]
    second = ("file1.json", json.dumps(document(events, 1, 2)).encode())
    assert "no GPU event in the steps that the ranks share (1)" in refusal(rank(0, [1]), second)


def test_missing_ranks_are_marked():
    (note,) = read_trace([rank(5, [0], 8)]).notes
    assert note.startswith("1 of the job's 8 ranks were given")


def test_a_rank_without_steps_is_marked():
    notes = read_trace([rank(0, [1]), ("file1.json", bare(1))]).notes
    assert notes == ("Rank 1 has no ProfilerStep#; it is split as a whole.",)


def bare(number, world=2):
    return json.dumps(document([gpu(1, 5)], number, world)).encode()


def test_ranks_can_stand_in_the_file_s_name_or_follow_the_order():
    files = [(name, bare(None)) for name in ("b.json", "run_rank-1.json", "rank0_step3.json")]
    trace = read_trace(files)
    assert [(each.rank, each.file) for each in trace.ranks] == [
        (0, "rank0_step3.json"),
        (1, "run_rank-1.json"),
        (2, "b.json"),
    ]
    assert trace.notes == ("b.json do not say which rank they are; ranks follow the order.",)


def test_a_single_file_needs_no_rank():
    assert read_trace([("trace.json", bare(None))]).notes == ()
