"""Step 3 through the real app: predictions, controls, refusals, what cannot run, schedules, workings."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import pytest
from streamlit.testing.v1 import AppTest

from core.communication import headline_of
from core.display import show_bytes, show_seconds
from core.hardware import load_accelerators
from core.model_spec import load_models
from core.presets import load_presets
from core.scenario import changed, with_model
from core.scenario_link import default_scenario, to_address
from tests.core.test_communication import on
from tests.pages.conftest import OpenPage
from tests.pages.test_home import button, sent
from tests.pages.test_partition import as_read, charts, in_red, refusals, scenario

PAGE, SETTINGS = "views/steps/communication.py", "views/start/settings.py"
START = default_scenario()
SPLIT = {"tp": "8", "pp": "8", "dp": "4", "mb": "32", "zero": "1"}
SPLIT_RUN = changed(START, tensor_parallel=8, pipeline_parallel=8, data_parallel=4, num_micro_batches=32, zero_stage=1)

# What would answer the first question, or stands only in results.
RESULTS = ("1.14", "247 GB", "282 GB", "(n - 1)", "417 GB", "rp-table", "exposed", "nearly constant")
# What would answer the second one.
LATER_RESULTS = ("17.9%", "21.9%", "5.2%", "idle, of the whole step", "17.9", "idle for", "MFU goes from")


def open_results(open_page: OpenPage, query: dict[str, str] | None = None) -> AppTest:
    """The page with every result shown."""
    return button(open_page(PAGE, query), "Skip all from now on").click().run()


def components(at: AppTest) -> str:
    """Everything that the pictures were given."""
    return "".join(node.proto.json for node in at.get("bidi_component"))


def schedule(at: AppTest) -> tuple[dict, int]:
    """What the drawing of the pipeline was given, and where its slider stands."""
    found = [json.loads(node.proto.json) for node in at.get("bidi_component") if "Drawn smaller" in node.proto.json]
    found = found or [
        json.loads(node.proto.json) for node in at.get("bidi_component") if "what papers" in node.proto.json
    ]
    message, move = found[0]
    return json.loads(message), move["index"]


def readout(at: AppTest, row: int = 0) -> tuple[str, str]:
    """A number beside the first chart, and its note."""
    chart = charts(at)["communication.axes"]
    shown = chart["readouts"][row]
    return shown["values"][chart["index"]], shown["notes"][chart["index"]]


def box(at: AppTest, field: str):
    return at.number_input(key=f"communication.{field}")


# Predict, then reveal.
def test_before_the_first_answer_no_result_is_sent(open_page: OpenPage):
    at = open_page(PAGE)
    assert not at.exception
    assert "How many times as many bytes does each GPU send" in sent(at)
    assert charts(at) == {}
    everything = sent(at) + components(at)
    assert [word for word in (*RESULTS, *LATER_RESULTS) if word in everything] == []


@pytest.mark.parametrize("query", [{}, SPLIT])
def test_before_the_second_answer_nothing_about_the_bubbles_share_is_sent(open_page: OpenPage, query):
    at = button(open_page(PAGE, query), "Skip").click().run()
    assert "does each stage stand idle?" in sent(at)
    assert set(charts(at)) == {"communication.axes"}
    everything = sent(at) + components(at)
    assert [word for word in LATER_RESULTS if word in everything] == []


def test_a_commit_shows_guess_and_truth(open_page: OpenPage):
    at = open_page(PAGE)
    guess = at.select_slider(key="ask.communication.ring.guess")
    assert guess.value != 1.1
    guess.set_value(64.0)
    at = button(at, "Commit").click().run()
    # 2 x 511 / 512 over 2 x 7 / 8
    assert [(metric.label, metric.value) for metric in at.metric] == [
        ("you said, 70% sure", "64.00 x"),
        ("it is", "1.14 x"),
    ]
    assert "traffic of all GPUs together" in sent(at)
    at.slider(key="ask.communication.bubble.guess").set_value(22.0)
    at = button(at, "Commit").click().run()
    assert not at.exception
    assert [metric.value for metric in at.metric][2:] == ["22.0%", "17.9%"]
    assert "as papers quote it" in sent(at)
    assert "Commit" not in [button.label for button in at.button]


def test_whoever_does_not_know_gets_the_answers(open_page: OpenPage):
    at = button(open_page(PAGE), "I do not know").click().run()
    assert [metric.value for metric in at.metric] == ["1.14 x"]
    at = button(at, "I do not know").click().run()
    assert [metric.value for metric in at.metric] == ["1.14 x", "17.9%"]
    assert {"communication.axes", "communication.scaling"} == set(charts(at))


# Controls.
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tensor_parallel", 4),
        ("pipeline_parallel", 4),
        ("zero_stage", 3),
        ("micro_batch_size", 2),
        ("sequence_parallel", True),
        ("context_parallel", 2),
        ("seq_len", 8192),
        ("recompute", "none"),
        ("recipe", "adam-fp32-grads"),
        ("num_micro_batches", 64),
        ("virtual_stages", 2),
    ],
)
def test_each_control_changes_its_field_and_the_numbers(open_page: OpenPage, field, value):
    at = open_results(open_page, SPLIT)
    before = charts(at)
    kind = {bool: at.toggle, str: at.selectbox}.get(type(value), at.number_input)
    (at.selectbox if field == "zero_stage" else kind)(key=f"communication.{field}").set_value(value).run()
    assert not at.exception
    assert scenario(at) == changed(SPLIT_RUN, **{field: value})
    assert refusals(at) == []
    assert charts(at) != before
    here = headline_of(scenario(at))
    assert readout(at)[0] == show_seconds(here.exposed_s)
    assert readout(at, 2)[0] == show_bytes(here.sent_bytes)


@pytest.mark.parametrize(
    ("field", "value", "query", "words"),
    [
        ("tensor_parallel", 3, {}, "it must divide the 64 heads of Llama 3.1 70B"),
        ("tensor_parallel", 1e30, {}, "Try 1,024."),
        ("pipeline_parallel", 100, {}, "Llama 3.1 70B has 80"),
        ("context_parallel", 3, {}, "it must divide the sequence length 4,096"),
        ("expert_parallel", 2, {}, "has no experts to spread"),
        ("expert_parallel", 3, {"model": "mistralai/Mixtral-8x7B-v0.1"}, "it must divide the 8 experts"),
        ("seq_len", 0, {}, "it must be a whole number from 1"),
        ("micro_batch_size", -7, {}, "it must be a whole number from 1"),
        ("num_micro_batches", 0, {}, "it must be a whole number from 1"),
        ("num_micro_batches", 1.5, SPLIT, "it must be a whole number from 1"),
        ("virtual_stages", 2, {}, "interleaving needs a pipeline"),
        ("virtual_stages", 11, SPLIT, "each chunk of a stage needs a layer"),
    ],
)
def test_a_refused_number_is_answered_and_changes_nothing(open_page: OpenPage, field, value, query, words):
    at = open_results(open_page, query)
    good, numbers = scenario(at), charts(at)
    box(at, field).set_value(value).run()
    assert not at.exception
    assert len(refusals(at)) == 1
    assert words in refusals(at)[0] or field == "virtual_stages"
    assert (scenario(at), charts(at)) == (good, numbers)
    assert box(at, field).value == value


# Schedules.
def test_the_drawing_is_the_scenarios_pipeline(open_page: OpenPage):
    at = open_results(open_page, SPLIT)
    data, place = schedule(at)
    assert data["positions"][place] == "32 micro-batches"
    assert [row["values"][place] for row in data["readouts"]] == ["17.9%", "21.9%", "8"]
    assert data["schedules"][data["which"][place]]["names"][-1] == "stage 8"
    box(at, "num_micro_batches").set_value(64).run()
    data, place = schedule(at)
    assert data["positions"][place] == "64 micro-batches"


@pytest.mark.parametrize(("kind", "idle"), [("gpipe", "17.9%"), ("interleaved", "5.19%"), ("zb-h1", "6.80%")])
def test_other_schedules_are_a_click_away(open_page: OpenPage, kind, idle):
    at = open_results(open_page, SPLIT | {"vp": "4"})
    at.button_group(key="communication.schedule").set_value(kind).run()
    assert not at.exception
    data, place = schedule(at)
    assert data["readouts"][0]["values"][place] == idle


def test_one_stage_shows_an_example_that_leaves_the_scenario_alone(open_page: OpenPage):
    at = open_results(open_page)
    data, place = schedule(at)
    assert data["positions"][place] == "32 micro-batches"
    assert "drawn is an example of 8" in sent(at)
    assert scenario(at) == START


# What cannot run.
def test_a_run_that_does_not_fit_says_so_and_still_shows_its_numbers(open_page: OpenPage):
    at = open_results(open_page, {"dp": "8"})
    assert not at.exception
    found = [sentence for sentence in in_red(at) if sentence.startswith("It would not run.")]
    assert len(found) == 1
    assert "more than the GPU has" in found[0]
    assert readout(at, 2)[0] == show_bytes(headline_of(scenario(at)).sent_bytes)


def test_an_accelerator_without_a_peak_is_answered_in_words(open_page: OpenPage):
    at = open_results(open_page, to_address(on("apple-m4-max")))
    assert not at.exception
    assert "No 16-bit peak of" in sent(at)
    assert set(charts(at)) == {"communication.axes"}
    assert readout(at, 1)[0] == show_bytes(headline_of(scenario(at)).sent_bytes)


@pytest.mark.parametrize("preset", load_presets().values(), ids=lambda preset: preset.id)
def test_every_preset_opens(open_page: OpenPage, preset):
    at = open_results(open_page, to_address(preset.scenario()))
    assert not at.exception
    assert readout(at, 2)[0] == show_bytes(headline_of(preset.scenario()).sent_bytes)


def test_models_and_accelerators_of_every_kind_open(open_page: OpenPage):
    at = open_results(open_page)
    some = [*list(load_models())[::6], *list(load_accelerators())[::6]]
    for name in some:
        gpu = name in load_accelerators()
        at.session_state["state.scenario"] = on(name) if gpu else with_model(START, load_models()[name])[0]
        at.run()
        assert not at.exception, name
        assert "communication.axes" in charts(at), name


# Units, pinned numbers, workings, links.
def test_the_unit_changes_all_bytes(open_page: OpenPage):
    at = open_results(open_page, SPLIT)
    at.switch_page(SETTINGS).run().button_group(key="settings.pick.unit").set_value("GiB").run()
    at.switch_page(PAGE).run()
    assert readout(at, 2)[0] == show_bytes(headline_of(SPLIT_RUN).sent_bytes, "GiB")
    shown = json.dumps(charts(at)) + "".join(node.proto.body for node in at.get("html"))
    assert re.findall(r"[\d.,]+ [GMkT]B\b", shown) == []


def test_a_pinned_baseline_shows_what_changed(open_page: OpenPage):
    at = open_results(open_page, SPLIT)
    at.button(key="communication.pin").click().run()
    assert readout(at)[1].endswith("no change against pinned")
    assert "Pinned: Llama 3.1 70B on 256 x H100 SXM, ZeRO-1, tensor 8, pipeline 8, 32 micro-batches" in sent(at)
    box(at, "tensor_parallel").set_value(4).run()
    assert re.search(r"; [+-][\d.]+ m?s against pinned$", readout(at)[1])
    assert "all, against pinned" in sent(at)
    at.button(key="communication.unpin").click().run()
    assert "pinned" not in json.dumps(charts(at))


def test_workings_are_derived_when_they_are_opened(open_page: OpenPage):
    at = open_results(open_page, SPLIT)
    assert at.code.len == 0
    at.session_state["communication.axes_working"] = True  # what opening the fold sends
    at.session_state["communication.pipeline_working"] = True
    at.run()
    assert not at.exception
    nodes = [node for node in at._tree if node.type in ("markdown", "code")]
    titled = {as_read(title.value): code.value for title, code in pairwise(nodes) if code.type == "code"}
    assert len(titled) >= 12
    assert any(title.startswith("**Pipeline bubble, share of the whole step") for title in titled)
    step = next(code for title, code in titled.items() if title.startswith("**Estimated time of one step"))
    assert step.splitlines()[-1] == f"= {headline_of(SPLIT_RUN).step_s!r} s"


def test_a_link_opens_its_scenario(open_page: OpenPage):
    at = open_page(PAGE, to_address(SPLIT_RUN))
    assert scenario(at) == SPLIT_RUN
    assert refusals(at) == []


def test_a_broken_link_keeps_the_scenario_and_says_why(open_page: OpenPage):
    at = open_page(PAGE, {"tp": "3", "pp": "x"})
    assert not at.exception
    assert scenario(at) == START
    assert refusals(at)[0].startswith("This address was not opened.")
