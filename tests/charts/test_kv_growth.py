"""The second picture of step 5 carries the numbers of core."""

import json

import pytest

from core.batch import headline_of, over_context
from core.charts.kv_growth import by_context, context_table
from core.display import show_bytes
from core.model_spec import load_models
from core.presets import load_presets
from core.scenario import changed, with_model
from core.scenario_link import default_scenario

START = default_scenario()
PRESETS = {name: preset.scenario() for name, preset in load_presets().items()}


def payload(scenario, unit="GB", baseline=None):
    return by_context(over_context(scenario), unit=unit, baseline=baseline).payload()


@pytest.mark.parametrize("scenario", PRESETS.values(), ids=PRESETS)
@pytest.mark.parametrize("unit", ["GB", "GiB"])
def test_every_figure_is_whole(scenario, unit):
    drawn = payload(scenario, unit)
    json.dumps(drawn, allow_nan=False)
    assert len(drawn["alt"]) == drawn["frames"]
    at = over_context(scenario).context_len.index(scenario.serving.context_len)
    here = headline_of(scenario)
    assert drawn["readouts"][1]["values"][at] == f"{here.max_batch:,}"
    assert drawn["alt"][at].endswith(f"{here.max_batch:,} requests fit.")
    room = drawn["readouts"][2]["values"][at]
    assert room == (show_bytes(here.room_bytes, unit) if here.fits else f"{show_bytes(here.over_bytes, unit)} over")


# 2 x 80 x 8 x 128 x 2 bytes a token for 32 requests over eight GPUs: 1.31 MB a token, 5.37 GB at 4,096.
def test_the_start_scenario_in_words():
    drawn = payload(START)
    at = drawn["slider"]["positions"].index("4,096 tokens")
    cache, fits, room = drawn["readouts"]
    assert (cache["label"], cache["values"][at]) == ("KV cache of 32 requests", "5.37 GB")
    assert cache["notes"][at] == "the next token of each adds 1.31 MB"
    assert (fits["values"][at], fits["notes"][at]) == ("351", "all 32 run at once")
    assert room["notes"] is None
    names = [trace.get("name") for trace in drawn["figure"]["data"]]
    assert names == ["weights", "activations and logits", "KV cache"]
    (limit,) = drawn["limits"]
    assert (limit["name"], limit["axis"], limit["at"]) == (
        "the engine may use 77.0 GB",
        "y",
        pytest.approx(77.0, abs=0.05),
    )


def test_the_dot_stands_on_the_total_and_plotly_draws_once():
    drawn = payload(START)
    at = drawn["slider"]["positions"].index("4,096 tokens")
    assert drawn["tables"] == []
    assert drawn["dots"]["x"][at] == [4096]
    stacked = sum(trace["y"][at] for trace in drawn["figure"]["data"] if "stackgroup" in trace)
    assert drawn["dots"]["y"][at] == [pytest.approx(stacked, rel=1e-3)]


def test_beyond_the_memory_some_wait():
    drawn = payload(changed(START, batch=400))
    at = drawn["slider"]["positions"].index("4,096 tokens")
    assert drawn["readouts"][1]["notes"][at] == "49 of the 400 wait"
    assert drawn["readouts"][2]["values"][at].endswith(" over")


def test_states_and_reservations_are_drawn_where_there_are_some():
    gemma, _ = with_model(START, load_models()["google/gemma-3-27b-pt"])
    assert "if every layer reserves" in [trace.get("name") for trace in payload(gemma)["figure"]["data"]]
    hybrid, _ = with_model(START, load_models()["nvidia/Nemotron-H-56B-Base-8K"])
    assert "states" in [trace.get("name") for trace in payload(hybrid)["figure"]["data"]]


def test_pinned_numbers_stand_beside_the_new_ones():
    drawn = payload(START, baseline=headline_of(changed(START, kv_dtype="fp8")))
    at = drawn["slider"]["positions"].index("4,096 tokens")
    assert drawn["readouts"][1]["notes"][at] == "all 32 run at once; -350 against pinned"
    assert drawn["readouts"][2]["notes"][at] == "-2.68 GB against pinned"  # half of 5.37 GB of cache


def test_the_table_has_a_row_for_each_length():
    sweep = over_context(START)
    table = context_table(sweep)
    assert {len(column) for column in table.values()} == {len(sweep.context_len)}
    at = table["context_tokens"].index(4096)
    assert table["kv_bytes"][at] == 32 * 4096 * 2 * 80 * 128 * 2
    assert table["requests_that_fit"][at] == 351
