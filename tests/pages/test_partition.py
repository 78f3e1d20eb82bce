"""Step 2 through the real app: predictions, controls, refusals, presets, links, workings."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import pytest
from streamlit.testing.v1 import AppTest

from core.display import show_bytes, show_count
from core.hardware import load_accelerators
from core.partition import headline_of
from core.presets import load_presets
from core.scenario import changed, with_model
from core.scenario_link import default_scenario, pack, to_address
from tests.configs import model_of
from tests.pages.conftest import OpenPage
from tests.pages.mock_visit import mirrored
from tests.pages.test_home import button, sent

PAGE, SETTINGS = "views/steps/partition.py", "views/start/settings.py"
START = default_scenario()
STATES = 70_553_706_496 * 16 / 64  # Llama 3.1 70B under ZeRO-3 on 64 GPUs: 17.6 GB

# What would answer the first question, or what stands only in results.
RESULTS = (
    "34%",
    "388 GB",
    "2.9 times",
    show_bytes(STATES),
    "ZeRO-3: model states",
    "rp-table",
    "memory per GPU by row",
)
# What would answer the second one: the long sequence's bytes, and everything about activations.
LATER_RESULTS = ("755 GB", "It is **activations**", "activations, fullest stage", "largest model", "I count 16 bytes")


def open_results(open_page: OpenPage, query: dict[str, str] | None = None) -> AppTest:
    """The page with every result shown."""
    return button(open_page(PAGE, query), "Skip all from now on").click().run()


def scenario(at: AppTest):
    return at.session_state["state.scenario"]


def charts(at: AppTest) -> dict[str, dict]:
    """What each live chart was given, by its key."""
    found = [json.loads(node.proto.json) for node in at.get("bidi_component") if '"token"' in node.proto.json]
    return {move["key"]: {**json.loads(message), "index": move["index"]} for message, move in found}


def readout(at: AppTest, row: int = 0, key: str = "partition.memory") -> tuple[str, str]:
    """A number beside a chart, and its note."""
    chart = charts(at)[key]
    shown = chart["readouts"][row]
    return shown["values"][chart["index"]], (shown["notes"] or [""] * chart["frames"])[chart["index"]]


def after(at: AppTest, key: str):
    """The element that follows a control."""
    nodes = [node for node in at._tree if getattr(node, "proto", None) is not None]
    place = next(index for index, node in enumerate(nodes) if getattr(node, "key", None) == key)
    return nodes[place + 1]


def refusals(at: AppTest) -> list[str]:
    """Every sentence in red that refuses a value, as it is read."""
    return [text for text in in_red(at) if text not in standing(at)]


def in_red(at: AppTest) -> list[str]:
    return [as_read(node.value) for node in at.markdown if ":material/error:" in node.value]


def as_read(markdown: str) -> str:
    return re.sub(r"\\(.)", r"\1", markdown.removeprefix(":red[:material/error: ").removesuffix("]"))


def standing(at: AppTest) -> list[str]:
    """Why the scenario cannot run, in red as well, though no value was refused."""
    return [text for text in in_red(at) if "fullest pipeline stage" in text]


def refusal_beside(at: AppTest, field: str) -> str:
    """The sentence right after a control; empty if there is none."""
    node = after(at, f"partition.{field}")
    value = node.value if node.type == "markdown" else ""
    return as_read(value) if ":material/error:" in value else ""


def box(at: AppTest, field: str):
    return mirrored(at, "number_input", f"partition.{field}")


# Predict, then reveal.
def test_before_the_first_answer_no_result_is_sent(open_page: OpenPage):
    at = open_page(PAGE)
    assert not at.exception
    assert "How much of a full copy is left on each?" in sent(at)
    assert charts(at) == {}
    assert [word for word in (*RESULTS, *LATER_RESULTS) if word in sent(at)] == []


def test_before_the_second_answer_nothing_about_activations_is_sent(open_page: OpenPage):
    at = button(open_page(PAGE), "Skip").click().run()
    assert "Which part is now the largest on a GPU?" in sent(at)
    assert set(charts(at)) == {"partition.memory"}
    assert [word for word in LATER_RESULTS if word in sent(at)] == []


def test_a_commit_shows_guess_and_truth(open_page: OpenPage):
    at = open_page(PAGE)
    at.slider(key="ask.partition.share.guess").set_value(25.0)
    at = button(at, "Commit").click().run()
    # 5.5 of 16 bytes are left of Adam's: 2 + 2 + 12 / 8
    assert [(metric.label, metric.value) for metric in at.metric] == [("you said, 70% sure", "25%"), ("it is", "34%")]
    assert "limit for ever more GPUs" in sent(at)
    assert readout(at)[0] == show_bytes(STATES)
    at.radio(key="ask.partition.largest.guess").set_value("optimizer")
    at = button(at, "Commit").click().run()
    assert not at.exception
    assert "You said **optimizer**, 70% sure. It is **activations**." in sent(at)
    assert "Commit" not in [button.label for button in at.button]


def test_whoever_does_not_know_gets_the_answer(open_page: OpenPage):
    at = button(open_page(PAGE), "I do not know").click().run()
    assert [(metric.label, metric.value) for metric in at.metric] == [("it is", "34%")]
    at = button(at, "I do not know").click().run()
    assert "It is **activations**." in sent(at)


def test_skipped_questions_leave_only_the_results(open_page: OpenPage):
    at = button(button(open_page(PAGE), "Skip").click().run(), "Skip").click().run()
    assert at.metric.len == 0
    assert set(charts(at)) == {"partition.memory", "partition.activations"}


def test_skip_all_holds_on_every_page(open_page: OpenPage):
    at = open_results(open_page)
    assert [word for word in (*RESULTS[3:], *LATER_RESULTS[2:]) if word not in sent(at)] == []
    assert "Commit" not in [button.label for button in at.switch_page("views/start/home.py").run().button]


def test_a_commit_without_a_choice_asks_for_one(open_page: OpenPage):
    at = button(button(open_page(PAGE), "Skip").click().run(), "Commit").click().run()
    assert refusals(at) == ["Choose an answer first, or press I do not know."]
    assert set(charts(at)) == {"partition.memory"}


# Controls.
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("zero_stage", 1),
        ("recipe", "adam-8bit"),
        ("tensor_parallel", 8),
        ("pipeline_parallel", 4),
        ("num_micro_batches", 32),
        ("context_parallel", 2),
        ("micro_batch_size", 2),
        ("recompute", "none"),
        ("fused_attention", False),
        ("offload", "optimizer"),
    ],
)
def test_each_control_changes_its_field_and_the_numbers(open_page: OpenPage, field, value):
    at = open_results(open_page)
    before = charts(at)
    kind = {bool: at.toggle, str: at.selectbox}.get(type(value), at.number_input)
    (at.selectbox if field == "zero_stage" else kind)(key=f"partition.{field}").set_value(value).run()
    assert not at.exception
    assert scenario(at) == changed(START, **{field: value})
    assert refusals(at) == []
    assert charts(at) != before
    here = headline_of(scenario(at).training)
    assert readout(at)[0] == show_bytes(here.state_bytes)
    assert readout(at, key="partition.activations")[0] == show_bytes(here.activation_bytes)


def test_the_controls_that_need_another_one(open_page: OpenPage):
    at = open_results(open_page, {"tp": "8", "pp": "4"})
    at.toggle(key="partition.sequence_parallel").set_value(True).run()
    box(at, "virtual_stages").set_value(2).run()
    assert refusals(at) == []
    layout = {"tensor_parallel": 8, "pipeline_parallel": 4, "sequence_parallel": True, "virtual_stages": 2}
    assert scenario(at) == changed(START, **layout)
    moe = open_results(open_page, {"model": "mistralai/Mixtral-8x7B-v0.1"})
    box(moe, "expert_parallel").set_value(8).run()
    assert scenario(moe).training.expert_parallel == 8


def test_pipeline_stages_have_a_picture_of_their_own(open_page: OpenPage):
    at = open_results(open_page, {"pp": "16", "mb": "16"})
    assert len(charts(at)["partition.stages"]["labels"]["texts"][0]) == 16
    box(at, "pipeline_parallel").set_value(1).run()
    assert "partition.stages" not in charts(at)


def test_the_table_says_what_the_charts_say(open_page: OpenPage):
    table = next(node.proto.body for node in open_results(open_page).get("html") if "largest model" in node.proto.body)
    rows = [re.findall(r"<td[^>]*>([^<]*)", row) for row in table.split("<tr")[2:]]
    assert [row[0] for row in rows] == ["no sharding", "ZeRO-1", "ZeRO-2", "ZeRO-3"]
    for stage, row in enumerate(rows):
        here = headline_of(changed(START, zero_stage=stage).training)
        assert row[1:5] == [
            show_bytes(here.state_bytes),
            show_bytes(here.peak_bytes),
            "yes" if here.fits else f"{show_bytes(here.over_bytes)} over",
            f"{show_count(here.largest_params)} params",
        ]


# Refusals.
DENSE, MOE = {}, {"model": "mistralai/Mixtral-8x7B-v0.1"}
REFUSED = [
    ("tensor_parallel", 3, DENSE, "it must divide the 64 heads of Llama 3.1 70B"),
    ("tensor_parallel", 1024, DENSE, "it must divide the 64 heads"),
    ("tensor_parallel", 0, DENSE, "it must be a whole number from 1 to 1,024. Try 1."),
    ("tensor_parallel", -1, DENSE, "it must be a whole number from 1 to 1,024. Try 1."),
    ("tensor_parallel", 1e30, DENSE, "it must be a whole number from 1 to 1,024. Try 1,024."),
    ("tensor_parallel", 1.5, DENSE, "Tensor parallel is 1.5: it must be a whole number"),
    ("pipeline_parallel", 100, DENSE, "each stage needs a layer of its own, and Llama 3.1 70B has 80"),
    ("pipeline_parallel", 81, {"pp": "2", "vp": "1"}, "Choose at most 80."),
    ("virtual_stages", 2, DENSE, "interleaving needs a pipeline of two stages or more"),
    ("context_parallel", 3, DENSE, "it must divide the sequence length 4,096"),
    ("expert_parallel", 2, DENSE, "Llama 3.1 70B has no experts to spread"),
    ("expert_parallel", 3, MOE, "it must divide the 8 experts of Mixtral"),
    ("num_micro_batches", 0, DENSE, "it must be a whole number from 1 to 65,536"),
    ("num_micro_batches", 1e9, DENSE, "Try 65,536."),
    ("micro_batch_size", -7, DENSE, "it must be a whole number from 1 to 4,096"),
    ("micro_batch_size", 2**53, DENSE, "9,007,199,254,740,992"),
]


@pytest.mark.parametrize(("field", "value", "query", "words"), REFUSED)
def test_a_refused_number_is_answered_beside_its_box(open_page: OpenPage, field, value, query, words):
    at = open_results(open_page, query)
    good, numbers = scenario(at), charts(at)
    box(at, field).set_value(value).run()
    assert not at.exception
    assert words in refusal_beside(at, field)
    assert refusals(at) == [refusal_beside(at, field)]
    assert (scenario(at), charts(at)) == (good, numbers)
    assert box(at, field).value == value, "it can be corrected instead of typed again"
    at.run()
    assert words in refusal_beside(at, field), "it stands until it is corrected"
    box(at, field).set_value(1).run()
    assert refusals(at) == []


def test_sequence_parallel_alone_and_offload_without_sharding(open_page: OpenPage):
    at = open_results(open_page, {"zero": "0"})
    at.toggle(key="partition.sequence_parallel").set_value(True).run()
    at.selectbox(key="partition.offload").set_value("optimizer").run()
    assert "there is only one" in refusal_beside(at, "sequence_parallel")
    assert "builds on a sharded optimizer" in refusal_beside(at, "offload")
    assert scenario(at) == changed(START, zero_stage=0)
    assert (at.toggle(key="partition.sequence_parallel").value, at.selectbox(key="partition.offload").value) == (
        True,
        "optimizer",
    )
    at.selectbox(key="partition.zero_stage").set_value(1).run()
    box(at, "tensor_parallel").set_value(2).run()
    assert refusals(at) == []
    assert scenario(at).training.sequence_parallel
    assert scenario(at).training.offload == "optimizer"


def test_a_run_that_does_not_fit_says_which_limit_by_how_much_and_a_cure(open_page: OpenPage):
    at = open_results(open_page, {"dp": "8", "zero": "1", "seq": "262144"})
    [sentence] = standing(at)
    assert re.search(r"the fullest pipeline stage needs [\d,.]+ GB, [\d,.]+ GB more than the GPU has\.", sentence)
    assert "Cure" in sentence or "GPUs" in sentence
    assert any(as_read(note.value).startswith("262,144 tokens are 131,072 more than") for note in at.caption)
    assert standing(open_results(open_page)) == []


def test_a_folded_row_stays_open_when_its_value_is_mended(open_page: OpenPage):
    def folded(at: AppTest) -> bool:
        return next(box for box in at.expander if box.label == "More of the layout").proto.expanded

    at = open_results(open_page)
    assert not folded(at)
    at = at.number_input(key="partition.context_parallel").set_value(3.0).run()
    assert folded(at)
    at = at.number_input(key="partition.context_parallel").set_value(2.0).run()
    assert refusals(at) == []
    assert folded(at)


# The rule blames virtual stages; the value that was typed, and refused, is the one pipeline stage.
def test_a_refusal_stands_beside_what_was_changed_not_what_the_rule_names(open_page: OpenPage):
    at = open_results(open_page, {"pp": "4", "vp": "2"})
    box(at, "pipeline_parallel").set_value(1).run()
    assert "interleaving needs a pipeline" in refusal_beside(at, "pipeline_parallel")
    assert refusal_beside(at, "virtual_stages") == ""
    assert box(at, "pipeline_parallel").value == 1
    box(at, "virtual_stages").set_value(1).run()
    assert refusals(at) == []
    assert scenario(at) == START


def test_two_refused_values_both_wait_and_are_taken_when_they_fit(open_page: OpenPage):
    at = open_results(open_page)
    box(at, "virtual_stages").set_value(2).run()
    box(at, "tensor_parallel").set_value(3).run()
    assert len(refusals(at)) == 2
    box(at, "pipeline_parallel").set_value(2).run()
    assert scenario(at) == changed(START, pipeline_parallel=2, virtual_stages=2)
    assert refusals(at) == [refusal_beside(at, "tensor_parallel")] != [""]
    assert box(at, "tensor_parallel").value == 3


def test_a_refused_value_is_found_again_after_another_page(open_page: OpenPage):
    at = open_results(open_page)
    box(at, "tensor_parallel").set_value(3).run()
    at.switch_page(SETTINGS).run().switch_page(PAGE).run()
    assert box(at, "tensor_parallel").value == 3
    assert "64 heads" in refusal_beside(at, "tensor_parallel")


def test_the_fold_opens_by_itself_when_something_in_it_was_refused(open_page: OpenPage):
    at = open_results(open_page)
    fold = next(fold for fold in at.expander if fold.label == "More of the layout")
    assert not fold.proto.expanded
    box(at, "virtual_stages").set_value(2).run()
    assert next(fold for fold in at.expander if fold.label == "More of the layout").proto.expanded


# Presets, other models, units.
def take_model(at: AppTest, model_id: str) -> None:
    """Choose a model in its dialog, which AppTest draws only in the run that opens it."""
    at.button(key="bar.model").click().run()
    at.button(key="bar.model").click()
    at.selectbox(key="model.pick").set_value(model_id)
    at.button(key="model.use").click().run()


@pytest.mark.parametrize("preset", load_presets().values(), ids=lambda preset: preset.id)
def test_a_preset_opens_with_one_click_whatever_waits(open_page: OpenPage, preset):
    at = open_results(open_page)
    box(at, "tensor_parallel").set_value(3).run()
    at.button(key=f"bar.preset.{preset.id}").click().run()
    assert not at.exception
    assert refusals(at) == []
    assert scenario(at) == preset.scenario()
    assert box(at, "tensor_parallel").value == preset.scenario().training.tensor_parallel
    assert readout(at)[0] == show_bytes(headline_of(preset.scenario().training).state_bytes)


def test_a_model_with_fewer_heads_lowers_what_it_cannot_take_and_says_so(open_page: OpenPage):
    at = open_results(open_page, {"tp": "32", "sp": "1", "pp": "40", "vp": "2"})
    take_model(at, "openai-community/gpt2-xl")
    assert not at.exception
    said = "\n".join(as_read(note.value) for note in at.info)
    assert "Tensor parallel went from 32 to 25 because GPT-2 XL cannot take it." in said
    assert "Virtual stages went from 2 to 1" in said
    assert scenario(at).training.tensor_parallel == box(at, "tensor_parallel").value == 25
    assert at.run().info.len == 0, "it is said once"


def test_a_refused_value_is_forgotten_with_its_model(open_page: OpenPage):
    at = open_results(open_page)
    box(at, "tensor_parallel").set_value(3).run()
    take_model(at, "meta-llama/Llama-3.1-8B")
    assert refusals(at) == []
    assert box(at, "tensor_parallel").value == 1


def test_the_unit_changes_all_numbers(open_page: OpenPage):
    at = open_results(open_page)
    at.button(key="partition.pin").click().run()
    at.switch_page(SETTINGS).run().button_group(key="settings.pick.unit").set_value("GiB").run()
    at.switch_page(PAGE).run()
    assert readout(at)[0] == show_bytes(STATES, "GiB") == "16.4 GiB"
    assert readout(at)[1] == "no change against pinned"
    assert "GiB per GPU" in sent(at)
    shown = "\n".join(node.value for node in at.markdown)
    shown += json.dumps(charts(at)) + "".join(node.proto.body for node in at.get("html"))
    assert re.findall(r"[\d.,]+ [GMkT]?B\b", shown) == []


# Pinned numbers.
def test_a_pinned_baseline_shows_what_changed(open_page: OpenPage):
    at = open_results(open_page, {"dp": "8"})
    assert readout(at, 1)[0].endswith("GB over")
    at.button(key="partition.pin").click().run()
    assert re.fullmatch("it does not fit.*; no change against pinned", readout(at, 1)[1])
    assert "Pinned: Llama 3.1 70B on 8 x H100 SXM, ZeRO-3, 4,096 tokens, full recompute" in sent(at)
    box(at, "tensor_parallel").set_value(8).run()
    assert readout(at)[1].endswith("against pinned")
    assert readout(at)[1].startswith("-")
    assert re.fullmatch(r"it fits.*; \+[\d.]+ GB against pinned \(did not fit\)", readout(at, 1)[1])
    assert "peak against pinned" in sent(at)
    at.button(key="partition.unpin").click().run()
    assert "pinned" not in json.dumps(charts(at))
    assert "peak against pinned" not in sent(at)


# Workings.
def test_workings_are_derived_when_they_are_opened_and_end_at_the_shown_number(open_page: OpenPage):
    at = open_results(open_page)
    assert at.code.len == 0
    at.session_state["partition.states_working"] = True  # what opening the fold sends
    at.session_state["partition.activations_working"] = True
    at.run()
    assert not at.exception
    assert at.code.len >= 8
    nodes = [node for node in at._tree if node.type in ("markdown", "code")]
    titled = [(title, code) for title, code in pairwise(nodes) if code.type == "code"]
    for title, code in titled:
        value, unit = re.fullmatch(r"= ([\d,.]+(?:e\+\d+)?) (\w+)", code.value.splitlines()[-1]).groups()
        exact = float(value.replace(",", ""))
        assert as_read(title.value).strip("*").endswith(show_bytes(exact) if unit == "bytes" else show_count(exact))
    states = next(code.value for title, code in titled if "Model states" in title.value)
    assert states.splitlines()[-1] == f"= {STATES:,.0f} bytes"


# Links.
def test_a_link_opens_its_scenario(open_page: OpenPage):
    wanted = changed(START, data_parallel=96, tensor_parallel=8, zero_stage=1, recompute="none")
    at = open_page(PAGE, to_address(wanted))
    assert scenario(at) == wanted
    assert refusals(at) == []


def test_a_link_carries_models_and_hardware_of_ones_own(open_page: OpenPage):
    card = load_accelerators()["h100-sxm"].edited(hbm_bytes=100_000_000_000)
    model = model_of("moonshotai--Kimi-K3")
    at = open_results(open_page, {"model": pack(model), "gpu": pack(card), "dp": "512"})
    assert (scenario(at).model, scenario(at).accelerator) == (model, card)
    assert "100 GB of memory stop at about" in sent(at)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"tp": "3", "dp": "8"}, ["Tensor parallel is 3: it must divide the 64 heads"]),
        ({"dp": "0"}, ["Data-parallel ranks is '0'", "Try 1."]),
        ({"dp": "nan", "seq": "many"}, ["Data-parallel ranks is 'nan'", "Sequence length is 'many'"]),
        ({"model": "no/such-model"}, ["Model is 'no/such-model': it is no id of the catalog"]),
        ({"model": "1.eNqrVspMUbJSMjQ"}, ["it is cut short or too large"]),
        ({"model": "1.broken"}, ["it cannot be unpacked: the link was cut or changed"]),
        ({"gpu": "1." + "A" * 1000, "tp": "8"}, ["Accelerator is '1.AAAA", "it cannot be unpacked"]),
        ({"sp": "maybe"}, ["it is either on or off"]),
        ({"rc": "[](javascript:alert(1))"}, ["it must be one of none, selective, full"]),
    ],
)
def test_a_broken_link_keeps_the_scenario_and_says_why(open_page: OpenPage, query, words):
    at = open_page(PAGE, query)
    assert not at.exception
    assert scenario(at) == START
    assert len(refusals(at)) == 1
    assert refusals(at)[0].startswith("This address was not opened. ")
    assert [word for word in words if word not in refusals(at)[0]] == []
    assert dict(at.query_params) == query, "left as it came"
    button(at, "Skip all from now on").click().run()
    box(at, "tensor_parallel").set_value(8).run()
    assert refusals(at) == []


def test_keys_of_others_are_left_alone(open_page: OpenPage):
    at = open_results(open_page, {"utm_source": "mail", "q": "x" * 5000})
    assert scenario(at) == START
    box(at, "tensor_parallel").set_value(8).run()
    assert at.query_params["utm_source"] == "mail"
    assert at.query_params["tp"] == "8"


def test_a_scenario_too_large_for_an_address_says_that_a_reload_loses_it(open_page: OpenPage):
    notes = tuple(f"{n**40:x}" for n in range(2, 80))  # nothing for a packer to fold
    model = START.model.model_copy(update={"id": "custom", "notes": notes})
    at = open_results(open_page)
    at.session_state["state.scenario"], _ = with_model(START, model)
    at.run()
    assert len(refusals(at)) == 1
    assert "a reload would lose it" in refusals(at)[0]
    assert "Save the scenario as a file instead." in refusals(at)[0]
    at.button(key="bar.preset.zero-70b-64").click().run()
    assert refusals(at) == []


# Text of others.
@pytest.mark.parametrize(
    "name", ["**b** _i_ <b>x</b> $x$ $y$ `c` :red[r]", "# 😀 | a -> b", "[l](https://a.org)", "x" * 80]
)
def test_a_name_shows_as_it_was_typed(open_page: OpenPage, name):
    model = model_of("Qwen--Qwen3-8B").model_copy(update={"name": name})
    at = open_page(PAGE, {"model": pack(model)})
    assert not at.exception
    asked = next(node.value for node in at.markdown if "Before you look" in node.value)
    assert f"states of {name} take" in as_read(asked).replace("\u2060", "")
    button(at, "Skip all from now on").click().run().button(key="partition.pin").click().run()
    pinned = next(node.value for node in at.caption if "Pinned" in node.value)
    assert as_read(pinned).replace("\u2060", "").startswith(f"Pinned: {name} on 64 x")
