"""Step 1 through the real app: predictions, passes, overlays, refusals, presets, links, workings."""

from __future__ import annotations

import json
import re

import pytest
from streamlit.testing.v1 import AppTest

from core.bottleneck import PHASES, headline_of
from core.display import digits, show_seconds
from core.hardware import load_accelerators
from core.model_spec import load_models
from core.presets import load_presets
from core.scenario import changed
from core.scenario_link import default_scenario, to_address
from tests.pages.conftest import OpenPage
from tests.pages.test_home import button, sent
from views._ui import registry

PAGE = "views/steps/bottleneck.py"
START = default_scenario()

# What would answer the first question, or stands only in results.
RESULTS = ("31.7", "-bound", "ridge", "binds.", "rp-limits", "rp-table", "operators under the roofline")
# What would answer the second one: the ceiling, and everything counted.
LATER_RESULTS = ("46.7", "46.5", "4/3", "a third more", "made again", "share of the dense peak", "recompute explains")


def open_results(open_page: OpenPage, query: dict[str, str] | None = None) -> AppTest:
    """The page with every result shown."""
    return button(open_page(PAGE, query), "Skip all from now on").click().run()


def charts(at: AppTest) -> dict[str, dict]:
    """What each live chart was given, by its key."""
    found = [json.loads(node.proto.json) for node in at.get("bidi_component") if '"token"' in node.proto.json]
    return {move["key"]: {**json.loads(message), "index": move["index"]} for message, move in found}


def readout(at: AppTest, row: int = 0, key: str = "bottleneck.roofline") -> tuple[str, str]:
    """A number beside a chart, and its note."""
    chart = charts(at)[key]
    shown = chart["readouts"][row]
    return shown["values"][chart["index"]], (shown["notes"] or [""] * chart["frames"])[chart["index"]]


def refusals(at: AppTest) -> list[str]:
    """Every sentence in red, as it is read."""
    red = [node.value for node in at.markdown if ":material/error:" in node.value]
    return [re.sub(r"\\(.)", r"\1", text.removeprefix(":red[:material/error: ").removesuffix("]")) for text in red]


# Predict, then reveal.
def test_before_the_first_answer_no_result_is_sent(open_page: OpenPage):
    at = open_page(PAGE)
    assert not at.exception
    assert "How many **FLOP for each byte** does it make?" in sent(at)
    assert charts(at) == {}
    assert [word for word in (*RESULTS, *LATER_RESULTS) if word in sent(at)] == []


def test_before_the_second_answer_nothing_about_recomputed_work_is_sent(open_page: OpenPage):
    at = button(open_page(PAGE), "Skip").click().run()
    assert not at.exception
    assert "What is its **HFU**?" in sent(at)
    assert set(charts(at)) == {"bottleneck.roofline"}
    assert [word for word in LATER_RESULTS if word in sent(at)] == []


def test_a_commit_shows_guess_truth_and_slip(open_page: OpenPage):
    at = open_page(PAGE)
    at.select_slider(key="ask.bottleneck.intensity.guess").set_value(64.0)
    at = button(at, "Commit").click().run()
    assert [(metric.label, metric.value) for metric in at.metric] == [("you said, 70% sure", "64"), ("it is", "31.7")]
    assert "a weight brings 2 bytes with it" in sent(at)
    at.slider(key="ask.bottleneck.ceiling.guess").set_value(62.0)
    at = button(at, "Commit").click().run()
    assert not at.exception
    assert [metric.value for metric in at.metric][2:] == ["62.0%", "46.7%"]
    assert "Recomputation alone does not reach it." in sent(at)
    assert set(charts(at)) == {"bottleneck.roofline", "bottleneck.counts"}
    assert "Commit" not in [each.label for each in at.button]


# Passes, controls, overlays.
def test_the_start_scenario(open_page: OpenPage):
    at = open_results(open_page)
    assert not at.exception
    assert readout(at) == ("31.7", "bandwidth-bound, 9.31 x below the ridge")
    assert readout(at, 1)[0] == show_seconds(headline_of(START, "decode").floor_s)
    assert "Training: compute binds; memory is 39.3% full." in sent(at)
    assert "Serving: memory bandwidth binds" in sent(at)
    assert readout(at, key="bottleneck.counts")[0] == "35.0%"


