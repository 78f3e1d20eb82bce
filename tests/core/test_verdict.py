"""What binds is what the reports say, and a fix is what the same estimate makes of its fields."""

from __future__ import annotations

import math

import pytest

from core import inference, training
from core.hardware import load_accelerators
from core.model_spec import load_models
from core.presets import load_presets
from core.scenario import build, changed, field_values, with_model
from core.scenario_link import default_scenario
from core.verdict import LEAST_GAIN, finding

PRESETS = {"start": default_scenario()} | {preset.id: preset.scenario() for preset in load_presets().values()}
PARTS = ("training", "serving")


@pytest.mark.parametrize("scenario", PRESETS.values(), ids=PRESETS)
def test_the_limit_is_that_of_the_reports(scenario):
    report = training.estimate(scenario.training, scale_up=scenario.scale_up, scale_out=scenario.scale_out)
    assert finding(scenario, "training").verdict.limit == report.limit
    assert finding(scenario, "serving").verdict.limit == inference.estimate(scenario.serving).limit


@pytest.mark.parametrize("scenario", PRESETS.values(), ids=PRESETS)
@pytest.mark.parametrize("part", PARTS)
def test_a_fix_is_what_the_estimate_makes_of_its_fields(scenario, part):
    fix = finding(scenario, part).fix
    if fix is None:
        return
    other = changed(scenario, **dict(fix.fields))
    if part == "training":
        report = training.estimate(other.training, scale_up=scenario.scale_up, scale_out=scenario.scale_out)
        assert fix.then.step_s == pytest.approx(report.step_s)
        assert report.fits
    else:
        served = inference.estimate(other.serving)
        assert served.fits
        assert fix.then.tokens_per_s == pytest.approx(served.tokens_per_s)
    assert math.isnan(fix.gain) or fix.gain >= LEAST_GAIN
    assert all(field_values(scenario)[field] != value for field, value in fix.fields)


# The start scenario recomputes every layer at 39% of memory: about 4/3 of the FLOPs, so up to a third to gain.
def test_where_compute_binds_and_memory_is_free_activations_are_kept():
    fix = finding(default_scenario(), "training").fix
    assert fix.name.startswith("keep")
    assert dict(fix.fields)["recompute"] == "none"
    assert 1.2 < fix.gain <= 4 / 3
    assert (fix.gpus_now, fix.tokens_now) == (fix.gpus_then, fix.tokens_then)


def test_where_bandwidth_binds_a_larger_batch_is_nearly_free():
    fix = finding(default_scenario(), "serving").fix
    assert fix.fields == (("batch", 64),)
    assert 1.5 < fix.gain < 2
    assert fix.then.step_s < 1.3 * fix.now.step_s


def test_a_batch_is_raised_no_further_than_memory_holds():
    scenario = PRESETS["gpt3-175b-serving"]
    (field,) = finding(scenario, "serving").fix.fields
    assert field == ("batch", inference.estimate(scenario.serving).max_batch)


def test_what_does_not_fit_is_cured_before_anything_else():
    found = finding(PRESETS["8b-on-24gb"], "training")
    assert found.verdict.limit == "capacity"
    assert dict(found.fix.fields) == {"recipe": "lora"}  # everything is recomputed already, one sequence at a time
    assert math.isnan(found.fix.gain)


def test_a_run_that_computes_all_the_time_and_recomputes_nothing_needs_no_fix():
    run = changed(default_scenario(), recompute="none", tensor_parallel=2, sequence_parallel=True, data_parallel=32)
    found = finding(run, "training")
    assert (found.verdict.limit, found.fix) == ("compute", None)


def test_every_model_and_accelerator_has_a_verdict():
    start = default_scenario()
    scenarios = [with_model(start, model)[0] for model in list(load_models().values())[::6]]
    scenarios += [
        build(start.model, accelerator, start.scale_up, start.scale_out, field_values(start))
        for accelerator in list(load_accelerators().values())[::5]
    ]
    for scenario in scenarios:
        for part in PARTS:
            assert finding(scenario, part).verdict.limit


def test_without_a_confirmed_peak_memory_is_judged_alone():
    start = default_scenario()
    bare = next(card for card in load_accelerators().values() if not card.peak_dtypes)
    found = finding(build(start.model, bare, start.scale_up, start.scale_out, field_values(start)), "training")
    assert found.verdict.limit in ("unknown", "capacity")
