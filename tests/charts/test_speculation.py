"""The picture of speculative decoding carries the sweep: one line, a row for each draft."""

import json

import pytest

from core.batch_token import over_draft
from core.charts.speculation import by_draft
from core.presets import load_presets
from core.scenario_link import default_scenario

START = default_scenario()
PRESETS = {name: preset.scenario() for name, preset in load_presets().items()}


@pytest.mark.parametrize("scenario", PRESETS.values(), ids=PRESETS)
def test_every_figure_is_whole(scenario):
    sweep = over_draft(scenario, 0.8, 0.05)
    drawn = by_draft(sweep, batch=scenario.serving.batch).payload()
    json.dumps(drawn, allow_nan=False)
    assert drawn["frames"] == len(drawn["alt"]) == len(sweep.draft_tokens)


def test_the_start_scenario_in_words():
    drawn = by_draft(over_draft(START, 0.8, 0.05), batch=32).payload()
    at = drawn["slider"]["positions"].index("4 tokens")
    assert drawn["slider"]["positions"][0] == "1 token"
    here, tokens, most = drawn["readouts"]
    assert (here["label"], here["values"][at]) == ("speed-up at 32 requests", "2.80 x")  # 3.36 / 1.2
    assert tokens["values"][at] == "3.36"
    assert most["label"] == "at 4,096 requests"
    assert drawn["alt"][at].startswith("Draft of 4 tokens: 2.80 x for one request, 2.80 x for 32, ")


def test_the_dot_stands_on_the_line_at_the_scenarios_batch():
    sweep = over_draft(START, 0.8, 0.05)
    drawn = by_draft(sweep, batch=32).payload()
    own = sweep.batch.index(32)
    assert [row[0] for row in drawn["dots"]["y"]] == pytest.approx(sweep.speedup[:, own], rel=1e-3)
    assert {row[0] for row in drawn["dots"]["x"]} == {32}
    assert [(limit["at"], limit["axis"]) for limit in drawn["limits"]] == [(1, "y")]
