"""Verdicts are those of the reports, and say something of every accelerator."""

import numpy as np
import pytest

from core import inference, training
from core.bottleneck_verdict import LIMITS, verdicts
from core.hardware import load_accelerators
from core.model_spec import load_models
from core.presets import load_presets
from core.scenario import build, changed, field_values, with_model
from core.scenario_link import default_scenario
from core.serving_messages import GPUS_OF_A_NODE, Fabric

START = default_scenario()
SCENARIOS = {name: preset.scenario() for name, preset in load_presets().items()}
EVERY_PRESET = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)


@EVERY_PRESET
def test_verdicts_are_those_of_the_reports(scenario):
    ours, served = verdicts(scenario)
    run = training.estimate(scenario.training, scale_up=scenario.scale_up, scale_out=scenario.scale_out)
    nodes = scenario.accelerator.scale_up_domain or GPUS_OF_A_NODE
    deployed = inference.estimate(scenario.serving, fabric=Fabric(scenario.scale_up, scenario.scale_out, nodes))
    assert (ours.limit, served.limit) == (run.limit, deployed.limit)
    assert {p.limit: p.share for p in ours.pressures} == pytest.approx(dict(run.pressure))
    assert {p.limit: p.share for p in served.pressures} == pytest.approx(deployed.shares)
    assert ours.tokens_per_s == run.tokens_per_s


@EVERY_PRESET
def test_each_share_is_its_number_over_the_whole(scenario):
    for verdict in verdicts(scenario):
        assert tuple(pressure.limit for pressure in verdict.pressures) == LIMITS
        assert verdict.complete
        for pressure in verdict.pressures:
            assert pressure.share == pytest.approx(pressure.value / pressure.whole)
        assert verdict.next.limit != verdict.limit


def test_what_does_not_fit_is_bound_by_capacity():
    for verdict in verdicts(changed(START, data_parallel=1, zero_stage=0, serving_tensor_parallel=1)):
        assert verdict.limit == "capacity"
        assert verdict.pressures[0].share > 1
        assert not verdict.runs


def test_without_a_confirmed_peak_capacity_is_still_known():
    apple = load_accelerators()["apple-m3-ultra"]
    run, served = verdicts(build(START.model, apple, START.scale_up, START.scale_out, field_values(START)))
    assert run.limit == "unknown"
    assert run.pressures[0].share == pytest.approx(run.pressures[0].value / apple.hbm_bytes)
    assert not run.complete
    assert np.isnan(run.step_s)
    assert "no bf16 peak" in run.notes[0]
    assert served.limit == "bandwidth"
    crowded = build(START.model, apple, START.scale_up, START.scale_out, field_values(START) | {"zero_stage": 0})
    assert verdicts(crowded)[0].limit == "capacity"


def test_every_model_and_accelerator_has_a_verdict():
    scenarios = [with_model(START, model)[0] for model in load_models().values()]
    scenarios += [
        build(START.model, gpu, START.scale_up, START.scale_out, field_values(START))
        for gpu in load_accelerators().values()
    ]
    for scenario in scenarios:
        for verdict in verdicts(scenario):
            assert verdict.limit in (*LIMITS, "unknown")
            assert len(verdict.pressures) == 4


def test_room_is_what_it_takes_to_bind():
    compute, *_ = (p for p in verdicts(START)[1].pressures if p.limit == "compute")
    assert compute.room == pytest.approx(1 / compute.share)
    hidden = next(p for p in verdicts(START)[0].pressures if p.limit == "communication")
    assert hidden.share > 0 or hidden.room == np.inf
