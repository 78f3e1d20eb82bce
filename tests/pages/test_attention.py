"""Step 4 through the real app: predictions, charts, the walk of a tile, refusals, every model and accelerator."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest

from core.attention import headline_of
from core.display import show_bytes
from core.hardware import load_accelerators
from core.model_spec import load_models
from core.presets import load_presets
from core.scenario import changed, with_model
from core.scenario_link import default_scenario
from tests.pages.conftest import OpenPage
from tests.pages.test_home import button, sent
from tests.pages.test_partition import as_read, charts
from tests.shapes import QWEN_27B, stack

PAGE = "views/steps/attention.py"
START = default_scenario()

# What would answer the first question, or stands only in results.
RESULTS = ("8.59", "34.4 GB", "writes their softmax", "24.1 GB", "rereads cached", "unfused moves", "scores held")
# What would answer the second one: times, FLOPs side by side, and all that comes after it.
LATER_RESULTS = (
    "It is **less time**",
    "seven products",
    "7.19 ms",
    "1.94 ms",
    "time floor",
    "tiles of keys",
    "rescale",
    "I would confirm",
)


def open_results(open_page: OpenPage, query: dict[str, str] | None = None) -> AppTest:
    """The page with every result shown."""
    return button(open_page(PAGE, query), "Skip all from now on").click().run()


def scenario(at: AppTest):
    return at.session_state["state.scenario"]


def walk(at: AppTest) -> dict:
    """What the picture of the tile was given."""
    (found,) = [json.loads(node.proto.json) for node in at.get("bidi_component") if '"frames": [{' in node.proto.json]
    return found[0]


def readout(at: AppTest, row: int = 0, key: str = "attention.io") -> tuple[str, str]:
    chart = charts(at)[key]
    shown = chart["readouts"][row]
    return shown["values"][chart["index"]], (shown["notes"] or [""] * chart["frames"])[chart["index"]]


def refusals(at: AppTest) -> list[str]:
    return [as_read(node.value) for node in at.markdown if ":material/error:" in node.value]


# Predict, then reveal.
def test_before_the_first_answer_no_result_is_sent(open_page: OpenPage):
    at = open_page(PAGE)
    assert not at.exception
    assert "How large is the matrix of scores" in sent(at)
    assert charts(at) == {}
    assert [word for word in (*RESULTS, *LATER_RESULTS) if word in sent(at)] == []


def test_before_the_second_answer_no_time_is_sent(open_page: OpenPage):
    at = button(open_page(PAGE), "Skip").click().run()
    assert "does it take less time or more?" in sent(at)
    assert set(charts(at)) == {"attention.io"}
    assert [word for word in LATER_RESULTS if word in sent(at)] == []


def test_a_commit_shows_guess_truth_and_slip(open_page: OpenPage):
    at = open_page(PAGE)
    at.select_slider(key="ask.attention.scores.guess").set_value(34.0)
    at = button(at, "Commit").click().run()
    assert [(metric.label, metric.value) for metric in at.metric] == [
        ("you said, 70% sure", "34.0 GB"),
        ("it is", "8.59 GB"),
    ]
    assert "writes and reads such matrices four times" in sent(at)
    at.radio(key="ask.attention.recompute.guess").set_value("more time")
    at = button(at, "Commit").click().run()
    assert not at.exception
    assert "You said **more time**, 70% sure. It is **less time**." in sent(at)
    assert set(charts(at)) == {"attention.io", "attention.tiles"}


def test_the_answer_follows_the_readers_unit(open_page: OpenPage):
    at = open_page(PAGE)
    at.session_state["settings.unit"] = "GiB"
    at = button(at.run(), "I do not know").click().run()
    assert [metric.value for metric in at.metric] == ["8.00 GiB"]


def test_a_commit_without_a_choice_asks_for_one(open_page: OpenPage):
    at = button(button(open_page(PAGE), "Skip").click().run(), "Commit").click().run()
    assert refusals(at) == ["Choose an answer first, or press I do not know."]


# Charts and controls.
def test_readouts_are_the_headlines(open_page: OpenPage):
    at = open_results(open_page)
    here = headline_of(START.training)
    assert readout(at)[0] == show_bytes(here.unfused_bytes) == "24.1 GB"
    assert readout(at, 1)[0] == show_bytes(here.tiled_bytes)
    assert readout(at, 0, "attention.tiles") == ("192 KiB", "it fits")
    assert "scores would move 24.1 GB forward and backward" in sent(at)


@pytest.mark.parametrize(("field", "value"), [("micro_batch_size", 4.0), ("tensor_parallel", 8.0)])
def test_a_control_changes_scenario_and_numbers(open_page: OpenPage, field: str, value: float):
    at = open_results(open_page)
    at = at.number_input(key=f"attention.{field}").set_value(value).run()
    assert getattr(scenario(at).training, field) == value
    assert readout(at)[0] == show_bytes(headline_of(changed(START, **{field: int(value)}).training).unfused_bytes)


def test_the_kernel_that_the_scenario_has_is_the_one_that_counts(open_page: OpenPage):
    at = open_results(open_page)
    assert [r["emphasis"] for r in charts(at)["attention.io"]["readouts"]] == [False, True, False]
    at = at.toggle(key="attention.fused_attention").set_value(False).run()
    assert [r["emphasis"] for r in charts(at)["attention.io"]["readouts"]] == [True, False, False]


def test_memory_can_be_seen_in_place_of_traffic(open_page: OpenPage):
    at = open_results(open_page)
    at = at.segmented_control(key="attention.view").set_value("memory").run()
    assert not at.exception
    assert "85.5 GB of H100 SXM" in json.dumps(charts(at)["attention.io"], ensure_ascii=False)


def test_no_view_chosen_is_the_first(open_page: OpenPage):
    at = open_results(open_page)
    at = at.segmented_control(key="attention.view").set_value(None).run()
    assert not at.exception
    assert "bytes moved" in json.dumps(charts(at)["attention.io"])


@pytest.mark.parametrize("value", [0.0, -1.0, 1.5, 1e30])
def test_a_bad_micro_batch_is_refused_beside_its_field(open_page: OpenPage, value: float):
    at = open_results(open_page)
    at = at.number_input(key="attention.micro_batch_size").set_value(value).run()
    assert not at.exception
    assert scenario(at) == START
    assert refusals(at)[0].startswith("Micro-batch size is")


def test_a_refusal_of_serving_stands_beside_its_field(open_page: OpenPage):
    at = open_results(open_page)
    at = at.number_input(key="attention.serving_tensor_parallel").set_value(3.0).run()
    assert any(sentence.startswith("Tensor parallel for serving is 3") for sentence in refusals(at))


def test_a_baseline_is_pinned_and_let_go(open_page: OpenPage):
    at = button(open_results(open_page), "Pin as baseline").click().run()
    assert readout(at)[1] == "no change against pinned"
    at = at.number_input(key="attention.micro_batch_size").set_value(2.0).run()
    assert readout(at)[1] == "+24.1 GB against pinned"
    assert "Pinned: Llama 3.1 70B on H100 SXM, 4,096 tokens, micro-batch 1" in sent(at)
    at = button(at, "Let go").click().run()
    assert readout(at)[1] == "forward and backward"


@pytest.mark.parametrize(
    ("box", "words"),
    [
        ("io_working", "Size of the scores"),
        ("time_working", "Time floor of one layer, tiled, no mask"),
        ("tiles_working", "Rows of the largest tile of keys"),
        ("kinds_working", "KV cache per GPU, MQA"),
        ("launch_working", "Step with its launches"),
    ],
)
def test_workings_open_on_demand(open_page: OpenPage, box: str, words: str):
    at = open_results(open_page)
    assert words not in sent(at)
    at.session_state[f"attention.{box}"] = True
    assert words in sent(at.run()).replace("\\\\", "")


# The walk.
def test_the_walk_starts_with_the_example(open_page: OpenPage):
    at = open_results(open_page)
    assert walk(at)["tiles"] == ["1-2", "3-4", "5-6", "7-8"]
    assert walk(at)["rows"][-1][-1] == "59.24"


def test_own_scores_and_tiles_can_be_walked(open_page: OpenPage):
    at = open_results(open_page)
    at = at.text_input(key="attention.scores").set_value("1, 3, 2, 5").run()
    at = at.segmented_control(key="attention.tile").set_value(4).run()
    assert walk(at)["tiles"] == ["1-4"]
    at = at.segmented_control(key="attention.tile").set_value(None).run()
    assert not at.exception
    assert walk(at)["tiles"] == ["1-2", "3-4"]


@pytest.mark.parametrize("text", ["", "one, two", "1e30", ",".join("1" * 50), "nan"])
def test_bad_scores_are_refused_beside_the_box(open_page: OpenPage, text: str):
    at = open_results(open_page)
    at = at.text_input(key="attention.scores").set_value(text).run()
    assert not at.exception
    assert refusals(at)[0].startswith("Scores: ")
    assert len(walk(at)["frames"]) == 10


# Models and accelerators of every kind.
@pytest.mark.parametrize("preset", [*load_presets()])
def test_every_preset_opens(open_page: OpenPage, preset: str):
    at = open_results(open_page)
    at.session_state["state.scenario"] = load_presets()[preset].scenario()
    assert not at.run().exception


@pytest.mark.parametrize(
    ("model_id", "words"),
    [
        ("deepseek-ai/DeepSeek-V3.2", "128 heads of 192 and 128"),
        ("deepseek-ai/DeepSeek-V4-Flash", "as if they read all of them"),
        ("openai/gpt-oss-120b", "18 of sliding attention"),
        ("Qwen/Qwen3.5-27B", "Of 64 layers: 16 of full attention"),
        ("nvidia/Nemotron-H-56B-Base-8K", "10 of full attention"),
        ("openai-community/gpt2", "3,072 more than the 1,024"),
    ],
)
def test_models_of_every_kind_have_words(open_page: OpenPage, model_id: str, words: str):
    at = open_results(open_page, {"model": model_id, "stp": "1"})
    assert not at.exception
    assert words in sent(at).replace("\\\\", "")


def test_every_model_opens(open_page: OpenPage):
    at = open_results(open_page)
    for model in load_models().values():
        at.session_state["state.scenario"] = with_model(START, model)[0]
        assert not at.run().exception, model.id
        assert scenario(at).model == model


def test_every_accelerator_opens(open_page: OpenPage):
    at = open_results(open_page)
    for card in load_accelerators():
        at.query_params["gpu"] = card
        assert not at.run().exception, card
        assert scenario(at).accelerator.id == card
    assert "no shared memory per block for" in sent(at).replace("\\\\", "")


@pytest.mark.parametrize("seq_len", ["8", "16777216"])
def test_the_shortest_and_the_longest_sequence_are_drawn(open_page: OpenPage, seq_len: str):
    for micro_batch in ("1", "4096"):  # traffic that one power of ten holds, or none that bytes up to EB name
        at = open_results(open_page, {"seq": seq_len, "mbs": micro_batch, "model": "Qwen/Qwen3-235B-A22B"})
        assert not at.exception
        assert len(at.get("bidi_component")) >= 3


def test_a_model_without_attention_gets_words(open_page: OpenPage):
    at = open_results(open_page)
    none = stack((4, QWEN_27B.mixers[0]), name="no attention")
    here = scenario(at)
    at.session_state["state.scenario"] = here.model_copy(
        update={
            "training": here.training.model_copy(update={"model": none}),
            "serving": here.serving.model_copy(update={"model": none}),
        }
    )
    at.run()
    assert not at.exception
    assert "nothing to tile" in sent(at).replace("\\\\", "")
    assert charts(at) == {}
    assert walk(at)["tiles"]


def test_scores_that_overflow_are_said_with_a_cure(open_page: OpenPage):
    at = open_results(open_page, {"seq": "131072"})
    assert any("exceed an empty GPU by 4,315 GB" in sentence for sentence in refusals(at))


def test_one_scenario_is_shared_with_the_other_steps(open_page: OpenPage):
    at = open_results(open_page)
    at = at.number_input(key="attention.micro_batch_size").set_value(2.0).run()
    at = at.switch_page("views/steps/partition.py").run()
    assert scenario(at).training.micro_batch_size == 2
    assert at.number_input(key="partition.micro_batch_size").value == 2
