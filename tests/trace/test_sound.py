"""Clocks that jump: small doubts are marked, large ones refused."""

from __future__ import annotations

import pytest

from core.trace.columns import TraceError
from tests.trace.build import call, gpu, read, recording

STEADY = [gpu(100 * i, 50, launch=i + 1) for i in range(200)]


def refusal(*events):
    with pytest.raises(TraceError) as refused:
        read(*events)
    return str(refused.value)


def test_a_steady_trace_has_no_note():
    assert read(*STEADY).notes == ()
    assert read(*recording(0)).notes == ()


def test_one_negative_duration_is_left_out_and_marked():
    trace = read(*STEADY, gpu(30, -5))
    assert trace.ranks[0].kind.size == 200
    assert "events that end before they begin: 1, left out" in trace.notes[0]


def test_many_negative_durations_are_refused():
    assert "The clock jumped" in refusal(*STEADY, *(gpu(30 + i, -5) for i in range(20)))


def test_a_pause_and_an_event_of_hours_are_refused():
    assert "comes after a pause of 3.00 h" in refusal(*STEADY, gpu(3 * 3600e6, 5))
    assert "lasts 3.00 h" in refusal(*STEADY, gpu(3e4, 3 * 3600e6))


def test_a_long_event_on_another_stream_hides_no_pause_and_is_no_jump():
    assert read(gpu(0, 1000e6, stream=9), gpu(10, 1), gpu(999e6, 5)).notes == ()


def test_time_that_runs_backwards_is_marked_when_little_and_refused_when_much():
    # Correlations count up in the order of the calls, so on one stream later ones start later.
    back = [gpu(100 * i, 50, launch=i + 1) for i in range(1000)]
    back[500:] = [gpu(100 * i - 2000, 20, launch=i + 1) for i in range(500, 1000)]
    assert "backwards by up to 1.90 ms" in read(*back).notes[0]
    back[500:] = [gpu(100 * i - 45_000, 20, launch=i + 1) for i in range(500, 1000)]
    assert "time runs backwards by 44.9 ms within a recording of 54.9 ms" in refusal(*back)


def test_streams_may_overtake_each_other():
    events = [gpu(100 * i, 50, launch=2 * i + 1) for i in range(300)]
    events += [gpu(100 * i + 20_000, 50, stream=9, launch=2 * i) for i in range(1, 300)]
    assert read(*events).notes == ()


def test_a_host_clock_that_runs_backwards_is_marked():
    calls = [call(100 * i - 10, 5, i + 1) for i in range(200)]
    calls[150] = call(5000, 5, 151)
    assert any("backwards by up to 9.89 ms" in note for note in read(*STEADY, *calls).notes)


def test_kernels_before_their_launch_are_marked():
    late = [call(100 * i + 40, 5, i + 1) for i in range(200)]
    (note,) = read(*STEADY, *late).notes
    assert "100% of the kernels start before the call that launched them" in note
