"""Step 5 through the real app: predictions, controls, refusals, presets, tabs, workings."""

from __future__ import annotations

import json
import re

import pytest
from streamlit.testing.v1 import AppTest

from core.batch import headline_of
from core.display import digits, show_bytes
from core.hardware import load_accelerators
from core.model_spec import load_models
from core.presets import load_presets
from core.scenario import changed
from core.scenario_link import default_scenario
from tests.pages.conftest import OpenPage
from tests.pages.test_home import button, sent
from views._ui.paged_picture import picture_data

PAGE = "views/steps/batch.py"
START = default_scenario()
# What would answer the first question, or what stands only in results; then the same for the second.
RESULTS = ("24.7", "4,713", "2,374", "tokens a second, estimate", "matrices bend", "rp-table")
LATER_RESULTS = (
    "246 fit",
    "246 requests",
    "KV cache of 32 requests",
    "What lifts the cap",
    "as it stands",
    "I estimate",
    "takes blocks 1 and 2",
)
TABS = {
    "Bits": "fit with this cache",
    "Speculation": "Acceptance is taken",
    "Prefix hits": "tokens found",
    "Price": "a million tokens, estimate",
}


def open_results(open_page: OpenPage, query: dict[str, str] | None = None) -> AppTest:
    """The page with every result shown."""
    return button(open_page(PAGE, query), "Skip all from now on").click().run()


def scenario(at: AppTest):
    return at.session_state["state.scenario"]


def charts(at: AppTest) -> dict[str, dict]:
    """What each live chart was given, by its key."""
    found = [json.loads(node.proto.json) for node in at.get("bidi_component") if '"token"' in node.proto.json]
    return {move["key"]: {**json.loads(message), "index": move["index"]} for message, move in found}


def readout(at: AppTest, row: int, key: str = "batch.throughput") -> str:
    chart = charts(at)[key]
    return chart["readouts"][row]["values"][chart["index"]]


def refusals(at: AppTest) -> list[str]:
    """Every sentence in red, as it is read."""
    return [re.sub(r"\\(.)", r"\1", node.value) for node in at.markdown if ":material/error:" in node.value]


def open_tab(at: AppTest, name: str) -> AppTest:
    at.session_state["batch.lever"] = name
    return at.run()


# Predict, then reveal.
def test_before_the_first_answer_no_result_is_sent(open_page: OpenPage):
    at = open_page(PAGE)
    assert not at.exception
    assert "How many times as many do **32 requests** get together" in sent(at)
    assert charts(at) == {}
    assert [word for word in (*RESULTS, *LATER_RESULTS) if word in sent(at)] == []


def test_before_the_second_answer_nothing_about_it_is_sent(open_page: OpenPage):
    at = button(open_page(PAGE), "Skip").click().run()
    assert "it moves to **4 x H100 SXM**" in sent(at)
    assert set(charts(at)) == {"batch.throughput"}
    assert [word for word in LATER_RESULTS if word in sent(at)] == []


def test_commits_show_guess_truth_and_slip(open_page: OpenPage):
    at = open_page(PAGE)
    at.slider(key="ask.batch.times.guess").set_value(32.0)
    at = button(at, "Commit").click().run()
    assert [(metric.label, metric.value) for metric in at.metric] == [
        ("you said, 70% sure", "32.0 x"),
        ("it is", "24.7 x"),
    ]
    assert "counts the weights alone" in sent(at)
    at.select_slider(key="ask.batch.twist.guess").set_value(350.0)
    at = button(at, "Commit").click().run()
    assert not at.exception
    assert [metric.value for metric in at.metric][2:] == ["350 requests", "246 requests"]
    assert "That scales with the GPUs" in sent(at)
    assert "In proportion to GPUs and bytes it would be 351." in sent(at)