@pytest.mark.parametrize("phase", PHASES)
def test_each_pass_has_its_own_slider_and_controls(open_page: OpenPage, phase: str):
    at = open_results(open_page)
    at.button_group(key="bottleneck.phase").set_value(phase)
    at = at.run()
    assert not at.exception
    assert charts(at)["bottleneck.roofline"]["slider"]["label"] == ("Requests" if phase == "decode" else "Sequence")
    assert readout(at)[0] == digits(headline_of(START, phase).intensity)
    assert ("bottleneck.micro_batch_size" in [box.key for box in at.number_input]) == (phase == "training")


def test_a_narrower_weight_moves_the_points(open_page: OpenPage):
    at = open_results(open_page)
    at = at.selectbox(key="bottleneck.weight_dtype").set_value("fp8").run()
    now = headline_of(changed(START, weight_dtype="fp8"), "decode")
    assert readout(at)[0] == digits(now.intensity)
    assert "fp8 1,979 TFLOP/s" in sent(at)


def test_another_accelerator_and_another_format_are_drawn_beside(open_page: OpenPage):
    at = open_results(open_page)
    assert "H200 SXM: bf16" not in sent(at)
    at.button_group(key="bottleneck.formats.h100-sxm").set_value(["fp8"])
    at = at.selectbox(key="bottleneck.other").set_value("h200-sxm").run()
    assert not at.exception
    assert "H200 SXM: bf16 989 TFLOP/s" in sent(at)
    assert "fp8 1,979 TFLOP/s" in sent(at)


def test_a_pinned_baseline_stays_beside_the_new_numbers(open_page: OpenPage):
    at = open_results(open_page)
    at = button(at, "Pin as baseline").click().run()
    assert readout(at)[1].endswith("; as pinned")
    at = at.selectbox(key="bottleneck.weight_dtype").set_value("fp8").run()
    assert readout(at)[1].endswith(" x pinned")
    assert "decode, 4,096 tokens, batch 32" in sent(at)
    at = button(at, "Let go").click().run()
    assert "pinned" not in readout(at)[1]


# MFU and HFU.
def test_the_preset_of_the_puzzle_opens_here_and_is_explained(open_page: OpenPage):
    preset = load_presets()["mfu-35-hfu-62"]
    assert preset.page == "bottleneck"
    at = open_results(open_page, to_address(preset.scenario()))
    assert readout(at, 1, "bottleneck.counts")[0] == "46.5%"
    assert readout(at, 2, "bottleneck.counts") == (
        "62.0%",
        "1.77 x MFU, more than recompute explains; causal attention, all recomputed comes near",
    )
    assert "60.9%" in sent(at)


def test_tokens_a_second_give_an_mfu(open_page: OpenPage):
    at = open_results(open_page)
    at.button_group(key="bottleneck.kind").set_value("tokens/s")
    at = at.run()
    at.button_group(key="bottleneck.count").set_value("causal")
    at = at.number_input(key="bottleneck.typed.tokens/s").set_value(60_000.0).run()
    assert not at.exception
    share, note = readout(at, 0, "bottleneck.counts")
    assert note == "60,000 tokens/s on 64 GPUs"
    # 60,000 tokens/s x 432.8 GFLOP / (64 x 989.4 TFLOP/s)
    assert share == "41.0%"


@pytest.mark.parametrize("value", [0.0, -3.0, 140.0, 1e30])
def test_a_share_that_is_none_is_refused_in_words(open_page: OpenPage, value: float):
    at = open_results(open_page)
    at = at.number_input(key="bottleneck.typed.MFU").set_value(value).run()
    assert not at.exception
    assert "a share of the dense peak lies above 0 and at most at 100" in refusals(at)[0]
    assert set(charts(at)) == {"bottleneck.roofline"}
    at = at.number_input(key="bottleneck.typed.MFU").set_value(41.0).run()
    assert readout(at, 0, "bottleneck.counts")[0] == "41.0%"


