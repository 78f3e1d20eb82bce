"""The pictures of step 3 carry the numbers of core: bars, readouts, sentences, boxes and tables."""

import json
import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from core.charts.communication import by_axis, scaling_figure, scaling_table, sweep_table
from core.charts.pipeline import pipeline_figure
from core.charts.rank_places import rank_places
from core.charts.who_talks import who_talks
from core.communication import headline_of, over_gpus, scaling
from core.display import show_bytes, show_percent, show_seconds
from core.parallelism import SCHEDULES
from core.pipeline_drawing import pipeline_drawing
from core.presets import load_presets
from core.rank_places import rank_picture
from core.scenario import changed
from core.scenario_link import default_scenario
from tests.core.test_communication import on

START = default_scenario()
SPLIT = changed(START, tensor_parallel=8, pipeline_parallel=8, data_parallel=4, num_micro_batches=32, zero_stage=1)
SCENARIOS = {name: preset.scenario() for name, preset in load_presets().items()} | {
    "split": SPLIT,
    "no peak": on("apple-m4-max", tensor_parallel=8),
}
ALL = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)


def figure(scenario, *, unit="GB", baseline=None):
    return by_axis(
        over_gpus(scenario), gpus_per_replica=scenario.training.gpus_per_replica, unit=unit, baseline=baseline
    )


def own_place(scenario):
    return over_gpus(scenario).data_parallel.index(scenario.training.data_parallel)


@ALL
@pytest.mark.parametrize("unit", ["GB", "GiB"])
def test_every_figure_is_whole(scenario, unit):
    payload = figure(scenario, unit=unit, baseline=headline_of(SPLIT)).payload()
    assert "nan" not in json.dumps(payload, allow_nan=False).replace("nano", "")
    assert len(payload["alt"]) == payload["frames"]
    curves = scaling(scenario)
    if curves:
        json.dumps(scaling_figure(curves).payload(), allow_nan=False)


@ALL
def test_readouts_and_sentence_agree_with_the_headline(scenario):
    payload, at, here = figure(scenario).payload(), own_place(scenario), headline_of(scenario)
    shown = [readout["values"][at] for readout in payload["readouts"]]
    if here.step_s is None:
        assert shown == [show_seconds(here.on_links_s), show_bytes(here.sent_bytes)]
        assert "on the links" in payload["alt"][at]
        return
    exposed = show_seconds(here.exposed_s) if here.exposed_s else "0 s"
    assert shown == [exposed, show_seconds(here.step_s), show_bytes(here.sent_bytes)]
    assert payload["readouts"][1]["notes"][at] == f"MFU {show_percent(here.mfu)}"
    assert f"of a step of {show_seconds(here.step_s)}" in payload["alt"][at]


def test_bytes_stand_beside_the_bars():
    payload, at = figure(SPLIT).payload(), own_place(SPLIT)
    labels = next(table["text"] for table in payload["tables"] if "text" in table)[at]
    sweep = over_gpus(SPLIT)
    assert payload["figure"]["data"][0]["y"] == ["work", "tensor", "pipeline", "data", "bubble"]
    assert labels[1:4] == [show_bytes(float(sweep.sent_bytes[axis][at])) for axis in sweep.axes]
    assert labels[4] == show_seconds(float(sweep.bubble_s[at]))
    alone = next(table["text"] for table in figure(START).payload()["tables"] if "text" in table)[0]
    assert alone[1] == "nothing"


def test_pinned_numbers_stand_beside_the_new_ones():
    payload, at = figure(START, baseline=headline_of(SPLIT)).payload(), own_place(START)
    notes = [readout["notes"][at] for readout in payload["readouts"]]
    assert notes[0].startswith("0% of the step; -")
    assert all(note.endswith("against pinned") for note in notes)
    same = figure(START, baseline=headline_of(START)).payload()["readouts"]
    assert {readout["notes"][at].split("; ")[-1] for readout in same} == {"no change against pinned"}


def test_the_scaling_curve_marks_what_does_not_fit_and_where_we_are():
    payload = scaling_figure(scaling(START)).payload()
    strong, weak, own = payload["figure"]["data"]
    assert strong["x"] == [1, 2, 4, 8, 16, 32, 64]
    assert weak["x"][-1] == 16_384
    assert strong["marker"]["symbol"][0] == "circle-open"
    assert strong["marker"]["symbol"][-1] == "circle"
    assert own["x"] == [64]
    assert own["y"] == pytest.approx([100 * headline_of(START).mfu])
    assert "open marks" in payload["figure"]["layout"]["xaxis"]["title"]["text"]
    assert payload["alt"][0].startswith("Strong: the batch stays, MFU goes from")


def test_tables_hold_what_the_charts_show():
    table = sweep_table(over_gpus(SPLIT))
    assert len({len(column) for column in table.values()}) == 1
    own = [row for row, gpus in enumerate(table["gpus"]) if gpus == 256]
    assert [table["axis"][row] for row in own] == ["tensor", "pipeline", "data"]
    assert sum(table["sent_bytes"][row] for row in own) == pytest.approx(headline_of(SPLIT).sent_bytes)
    assert sum(table["exposed_s"][row] for row in own) == pytest.approx(headline_of(SPLIT).exposed_s)
    assert list(sweep_table(over_gpus(SCENARIOS["no peak"])))[-1] == "on_links_s"
    curves = scaling_table(scaling(SPLIT))
    assert set(curves["mode"]) == {"strong", "weak"}
    assert len({len(column) for column in curves.values()}) == 1


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


@ALL
def test_diagrams_are_whole_and_in_words(scenario):
    for drawing in (who_talks(), rank_places(rank_picture(scenario.training, 8))):
        for picture, width in ((drawing.wide, 760), (drawing.narrow, 350)):
            root = ElementTree.fromstring(picture)
            assert float(root.attrib["width"]) <= width
            right = [float(x.attrib["x"]) + float(x.attrib["width"]) for x in root.iter() if x.tag.endswith("}rect")]
            assert max(right, default=0) <= width
        assert drawing.alt.endswith(".")


def test_the_drawing_of_nodes_says_where_each_group_lies():
    drawing = rank_places(rank_picture(SPLIT.training, 8))
    assert drawing.alt == (
        "256 GPUs on 32 nodes. GPU 0 belongs to: tensor group of 8 GPUs, inside one node; data group of 4 GPUs, over 4"
        " nodes, 1 in each; pipeline group of 8 GPUs, over 8 nodes, 1 in each. 7 nodes are drawn."
    )
    assert re.findall(r">node ([\d,]+)<", drawing.wide) == ["0", "1", "2", "3", "4", "8", "28"]
    assert "One GPU: it talks to nobody." in rank_places(rank_picture(changed(START, data_parallel=1).training, 8)).wide
    many = rank_places(rank_picture(changed(START, data_parallel=4096).training, 8960))
    assert "and 4,024 more" in many.wide
