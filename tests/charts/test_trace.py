"""Pictures of a trace's time split: every part at its length, in its order, and in words."""

from __future__ import annotations

import numpy as np
import pytest

from core.charts.theme import ROLES
from core.charts.trace import MOST_ROWS, ROLE_OF_PART, by_gpu, by_step, gpu_name
from core.trace.examples import examples
from core.trace.reading import read_trace
from core.trace.report import report
from core.units import MILLISECOND
from tests.trace.build import ALL_REDUCE, Event, as_bytes, call, gpu, read, step

# 1 ms of compute that hides half of a collective of 1 ms, 0.5 ms with nothing queued, 0.1 ms of compute.
EVENTS = [
    step(3, 0, 2500),
    call(0, 5, 1),
    gpu(10, 1000, launch=1),
    call(20, 5, 2),
    gpu(510, 1000, ALL_REDUCE, stream=13, launch=2),
    call(1900, 5, 3),
    gpu(2010, 100, launch=3),
]
MS_BY_PART = {"compute": 1.1, "exposed communication": 0.5, "idle: launch": 0.5}


def drawn(figure):
    """Of each bar its parts with their milliseconds."""
    (trace,) = figure.figure["data"]
    found: dict[str, dict[str, float]] = {}
    for row, part, length in zip(trace["y"], trace["meta"]["parts"], trace["x"], strict=True):
        found.setdefault(row, {})[part] = float(length)
    return found


def many_steps(count: int) -> list[Event]:
    """Steps of 100 us with one kernel each, as long as the step's number."""
    events = []
    for number in range(1, count + 1):
        at = 100 * number
        events += [step(number, at, 100), call(at, 5, number), gpu(at + 10, number, launch=number)]
    return events


def test_every_part_of_a_split_has_a_role_of_the_theme():
    (whole,) = report(read(*EVENTS)).gpus
    assert list(ROLE_OF_PART) == list(whole.whole.parts())
    assert set(ROLE_OF_PART.values()) <= set(ROLES)
    assert len(set(ROLE_OF_PART.values())) == len(ROLE_OF_PART)


def test_a_gpus_bar_has_the_parts_that_there_are_at_their_lengths():
    figure = by_gpu(report(read(*EVENTS)))
    (parts,) = drawn(figure).values()
    assert parts == pytest.approx(MS_BY_PART)
    assert list(parts) == [name for name in ROLE_OF_PART if name in parts]
    assert figure.labels.texts == [["2.10 ms"]]


def test_the_words_say_what_the_bar_shows():
    assert by_gpu(report(read(*EVENTS))).alt == [
        "Rank 0, 2.10 ms: compute 52.4%, exposed communication 23.8%, idle: launch 23.8%."
    ]


def test_parts_of_every_example_add_up_to_its_whole_and_fit_the_axis():
    for example in examples().values():
        trace = read_trace([(path.name, path.read_bytes()) for path in example.paths])
        found = report(trace)
        figure = by_gpu(found)
        bars = drawn(figure)
        assert list(bars) == [f"rank {rank}" for rank in found.ranks]
        for parts, one in zip(bars.values(), found.gpus, strict=True):
            assert sum(parts.values()) * MILLISECOND == pytest.approx(float(one.whole.whole_s), rel=1e-6)
            assert sum(parts.values()) < figure.figure["layout"]["xaxis"]["range"][1]


def test_steps_are_bars_of_one_gpu():
    (one,) = report(read(*many_steps(3))).gpus
    figure = by_step(one)
    assert list(drawn(figure)) == ["step 1", "step 2", "step 3"]
    assert [parts["compute"] for parts in drawn(figure).values()] == pytest.approx([0.001, 0.002, 0.003])


def test_no_more_bars_than_can_be_compared():
    (one,) = report(read(*many_steps(MOST_ROWS + 5))).gpus
    assert list(drawn(by_step(one))) == [f"step {number}" for number in range(1, MOST_ROWS + 1)]


def test_a_gpu_is_named_by_its_rank_and_by_itself_where_the_rank_has_several():
    alone = report(read_trace([(f"{rank}.json", as_bytes(EVENTS, rank, 2)) for rank in (0, 1)]))
    assert [gpu_name(one, alone) for one in alone.gpus] == ["rank 0", "rank 1"]
    several = report(read(gpu(0, 10), gpu(0, 10, device=1)))
    assert [gpu_name(one, several) for one in several.gpus] == ["rank 0, GPU 0", "rank 0, GPU 1"]


def test_a_figure_is_drawn_once_and_can_be_sent():
    payload = by_gpu(report(read(*EVENTS))).payload()
    assert (payload["frames"], payload["slider"]) == (1, None)
    assert np.isfinite(payload["figure"]["layout"]["xaxis"]["range"]).all()
