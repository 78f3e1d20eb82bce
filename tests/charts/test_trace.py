"""Bars of a trace: the parts of a split, end to end, and the same in words."""

import numpy as np
import pytest

from core.charts import trace as charts
from core.trace.reading import read_trace
from core.trace.report import report
from core.trace.split import GpuSplit, Split
from core.units import MILLISECOND
from tests.trace.build import as_bytes, call, gpu, recording, step

TWO = report(read_trace([(f"rank{rank}.json", as_bytes(recording(rank, steps=4), rank, 2)) for rank in range(2)]))


def bars(figure):
    """Width of each part by row, in seconds."""
    (trace,) = figure.payload()["figure"]["data"]
    found = {}
    for row, part, width in zip(trace["y"], trace["meta"]["parts"], trace["customdata"], strict=True):
        found.setdefault(row, {})[part] = width * MILLISECOND
    return found


def test_one_bar_a_gpu_whose_parts_are_the_split():
    drawn = bars(charts.by_gpu(TWO))
    assert list(drawn) == ["rank 0", "rank 1"]
    for one, row in zip(TWO.gpus, drawn.values(), strict=True):
        parts = {name: float(seconds) for name, seconds in one.whole.parts().items() if name in row}
        assert row == pytest.approx(parts)
        assert sum(row.values()) == pytest.approx(float(one.whole.whole_s))


def test_one_bar_a_step():
    first = TWO.gpus[0]
    drawn = bars(charts.by_step(first))
    assert list(drawn) == [f"step {number}" for number in first.steps]
    assert [sum(row.values()) for row in drawn.values()] == pytest.approx(list(first.by_step.whole_s))


def test_a_part_that_no_row_has_is_left_out_and_every_part_has_a_look():
    drawn = bars(charts.by_gpu(TWO))
    assert "idle: unknown" not in drawn["rank 0"]
    assert set(charts.ROLE_OF_PART) == set(TWO.gpus[0].whole.parts())
    assert len(set(charts.ROLE_OF_PART.values())) == len(charts.ROLE_OF_PART)


def test_the_words_give_each_row_its_shares():
    (said,) = charts.by_gpu(TWO).alt
    assert said.startswith("Rank 0, ")
    assert "Rank 1, " in said
    compute = float(TWO.gpus[0].whole.compute_s / TWO.gpus[0].whole.whole_s)
    assert f"compute {100 * compute:.1f}%" in said


def test_gpus_of_one_rank_are_told_apart():
    found = report(read_trace([("t.json", as_bytes([gpu(0, 5), gpu(1, 5, device=1)]))]))
    figure = charts.by_gpu(found)
    assert list(bars(figure)) == ["rank 0, GPU 0", "rank 0, GPU 1"]
    assert "Rank 0, GPU 1, 5.00 us: compute 100%." in figure.alt[0]


def test_more_steps_than_can_be_compared_are_cut():
    events = []
    for number in range(40):
        events += [
            step(number, 100 * number, 90),
            call(100 * number + 1, 5, number + 1),
            gpu(100 * number + 10, 50, launch=number + 1),
        ]
    found = report(read_trace([("t.json", as_bytes(events))]))
    assert len(bars(charts.by_step(found.gpus[0]))) == charts.MOST_ROWS


def test_a_gpu_without_any_length_is_drawn_as_nothing():
    none = np.zeros(())
    fields = dict.fromkeys(Split.__dataclass_fields__, none)
    empty = GpuSplit(0, 0, np.zeros(0, dtype=np.int64), np.zeros(0), Split(**fields), Split(**fields))
    figure = charts.by_gpu(type(TWO)((0,), (empty,), (), (), (), ()))
    assert figure.alt == ["Rank 0, 0 us: nothing."]
