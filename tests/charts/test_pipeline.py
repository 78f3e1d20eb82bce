"""Boxes of a pipeline's schedule fill what its bubble leaves, and a smaller drawing says so."""

import json
from itertools import pairwise

import pytest

from core.charts.pipeline import pipeline_figure
from core.display import show_percent
from core.parallelism import SCHEDULES
from core.pipeline_drawing import pipeline_drawing


@pytest.mark.parametrize("kind", SCHEDULES)
def test_boxes_of_a_row_follow_each_other_and_fill_all_but_the_bubble(kind):
    drawing = pipeline_drawing(kind, 8, 32, virtual_stages=4)
    data = pipeline_figure(drawing)
    place = drawing.micro_batches.index(32)
    shown = data["schedules"][data["which"][place]]
    rows = {row: [] for row in range(8)}
    for flat in shown["passes"].values():
        for k in range(0, len(flat), 4):
            row, start, long, number = flat[k : k + 4]
            rows[row].append((start, start + long))
            assert 1 <= number <= 32
    for boxes in rows.values():
        assert all(end <= start for (_, end), (start, _) in pairwise(sorted(boxes)))
        busy = sum(end - start for start, end in boxes)
        assert 1 - busy / shown["length"] == pytest.approx(drawing.of_total[place], abs=1e-12)
    assert ("weight" in shown["passes"]) == (kind == "zb-h1")
    assert show_percent(drawing.of_total[place]) in data["alt"][place]
    assert data["readouts"][0]["values"][place] == show_percent(drawing.of_total[place])
    assert len(json.dumps(data)) < 400_000


def test_a_drawing_that_is_smaller_says_so():
    drawing = pipeline_drawing("1f1b", 64, 512)
    data = pipeline_figure(drawing)
    assert data["drawn"][-1].startswith("Drawn smaller: 16 stages and 64 micro-batches.")
    assert pipeline_figure(pipeline_drawing("1f1b", 8, 32))["drawn"][0] == ""
    assert len(data["schedules"]) < len(data["which"]), "equal drawings are sent once"


# Huang et al. 2019, arXiv:1811.06965, section 2.3: K stages and M micro-batches idle for (K - 1) / (M + K - 1).
def test_the_first_number_is_gpipes_bubble():
    drawing = pipeline_drawing("gpipe", 4, 8)
    at = drawing.micro_batches.index(8)
    idle, over_ideal, kept = (readout["values"][at] for readout in pipeline_figure(drawing)["readouts"])
    assert (idle, over_ideal, kept) == (show_percent(3 / 11), show_percent(3 / 8), "8")