def test_whoever_does_not_know_gets_the_answers(open_page: OpenPage):
    at = button(button(open_page(PAGE), "I do not know").click().run(), "I do not know").click().run()
    assert [metric.value for metric in at.metric] == ["24.7 x", "246 requests"]


def test_results_agree_with_core(open_page: OpenPage):
    at, here = open_results(open_page), headline_of(START)
    assert set(charts(at)) == {"batch.throughput", "batch.cache"}
    assert readout(at, 0) == show_bytes(here.room_bytes)
    assert readout(at, 1) == digits(here.tokens_per_s)
    assert readout(at, 1, "batch.cache") == "351"
    assert refusals(at) == []
    assert [word for word in (*RESULTS[2:], *LATER_RESULTS[2:6]) if word not in sent(at)] == []


# Controls.
@pytest.mark.parametrize(
    ("field", "value"),
    [("serving_tensor_parallel", 4), ("weight_dtype", "fp8"), ("kv_dtype", "fp8"), ("memory_fraction", 0.5)],
)
def test_each_control_changes_its_field_and_the_numbers(open_page: OpenPage, field, value):
    at = open_results(open_page)
    before = charts(at)
    kind = {str: at.selectbox, int: at.number_input, float: at.slider}[type(value)]
    kind(key=f"batch.{field}").set_value(value).run()
    assert not at.exception
    assert scenario(at) == changed(START, **{field: value})
    assert refusals(at) == []
    assert charts(at) != before
    assert readout(at, 0) == show_bytes(headline_of(scenario(at)).room_bytes)


@pytest.mark.parametrize("value", [3, 0, -1, 1e30, 1.5])
def test_a_refused_degree_is_answered_and_the_last_good_one_stays(open_page: OpenPage, value):
    at = open_results(open_page)
    good = charts(at)
    at.number_input(key="batch.serving_tensor_parallel").set_value(value).run()
    assert not at.exception
    (said,) = refusals(at)
    assert "Tensor parallel for serving is" in said
    assert (scenario(at), charts(at)) == (START, good)
    at.number_input(key="batch.serving_tensor_parallel").set_value(8).run()
    assert refusals(at) == []


# A scenario that cannot run: which constraint, by how much, what would cure it, and still the pictures.
@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"batch": "1000"}, ("Concurrent requests is 1,000", "more than the 77.0 GB", "Choose at most 351 requests")),
        ({"model": "meta-llama/Llama-3.1-405B"}, ("the weights alone need 101 GB", "tensor parallel 16")),
        ({"ctx": "200000", "batch": "1"}, ("was made for 131,072 tokens", "Choose at most 131,072")),
        ({"gpu": "rtx-4090", "stp": "1"}, ("the weights alone need", "tensor parallel 8")),
    ],
)
def test_what_cannot_run_is_said_and_still_drawn(open_page: OpenPage, query, words):
    at = open_results(open_page, query)
    assert not at.exception
    said = " ".join(refusals(at))
    assert [word for word in words if word not in said] == []
    assert set(charts(at)) == {"batch.throughput", "batch.cache"}


def test_bytes_follow_the_unit(open_page: OpenPage):
    at = open_page("views/start/settings.py")
    at.button_group(key="settings.pick.unit").set_value("GiB").run()
    at.switch_page(PAGE).run()
    at = button(at, "Skip all from now on").click().run()
    assert not at.exception
    assert readout(at, 0) == show_bytes(headline_of(START).room_bytes, "GiB")
    own = [node.value for node in at.markdown if not node.value.startswith("- **")]  # mistakes quote others' GB
    assert not [words for words in [*own, *charts(at)["batch.cache"]["alt"]] if re.search(r"\d GB", words)]


@pytest.mark.parametrize("preset", load_presets().values(), ids=lambda preset: preset.id)
def test_a_preset_opens_with_one_click(open_page: OpenPage, preset):
    at = open_results(open_page)
    at.button(key=f"bar.preset.{preset.id}").click().run()
    assert not at.exception
    assert scenario(at) == preset.scenario()
    assert readout(at, 1) == digits(headline_of(preset.scenario()).tokens_per_s)


