"""The pictures of step 3 carry the numbers of core: bars, readouts, sentences and tables."""

import json

import pytest

from core.charts.communication import MOST_TICKS, by_axis, scaling_figure, scaling_table, sweep_table
from core.communication import headline_of, over_gpus, scaling
from core.display import show_bytes, show_percent, show_seconds
from core.presets import load_presets
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
    labels = payload["labels"]["texts"][at]
    sweep = over_gpus(SPLIT)
    assert payload["figure"]["data"][0]["y"][:5] == ["work", "tensor", "pipeline", "data", "bubble"]
    assert labels[1:4] == [show_bytes(float(sweep.sent_bytes[axis][at])) for axis in sweep.axes]
    assert labels[4] == show_seconds(float(sweep.bubble_s[at]))
    assert figure(START).payload()["labels"]["texts"][0][1] == "nothing"


def test_bars_are_the_times_of_the_sweep():
    drawn, at, sweep = figure(SPLIT), own_place(SPLIT), over_gpus(SPLIT)
    (trace,) = drawn.figure["data"]
    (whole,) = [table.values[at] for table in drawn.frames if table.attribute == "customdata"]
    shown = dict(zip(zip(trace["meta"]["parts"], trace["y"], strict=True), whole, strict=True))
    for axis in sweep.axes:
        assert shown["exposed", axis] == sweep.exposed_s[axis][at]
        assert shown["hidden behind work", axis] == sweep.hidden_s[axis][at]
    assert shown["bubble: a stage waits", "bubble"] == sweep.bubble_s[at]


def test_pinned_numbers_stand_beside_the_new_ones():
    payload, at = figure(START, baseline=headline_of(SPLIT)).payload(), own_place(START)
    notes = [readout["notes"][at] for readout in payload["readouts"]]
    assert notes[0].startswith("0.306% of the step; -")
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
    assert (strong["name"], weak["name"]) == ("strong: the batch stays", "weak: the batch grows")
    assert own["y"] == pytest.approx([100 * headline_of(START).mfu])
    assert "open marks" in payload["figure"]["layout"]["xaxis"]["title"]["text"]
    assert payload["alt"][0].startswith("Strong: the batch stays, MFU goes from")
    assert " on 1 GPU to " in payload["alt"][0]
    assert payload["figure"]["layout"]["xaxis"]["tickvals"] == [1, 4, 16, 64, 256, 1024, 4096, 16_384]


def test_more_gpus_than_the_curve_ends_at_have_ticks_too():
    run = changed(START, data_parallel=65_536, tensor_parallel=8, pipeline_parallel=80, num_micro_batches=65_536)
    axis = scaling_figure(scaling(run)).payload()["figure"]["layout"]["xaxis"]
    assert 10 ** axis["range"][1] > run.training.num_gpus == 65_536 * 640
    assert axis["tickvals"][-1] > run.training.num_gpus / 16
    assert len(axis["tickvals"]) <= MOST_TICKS


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
