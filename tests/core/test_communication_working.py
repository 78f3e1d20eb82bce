"""Every derivation of step 3, typed into a calculator, gives the number that the page shows."""

import pytest

from core.communication import headline_of
from core.communication_working import axis_workings, links_working, pipeline_workings, ring_workings
from core.measured_profile import load_profile
from core.parallelism import schedule_bubble
from core.pipeline_drawing import pipeline_drawing
from core.presets import load_presets
from core.scenario import changed
from core.scenario_link import default_scenario
from tests.core.test_communication import on
from tests.core.test_working import calculate

START = default_scenario()
SCENARIOS = {name: preset.scenario() for name, preset in load_presets().items()} | {
    "every axis": changed(
        START, tensor_parallel=8, sequence_parallel=True, context_parallel=2, pipeline_parallel=4, num_micro_batches=8
    ),
    "plain copies": changed(START, zero_stage=0, data_parallel=16),
    "no peak": on("apple-m4-max", tensor_parallel=8),
}
ALL = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)


@ALL
def test_the_last_line_of_each_derivation_is_its_value(scenario):
    workings = [*ring_workings(scenario), *axis_workings(scenario)]
    for working in workings:
        assert calculate(working.substitution) == pytest.approx(working.value, rel=1e-9), working.name
        for term in working.terms:
            assert calculate(term.expression) == pytest.approx(term.value, rel=1e-9, abs=1e-15), working.name
        assert working.formula
        assert working.source
        assert working.assumptions
    names = [working.name for working in workings]
    assert len(set(names)) == len(names)


@ALL
def test_derivations_are_those_of_the_headline(scenario):
    here = headline_of(scenario)
    found = {working.name: working.value for working in axis_workings(scenario)}
    if here.step_s is None:
        on_links = sum(value for name, value in found.items() if "time on the links" in name)
        assert on_links == pytest.approx(here.on_links_s)
        return
    assert found["Estimated time of one step"] == pytest.approx(here.step_s)
    assert found["Model FLOPs utilization"] == pytest.approx(here.mfu)
    assert found.get("Exposed communication of one step", 0.0) == pytest.approx(here.exposed_s)
    sent = sum(value for name, value in found.items() if name.endswith("traffic of one GPU and step"))
    assert sent == pytest.approx(here.sent_bytes)


def test_a_stage_can_be_chosen():
    split = SCENARIOS["every axis"]
    first, last = (links_working(split, "pipeline", stage=stage).value for stage in (0, 3))
    assert links_working(split, "pipeline").value >= max(first, last)


@pytest.mark.parametrize("kind", ["gpipe", "1f1b", "interleaved", "zb-h1"])
def test_the_bubble_is_that_of_the_drawing(kind):
    drawing = pipeline_drawing(kind, 8, 32, virtual_stages=4)
    place = drawing.micro_batches.index(32)
    workings = {working.name: working for working in pipeline_workings(drawing, place)}
    for working in workings.values():
        assert calculate(working.substitution) == pytest.approx(working.value)
    ideal = next(working.value for name, working in workings.items() if "ideal" in name)
    assert ideal == pytest.approx(drawing.of_ideal[place])
    if kind != "zb-h1":
        assert workings["Pipeline bubble, share of the whole step"].value == pytest.approx(drawing.of_total[place])
    assert ideal == pytest.approx(float(schedule_bubble(kind, 8, 32, virtual_stages=4).of_ideal))


def test_on_a_profile_each_derivation_still_adds_up_and_names_it():
    profile = load_profile("h100-sxm")
    scenario = changed(START, tensor_parallel=8, data_parallel=8)
    workings = list(axis_workings(scenario, profile))
    for working in workings:
        assert calculate(working.substitution) == pytest.approx(working.value, rel=1e-9), working.name
    by_name = {working.name: working for working in workings}
    step = by_name["Estimated time of one step"]
    assert step.value == pytest.approx(headline_of(scenario, profile).step_s)
    assert profile.citation in step.source
    assert any("backward pass" in text for text in step.assumptions)
    tensor, data = (by_name[f"{axis}-parallel time on the links, a step"] for axis in ("Tensor", "Data"))
    assert all(term.label.endswith("as measured") for term in tensor.terms)
    assert profile.citation in tensor.source
    assert not any("as measured" in term.label for term in data.terms), "one rank a node"
    assert profile.citation not in data.source
