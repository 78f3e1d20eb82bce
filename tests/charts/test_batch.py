"""The first picture of step 5 carries the numbers of core: lines, marks, readouts, sentences, table."""

import json

import numpy as np
import pytest

from core.batch import headline_of, over_batch
from core.charts.batch import batch_table, by_batch
from core.display import digits, show_bytes, show_seconds
from core.hardware import load_accelerators
from core.presets import load_presets
from core.scenario import build, changed
from core.scenario_link import default_scenario

START = default_scenario()
PRESETS = {name: preset.scenario() for name, preset in load_presets().items()}
EVERY_PRESET = pytest.mark.parametrize("scenario", PRESETS.values(), ids=PRESETS)


def payload(scenario, unit="GB", baseline=None):
    return by_batch(over_batch(scenario), unit=unit, baseline=baseline).payload()


def own(scenario):
    return over_batch(scenario).batch.index(scenario.serving.batch)


@EVERY_PRESET
@pytest.mark.parametrize("unit", ["GB", "GiB"])
def test_every_figure_is_whole(scenario, unit):
    drawn = payload(scenario, unit)
    json.dumps(drawn, allow_nan=False)
    assert len(drawn["alt"]) == drawn["frames"] == len(over_batch(scenario).batch)
    assert not [sentence for sentence in drawn["alt"] if "nan" in sentence]
    assert unit in "".join(drawn["readouts"][0]["values"])


@EVERY_PRESET
def test_readouts_and_sentence_agree_with_the_headline(scenario):
    drawn, at, here = payload(scenario), own(scenario), headline_of(scenario)
    room, tokens, waits = drawn["readouts"]
    assert room["values"][at] == (show_bytes(here.room_bytes) if here.fits else f"{show_bytes(here.over_bytes)} over")
    assert f"at most {here.max_batch:,}" in room["notes"][at]
    assert tokens["values"][at] == digits(here.tokens_per_s)
    assert waits["values"][at] == show_seconds(here.step_s)
    assert f"floor {digits(here.most_tokens_per_s)}" in tokens["notes"][at]
    assert ("if memory held it" in tokens["notes"][at]) != here.fits
    assert digits(here.tokens_per_s) in drawn["alt"][at]


def test_the_start_scenario_in_words():
    drawn, at = payload(START), own(START)
    assert drawn["slider"]["positions"][at] == "32 requests"
    assert drawn["slider"]["positions"][0] == "1 request"
    assert drawn["readouts"][0]["notes"][at] == "32 fit; at most 351"
    assert drawn["alt"][at].startswith("32 requests: fits; memory holds 351. Estimate ")
    assert "floor 4,713 and 6.79 ms" in drawn["alt"][at]
    assert drawn["alt"][at].endswith("The matrices turn compute-bound at 295 requests.")


def test_cap_and_bend_are_named_lines():
    cap, bend = payload(PRESETS["gpt3-175b-serving"])["limits"]
    assert (cap["name"], cap["at"], cap["role"]) == ("memory holds 27", 27, "limit")
    assert (bend["name"], bend["at"], bend["role"]) == ("matrices bend at 153", pytest.approx(153.1, abs=0.1), "muted")
    assert {cap["axis"], bend["axis"]} == {"x"}
    outside = payload(PRESETS["megatron-1t-3072"])["limits"]  # holds no request
    assert [limit["name"] for limit in outside] == ["matrices bend at 153"]


def test_without_a_peak_only_memorys_side_is_drawn():
    gpu = load_accelerators()["apple-m4-max"]
    drawn = payload(build(START.model, gpu, START.scale_up, START.scale_out, {"serving_tensor_parallel": 1}))
    names = [trace.get("name") for trace in drawn["figure"]["data"]]
    assert "ceiling of reading weights" in names
    assert "ceiling of the FLOPs" not in names


def test_labels_on_the_axis_say_what_a_token_takes():
    axis, sweep = payload(START)["figure"]["layout"]["xaxis"], over_batch(START)
    takes = [show_seconds(sweep.headline(sweep.batch.index(batch)).step_s) for batch in axis["tickvals"]]
    names = ["1 request", "16", "256", "4,096"]
    assert axis["ticktext"] == [f"{name}<br>{time} a token" for name, time in zip(names, takes, strict=True)]


def test_the_dot_stands_on_the_estimate_and_plotly_draws_once():
    drawn, sweep = payload(START), over_batch(START)
    assert drawn["tables"] == []
    at = own(START)
    assert drawn["dots"]["x"][at] == [32]
    assert drawn["dots"]["y"][at] == [pytest.approx(headline_of(START).tokens_per_s, rel=1e-3)]
    assert len(drawn["dots"]["x"]) == drawn["frames"] == len(sweep.batch)


def test_pinned_numbers_stand_beside_the_new_ones():
    pinned = headline_of(changed(START, kv_dtype="fp8", batch=400))
    room, tokens, waits = (readout["notes"][own(START)] for readout in payload(START, baseline=pinned)["readouts"])
    assert room == "32 fit; at most 351; -350 against pinned"
    assert tokens.endswith("% against pinned")
    assert waits.split("; ")[-1].startswith("-")
    same = payload(START, baseline=headline_of(START))["readouts"]
    assert all("no change" in readout["notes"][own(START)] for readout in same)
    over = payload(changed(START, batch=400), baseline=headline_of(START))["readouts"][0]
    assert over["notes"][own(changed(START, batch=400))].endswith("fitted")


def test_the_table_has_a_row_for_each_position():
    sweep = over_batch(START)
    table = batch_table(sweep)
    assert {len(column) for column in table.values()} == {len(sweep.batch)}
    at = table["requests"].index(32)
    assert table["tokens_per_s_estimate"][at] == headline_of(START).tokens_per_s
    assert table["fits"][at] is True
    assert np.all(np.array(table["step_s_estimate"]) > np.array(table["step_s_floor"]))
