"""Every derivation of step 1, typed into a calculator, gives the number that the page shows."""

import pytest

from core.bottleneck import PHASES, headline_of, index_of, place
from core.bottleneck_counts import COUNTS, Known, counted
from core.bottleneck_verdict import verdicts
from core.bottleneck_working import roofline_workings, utilization_workings, verdict_workings
from core.dtypes import bytes_per_element
from core.hardware import load_accelerators
from core.presets import load_presets
from core.scenario import build, changed, field_values
from core.scenario_link import default_scenario
from tests.core.test_working import calculate

START = default_scenario()
APPLE = build(START.model, load_accelerators()["apple-m3-ultra"], START.scale_up, START.scale_out, field_values(START))
SCENARIOS = {name: preset.scenario() for name, preset in load_presets().items()} | {
    "no peak": APPLE,
    "narrow": changed(START, weight_dtype="fp8", recompute="selective"),
}
ALL = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)


def check(workings):
    for working in workings:
        assert calculate(working.substitution) == pytest.approx(working.value, rel=1e-9), working.name
        for term in working.terms:
            assert calculate(term.expression) == pytest.approx(term.value, rel=1e-9), (working.name, term.label)
        assert working.formula
        assert working.source
        assert working.assumptions
    names = [working.name for working in workings]
    assert len(set(names)) == len(names)
    return {working.name: working for working in workings}


@ALL
@pytest.mark.parametrize("phase", PHASES)
def test_intensity_ridge_and_floor(scenario, phase):
    placed = place(scenario, phase)
    at, stored = index_of(placed, scenario), bytes_per_element(scenario.serving.weight_dtype)
    found = check(list(roofline_workings(placed, at, scenario.accelerator, stored)))
    here = headline_of(scenario, phase)
    assert found[f"Arithmetic intensity, {here.label}"].value == here.intensity
    floor = next(working for name, working in found.items() if name.startswith("Floor of one"))
    assert floor.value == pytest.approx(here.floor_s)
    assert any(name.startswith("Ridge point") for name in found) == placed.has_peak


@ALL
def test_distances_of_the_limits(scenario):
    pair = verdicts(scenario)
    found = check(list(verdict_workings(pair)))
    known = [p for verdict in pair for p in verdict.pressures if p.share == p.share]
    assert [working.value for working in found.values()] == pytest.approx([p.share for p in known])


@ALL
@pytest.mark.parametrize("count", COUNTS)
def test_utilization(scenario, count):
    run, dtype = scenario.training, scenario.accelerator.half_dtype
    used = counted(run, Known(0.35, None, count), dtype)
    at = used.sweep.seq_len.index(run.seq_len)
    found = list(check(list(utilization_workings(used, at, run, dtype))).values())
    assert found[-1].value == pytest.approx(float(used.sweep.ceiling(count)[at]))
    if dtype is not None:
        assert found[0].value == pytest.approx(0.35)
        if run.recompute != "none":
            assert found[1].value == pytest.approx(float(used.share(count, run.recompute)[at]))
