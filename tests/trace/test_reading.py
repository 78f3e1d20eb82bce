"""Files into columns, and the sentences of those that cannot be read."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from core.trace import reading
from core.trace.columns import NONE, Kind, TraceError
from core.trace.reading import read_trace
from tests.trace.build import (
    ALL_REDUCE,
    MATMUL,
    TO_GPU,
    as_bytes,
    call,
    document,
    gpu,
    host,
    packed,
    read,
    read_one,
    recording,
    step,
)
from tests.trace.large import measure

DATA = Path(__file__).parent / "data"


def refusal(content: bytes, **options: int) -> str:
    with pytest.raises(TraceError) as refused:
        read_trace([("trace.json", content)], **options)
    return str(refused.value)


def test_events_become_columns_sorted_by_start():
    args = {"Collective name": "allreduce", "In msg nelems": 1000, "dtype": "BFloat16"}
    trace = read_one(
        gpu(30, 5, ALL_REDUCE, stream=13, device=1, launch=8, **args),
        gpu(10, 2.5, MATMUL, launch=7, device=1),
        call(4, 3, 7),
        host(4, 3, "aten::mm", "cpu_op"),
        gpu(20, 1, TO_GPU, device=1),
        step(0, 0, 50),
    )
    assert [Kind(int(kind)).name for kind in trace.kind] == ["STEP", "RUNTIME", "COMPUTE", "MEMCPY", "COMMUNICATION"]
    np.testing.assert_allclose(trace.start_s * 1e6, [-10, -6, 0, 10, 20], atol=1e-9)
    np.testing.assert_allclose((trace.end_s - trace.start_s) * 1e6, [50, 3, 2.5, 1, 5])
    assert trace.device.tolist() == [NONE, NONE, 1, 1, 1]
    assert trace.stream.tolist() == [NONE, NONE, 7, 7, 13]
    assert trace.correlation.tolist() == [NONE, 7, 7, NONE, 8]
    assert [trace.names[index] for index in trace.name[2:]] == [MATMUL, TO_GPU, ALL_REDUCE]
    assert trace.names[trace.collective[4]] == "allreduce"
    assert trace.message_bytes[4] == 2000
    assert (trace.gpu, trace.rank, trace.devices) == ("NVIDIA H200", 0, (1,))


def test_plain_gzip_and_zip_read_the_same(tmp_path):
    content = as_bytes(recording(3))
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("trace.json", content)
    with (tmp_path / "all.zip").open("rb") as file:
        from_zip = read_trace([("all.zip", file)])
    for other in (read_trace([("trace.json", packed(content))]), from_zip):
        np.testing.assert_array_equal(other.ranks[0].start_s, read_trace([("t", content)]).ranks[0].start_s)


def test_absolute_times_keep_their_digits():
    # Kineto before 2024 wrote microseconds since 1970; float64 then resolves a quarter of one.
    trace = read_one(gpu(1.7e15, 3.25), gpu(1.7e15 + 10.5, 2))
    np.testing.assert_allclose(trace.start_s * 1e6, [0, 10.5])


def test_a_real_trace_of_a_cpu_run_is_answered_in_words():
    # One-token decode steps, PyTorch 2.13 without CUDA, recorded by tests/recording/record_traces.py --device cpu.
    said = refusal((DATA / "cpu_only.json.gz").read_bytes())
    assert "events of the host but no GPU event" in said
    assert "ProfilerActivity.CUDA" in said


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "it is empty"),
        (b"not json", "it is not JSON"),
        (b'{"nodes": []}', "it has no traceEvents"),
        (b'{"traceEvents": {}}', "it has no traceEvents"),
        (b"\x00\x01\x02", "it is not JSON"),
        (gzip.compress(b"", mtime=0)[:5], "the gzip file is cut off before its list of events begins"),
        (as_bytes([]), "without a single event"),
        (as_bytes([{"ph": "M", "name": "process_name"}]), "events of other kinds but no GPU event"),
        (as_bytes([gpu(1, 2) | {"ts": "soon"}]), "no GPU event with a usable time"),
        (as_bytes([gpu(1, -2)]), "no GPU event with a usable time"),
        (as_bytes([host(1, 2, "aten::mm", "cpu_op"), gpu(1, 2)])[:-250], "before that stands no GPU event"),
    ],
)
def test_what_is_no_gpu_trace_is_refused_in_words(content, words):
    assert words in refusal(content)


def test_no_file_is_refused():
    with pytest.raises(TraceError, match="No file"):
        read_trace([])


def test_a_cut_gzip_keeps_its_first_events_and_says_so():
    content = packed(as_bytes(recording(1)))
    whole = read_trace([("t.json.gz", content)]).ranks[0]
    trace = read_trace([("t.json.gz", content[: len(content) // 2])])
    assert trace.partial
    assert "t.json.gz: the gzip file is cut off. What stands before that is kept (" in trace.notes[0]
    assert 10 < trace.ranks[0].kind.size < whole.kind.size


@pytest.mark.parametrize(
    "odd",
    [
        {"ts": None},
        {"ts": float("nan")},
        {"ts": 1e300},
        {"dur": float("inf")},
        {"dur": "long"},
        {"name": 5},
        {"ts": 10**30},
        {"ts": True},
    ],
)
def test_an_event_without_a_usable_time_or_name_is_left_out_and_counted(odd):
    trace = read(gpu(1, 2), gpu(5, 2) | odd)
    assert trace.ranks[0].kind.size == 1
    assert "events without a usable time or name: 1, left out" in trace.notes[0]


@pytest.mark.parametrize("odd", [{"dur": 1e300}, {"name": None}])
def test_a_trace_that_lost_most_of_its_gpu_events_is_not_judged_by_the_rest(odd):
    with pytest.raises(TraceError, match="2 of 3 GPU events have no usable time or name"):
        read(gpu(1, 2), gpu(5, 2) | odd, gpu(8, 2) | odd)


def test_odd_places_are_no_reason_to_lose_an_event():
    event = gpu(1, 2)
    event["args"] = {"device": "1", "stream": [], "correlation": 2.5}
    trace = read_one(event, {**gpu(5, 2), "args": None, "pid": 1})
    assert trace.device.tolist() == [1, 1]
    assert trace.stream.tolist() == [NONE, 7]
    assert trace.correlation.tolist() == [NONE, NONE]


def test_half_a_surrogate_in_a_name_can_still_be_shown():
    (name,) = read_one(gpu(1, 2, "kernel \ud800")).names
    assert name.encode() == b"kernel ?"


def test_more_than_may_be_kept_is_refused(monkeypatch):
    monkeypatch.setattr(reading, "MAX_EVENTS", 100)
    assert "too large" in refusal(as_bytes(recording(0)))
    assert "too large" in refusal(as_bytes([gpu(1, 2)] * 50), max_bytes=5000)


def test_ranks_come_from_several_files():
    files = [(f"{rank}.json", json.dumps(document(recording(rank), rank, 3)).encode()) for rank in (2, 0, 1)]
    trace = read_trace(files)
    assert [rank.rank for rank in trace.ranks] == [0, 1, 2]
    assert [rank.file for rank in trace.ranks] == ["0.json", "1.json", "2.json"]
    assert not trace.partial


def test_reading_time_and_memory_stay_far_below_the_promise():
    # The promise: 200 MB in 15 s and 2 GB. Here a tenth of it, in a process of its own; `python -m tests.trace.large`
    # measures the whole. Memory hardly grows with the file: an event is dropped once it was looked at.
    seconds, peak_bytes, told = measure(20_000_000)
    assert seconds < 1.5 * 2  # twice the promise's rate, for a machine that is busy with other tests
    assert peak_bytes < 200_000_000
    assert told >= 19