def test_a_reported_share_that_is_none_is_refused_in_words(open_page: OpenPage):
    at = open_results(open_page)
    at = at.number_input(key="bottleneck.reported").set_value(0.0).run()
    assert not at.exception
    assert "Reported HFU" in refusals(at)[0]


def test_a_degree_that_does_not_divide_the_heads_is_refused_beside_its_box(open_page: OpenPage):
    at = open_results(open_page)
    at = at.number_input(key="bottleneck.serving_tensor_parallel").set_value(3.0).run()
    assert not at.exception
    assert len(refusals(at)) == 1
    assert "Tensor parallel for serving is 3" in refusals(at)[0]
    assert readout(at)[0] == "31.7"


# What cannot run, and what is not known.
def test_what_does_not_fit_says_by_how_much_and_what_would_cure_it(open_page: OpenPage):
    at = open_results(open_page, {"zero": "0", "dp": "1", "stp": "1"})
    assert not at.exception
    assert "memory capacity binds. It needs 16.5 times what there is" in sent(at)
    assert " over</td>" in sent(at)
    assert "Cure" in sent(at) or "takes more GPUs" in sent(at)
    assert readout(at)[0]


@pytest.mark.parametrize("gpu", ["apple-m3-ultra", "apple-m4-pro", "mi455x", "t4", "v100-sxm2-32gb"])
def test_an_accelerator_without_a_usual_peak_gets_words(open_page: OpenPage, gpu: str):
    at = open_results(open_page, {"gpu": gpu})
    assert not at.exception
    for phase in PHASES:
        at.button_group(key="bottleneck.phase").set_value(phase)
        at = at.run()
        assert not at.exception
        assert charts(at)["bottleneck.roofline"]["readouts"]
    if not load_accelerators()[gpu].peak_dtypes:
        assert "no confirmed peak" in sent(at)
        at.button_group(key="bottleneck.kind").set_value("tokens/s")
        at = at.run()
        at = at.number_input(key="bottleneck.typed.tokens/s").set_value(50_000.0).run()
        assert not at.exception
        assert "no peak of this accelerator is confirmed" in refusals(at)[0]


def test_every_model_and_accelerator_opens(open_page: OpenPage):
    at = open_results(open_page)
    for key, known in (("model", load_models()), ("gpu", load_accelerators())):
        for name in list(known)[::4]:
            at.query_params[key] = name
            at = at.run()
            assert not at.exception, name
            assert set(charts(at)) == {"bottleneck.roofline", "bottleneck.counts"}, name
        del at.query_params[key]


# Workings, tables, links.
def test_workings_open_on_demand(open_page: OpenPage):
    at = open_results(open_page)
    assert "dense peak / memory bandwidth" not in sent(at)
    for key in ("verdict", "roofline", "counts"):
        at.session_state[f"bottleneck.{key}_working"] = True
    at = at.run()
    assert not at.exception
    shown = "\n".join(code.value for code in at.code)
    assert "dense peak / memory bandwidth" in shown
    assert "bytes needed / bytes there are" in shown
    assert "FLOPs a token with every layer made again / without" in shown


def test_each_step_of_the_table_that_has_a_page_is_linked(open_page: OpenPage):
    at = open_results(open_page)
    labels = [node.proto.label for node in at.get("page_link")]
    assert labels == [f"{step.number} {step.title}" for step in registry.STEPS[1:] if step.url_path]
    assert "From symptom to step" in [header.value for header in at.header]


def test_the_pass_and_the_overlay_are_kept_on_another_page(open_page: OpenPage):
    at = open_results(open_page)
    at.button_group(key="bottleneck.phase").set_value("training")
    at = at.run()
    at = at.switch_page("views/steps/partition.py").run()
    at = at.switch_page(PAGE).run()
    assert not at.exception
    assert charts(at)["bottleneck.roofline"]["slider"]["label"] == "Sequence"