KINDS = (
    "deepseek-ai/DeepSeek-V3.2",
    "google/gemma-3-27b-pt",
    "nvidia/Nemotron-H-56B-Base-8K",
    "openai/gpt-oss-120b",
    "openai-community/gpt2-xl",
)


@pytest.mark.parametrize("model_id", KINDS)
def test_models_of_every_kind_have_a_page(open_page: OpenPage, model_id):
    assert model_id in load_models()
    at = open_page(PAGE, {"model": model_id, "stp": "1"})
    assert not at.exception
    at = button(at, "Skip all from now on").click().run()
    assert not at.exception
    for name in TABS:
        assert not open_tab(at, name).exception
    assert re.search(r"\bnan\b", " ".join(node.value for node in at.markdown)) is None


def test_an_accelerator_without_a_peak_has_words(open_page: OpenPage):
    assert load_accelerators()["apple-m4-max"].half_dtype is None
    at = open_results(open_page, {"gpu": "apple-m4-max", "stp": "1"})
    assert not at.exception
    assert "is confirmed, so only memory" in sent(at)
    assert "no confirmed peak" in sent(open_tab(at, "Prefix hits"))


# Tabs.
def test_only_the_open_tab_is_sent(open_page: OpenPage):
    at = open_results(open_page)
    assert picture_data()["frames"][0]["words"] in sent(at)
    assert [words for words in TABS.values() if words in sent(at)] == []


@pytest.mark.parametrize(("name", "words"), TABS.items())
def test_each_tab_shows_its_lever(open_page: OpenPage, name, words):
    at = open_tab(open_results(open_page), name)
    assert not at.exception
    assert words in sent(at)


def test_the_rent_and_its_use_set_the_price(open_page: OpenPage):
    at = open_tab(open_results(open_page), "Price")
    # 8 x 2 an hour, half of it in use, 2,374 tokens a second
    assert "3.74" in sent(at)
    at.number_input(key="batch.rent").set_value(4.0).run()
    assert "7.49" in sent(at)
    at.slider(key="batch.use").set_value(1.0).run()
    assert "3.74" in sent(at)


def test_acceptance_sets_the_speed_up(open_page: OpenPage):
    at = open_tab(open_results(open_page), "Speculation")
    assert readout(at, 0, "batch.speculation") == "2.80 x"
    at.slider(key="batch.acceptance").set_value(0.0).run()
    assert readout(at, 0, "batch.speculation") == "0.833 x"


# Baseline, workings, download.
def test_pinned_numbers_are_compared(open_page: OpenPage):
    at = open_results(open_page)
    at.button(key="batch.pin").click().run()
    assert "Pinned: Llama 3" in sent(at)
    at.selectbox(key="batch.kv_dtype").set_value("fp8").run()
    assert "+350 against pinned" in sent(at)
    at.button(key="batch.unpin").click().run()
    assert "against pinned" not in sent(at)


def test_workings_are_worked_out_only_when_opened(open_page: OpenPage):
    at = open_results(open_page)
    assert at.code.len == 0
    for key in ("batch.step_working", "batch.cap_working"):
        at.session_state[key] = True
    at.run()
    assert not at.exception
    shown = "\n".join(code.value for code in at.code)
    assert "80 × 1 × (128 + 128) × 4,096 × 2 × 1" in shown
    assert "layers × weights on one GPU × bytes each" in shown


def test_the_frames_of_the_paged_cache_are_whole():
    data = picture_data()
    json.dumps(data, allow_nan=False)
    assert {len(frame["blocks"]) for frame in data["frames"]} == {10}
    assert data["most"] == 3
    assert all(frame["alt"].endswith("are free.") for frame in data["frames"])
    assert sum(block["fresh"] for block in data["frames"][0]["blocks"]) == 2
