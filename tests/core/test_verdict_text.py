"""Words of a verdict carry its numbers, say what is an estimate, and never promise what was not tried."""

from __future__ import annotations

import pytest

from core.hardware import load_accelerators
from core.presets import load_presets
from core.scenario import build, changed, field_values
from core.scenario_link import default_scenario
from core.verdict import finding
from core.verdict_text import detail, fix_lines, headline, step_of

START = default_scenario()
BANDWIDTH, COMPUTE = finding(START, "serving"), finding(START, "training")


def test_the_headline_names_the_limit():
    assert headline(COMPUTE) == "Training: compute binds"
    assert headline(BANDWIDTH) == "Serving: memory bandwidth binds"


def test_a_time_is_called_an_estimate_and_the_next_limit_is_named():
    words = detail(BANDWIDTH, "GB")
    assert "a decode step (estimate)" in words
    assert "30.0% full" in words
    assert "Next is communication" in words


def test_a_fix_has_a_gain_a_cost_and_what_binds_then():
    lines = dict(fix_lines(BANDWIDTH, "GB"))
    assert list(lines) == ["First fix", "Gain", "Cost", "Then"]
    assert lines["First fix"] == "raise the batch: concurrent requests 64"
    assert lines["Gain"].endswith(f"{100 * (BANDWIDTH.fix.gain - 1):+.0f}%")
    assert "a token every" in lines["Cost"]
    assert lines["Then"] == "memory bandwidth still binds"


def test_what_does_not_fit_says_by_how_much_in_the_chosen_unit():
    found = finding(load_presets()["8b-on-24gb"].scenario(), "training")
    assert headline(found) == "Training: it does not fit"
    need, have = found.verdict.pressures[0].value, found.verdict.pressures[0].whole
    assert f"{(need - have) / 2**30:.0f} GiB more than there is" in detail(found, "GiB")
    lines = dict(fix_lines(found, "GB"))
    assert lines["Cost"] == "adapters alone are trained"
    assert "which fits" in lines["Gain"]


def test_without_a_fix_it_says_what_is_left():
    run = changed(START, recompute="none", tensor_parallel=2, sequence_parallel=True, data_parallel=32)
    assert [name for name, _ in fix_lines(finding(run, "training"), "GB")] == ["First fix"]


def test_an_unknown_limit_is_said_so():
    bare = next(card for card in load_accelerators().values() if card.hbm_bytes > 1e11 and not card.peak_dtypes)
    found = finding(build(START.model, bare, START.scale_up, START.scale_out, field_values(START)), "training")
    assert found.verdict.limit == "unknown"
    assert "not known" in headline(found)
    assert "No peak" in dict(fix_lines(found, "GB"))["First fix"]
    assert step_of(found) is None


@pytest.mark.parametrize(("found", "step"), [(COMPUTE, 1), (BANDWIDTH, 5)], ids=["training", "serving"])
def test_each_limit_leads_to_its_step(found, step):
    assert step_of(found) == step
