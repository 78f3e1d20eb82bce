"""Home: the question comes first, and nothing that answers it is sent before the reader has committed or skipped."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from streamlit.testing.v1 import AppTest

from core.presets import load_presets
from core.units import GB, GIB
from tests.pages.conftest import APP, OpenPage
from views._ui import first_question, kv_picture
from views._ui.predict import two_digit_values

# 2 x 80 layers x 8 KV heads x 128 x 2 bytes, for 32 requests of 4,096 tokens: config.json of Llama 3.1 70B.
TRUTH_BYTES = 2 * 80 * 8 * 128 * 2 * 32 * 4096
ANSWERS = ("42.9", "42,94", "40 GiB", "40.0 GiB", "327,680", str(TRUTH_BYTES), "weights 141 GB")


PAGE_TITLES = {
    "bottleneck": "Find the bottleneck",
    "partition": "Partition until it fits",
    "communication": "Cut communication",
    "attention": "Tile attention",
    "batch": "Raise the batch",
}


def sent(at: AppTest) -> str:
    """Everything that the browser was sent, as text."""
    return "\n".join(str(proto) for node in at._tree if (proto := getattr(node, "proto", None)) is not None)


def button(at: AppTest, label: str):
    return next(button for button in at.button if button.label == label)


def commit(at: AppTest, guess: float, label: str = "Commit") -> AppTest:
    at.select_slider(key="ask.home.kv.guess").set_value(guess)
    return button(at, label).click().run()


def picture(at: AppTest) -> dict | None:
    """What the picture was given; None where there is none."""
    found = [json.loads(node.proto.json) for node in at.get("bidi_component") if "cache" in node.proto.json]
    return found[0][0] if found else None


def test_the_question_is_on_the_first_screen(open_page: OpenPage):
    at = open_page()
    assert not at.exception
    assert "How many GB of KV cache?" in sent(at)
    assert [button.label for button in at.button][:4] == ["Commit", "I do not know", "Skip", "Skip all from now on"]


def test_nothing_sent_before_the_commit_gives_the_answer_away(open_page: OpenPage):
    at = open_page()
    assert picture(at) is None
    assert [answer for answer in ANSWERS if answer in sent(at)] == []


def test_a_commit_shows_guess_truth_and_picture(open_page: OpenPage):
    at = commit(open_page(), 100.0)
    assert not at.exception
    assert [(metric.label, metric.value) for metric in at.metric] == [
        ("you said, 70% sure", "100 GB"),
        ("it is", "42.95 GB"),
    ]
    assert "2.3x too high" in sent(at)
    assert "42.95 GB or 40 GiB" in sent(at)
    assert picture(at)["guess"] == 100 * GB


@pytest.mark.parametrize(
    ("guess", "words"),
    [
        (21.0, "the keys alone"),
        (340.0, "all 64 query heads"),
        (1.3, "one request"),
        (86.0, "four bytes an element"),
        (140.0, "16-bit weights"),
        (180.0, "weights and cache together"),
        (40.0, "answer in GiB"),
    ],
)
def test_a_known_slip_is_answered_by_name(open_page: OpenPage, guess: float, words: str):
    assert words in sent(commit(open_page(), guess))


def test_the_right_answer_is_no_slip(open_page: OpenPage):
    at = commit(open_page(), 43.0)
    assert "Right on" in sent(at)
    assert "That is" not in sent(at)


@pytest.mark.parametrize("label", ["I do not know", "Skip", "Skip all from now on"])
def test_whoever_does_not_guess_sees_the_picture_too(open_page: OpenPage, label: str):
    at = button(open_page(), label).click().run()
    assert not at.exception
    assert picture(at)["guess"] is None
    assert [metric.value for metric in at.metric] == (["42.95 GB"] if label == "I do not know" else [])


def test_skip_all_holds_for_the_session(open_page: OpenPage):
    at = button(open_page(), "Skip all from now on").click().run()
    assert picture(at.switch_page("views/start/settings.py").run().switch_page("views/start/home.py").run())


def test_the_question_follows_the_unit(open_page: OpenPage):
    at = open_page("views/start/settings.py")
    at.button_group(key="settings.pick.unit").set_value("GiB").run()
    at.switch_page("views/start/home.py").run()
    assert "How many GiB of KV cache?" in sent(at)
    assert ("it is", "40 GiB") in [(metric.label, metric.value) for metric in commit(at, 10.0).metric]


@pytest.mark.parametrize("preset", load_presets().values(), ids=lambda preset: preset.id)
def test_a_preset_sets_the_scenario_and_opens_its_page(open_page: OpenPage, preset):
    at = open_page()
    button(at, preset.title).click().run()
    assert not at.exception
    assert at.session_state["state.scenario"] == preset.scenario()
    assert PAGE_TITLES[preset.page] in [title.value for title in at.title]


def test_home_names_a_scenario_that_is_not_the_default(open_page: OpenPage):
    assert "Carry on with yours" not in sent(open_page())
    at = open_page(query={"model": "meta-llama/Llama-3.1-8B", "dp": "8"})
    # plain() escapes what Markdown would read; the reader sees "Llama 3.1 8B on 8 x H100 SXM".
    assert "Carry on with yours" in sent(at)
    assert "on 8 x H100 SXM" in sent(at)


def test_before_the_commit_only_training_has_a_verdict(open_page: OpenPage):
    at = open_page()
    assert "Training: compute binds" in sent(at)
    assert "Serving:" not in sent(at)
    assert "serving leads here" not in sent(at)


def test_after_the_commit_both_parts_have_a_verdict_with_a_fix_and_a_next_step(open_page: OpenPage):
    text = sent(commit(open_page(), 43.0))
    for words in ("Training: compute binds", "Serving: memory bandwidth binds", "First fix", "Gain", "Cost"):
        assert words in text
    assert text.count("leads here") == 2
    assert "Next: 5 Raise the batch" in text


def test_a_fix_can_be_applied_and_is_measured_again(open_page: OpenPage):
    at = commit(open_page(), 43.0)
    at.button(key="verdict.serving.apply").click().run()
    assert not at.exception
    assert at.session_state["state.scenario"].serving.batch == 64
    assert "concurrent requests 128" in sent(at)


def test_the_verdict_is_of_the_current_scenario(open_page: OpenPage):
    at = open_page(query={"model": "meta-llama/Llama-3.1-8B", "gpu": "rtx-4090", "dp": "1", "zero": "0"})
    assert not at.exception
    assert "Training: it does not fit" in sent(at)


@pytest.mark.parametrize("gpu", ["apple-m3-ultra", "mi300x", "tpu-v5e"])
def test_any_accelerator_gets_words(open_page: OpenPage, gpu: str):
    at = commit(open_page(query={"gpu": gpu}), 43.0)
    assert not at.exception
    assert "Training: " in sent(at)


def test_home_loads_no_drawing_or_table_library():
    # Streamlit itself imports plotly where it is installed; what counts is what Home adds to that.
    code = f"""
import sys
from streamlit.testing.v1 import AppTest
before = set(sys.modules)
at = AppTest.from_file({str(APP)!r}, default_timeout=30).run()
next(button for button in at.button if button.label == "Commit").click().run()
assert at.get("bidi_component")
print(*set(sys.modules) - before)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=APP.parent, capture_output=True, text=True, check=True)
    added = set(done.stdout.split())
    assert "views._ui.kv_picture" in added
    heavy = {"plotly", "pandas", "pyarrow", "torch", "sqlalchemy"}
    assert [name for name in sorted(added) if name.split(".")[0] in heavy] == []
    assert added.isdisjoint({"views._ui.live_chart", "core.charts.live"})


def test_the_truth_is_the_hand_count():
    assert first_question.truth("GB") == TRUTH_BYTES / GB
    assert first_question.truth("GiB") == TRUTH_BYTES / GIB == 40


def test_the_picture_shows_the_truth_at_the_context_asked_for():
    data = kv_picture.picture_data("GB")
    at = data["start"]
    assert data["positions"][at] == "4,096 tokens"
    assert data["cache"][at] == TRUTH_BYTES
    assert data["sizes"][at] == "42.95 GB"
    assert data["weights"] == 2 * 70_553_706_496  # Meta's checkpoint: 70,553,706,496 parameters


def test_the_words_change_where_the_memory_is_full():
    data = kv_picture.picture_data("GB")
    over = [data["weights"] + cache > data["gpus"] * data["capacity"] for cache in data["cache"]]
    assert [note == "all 32 run at once" for note in data["notes"]] == [not full for full in over]
    assert not over[0]
    assert over[-1]


def test_the_guess_slider_offers_every_number_of_two_digits():
    values = two_digit_values(1.0, 2)
    assert values[:3] == [1.0, 1.1, 1.2]
    assert values[90:92] == [10.0, 11.0]
    assert values[-2:] == [99.0, 100.0]


def test_one_request_that_waits_is_said_in_the_singular():
    notes = kv_picture.picture_data("GB")["notes"]
    assert "1 of the 32 waits" in notes
    assert "2 of the 32 wait" in notes
    # (8 x 85.52 - 141.1) GB over 32 x 327,680 bytes a token: 51,790 tokens
    assert notes[51_712 // 512 - 1] == "all 32 run at once"
    assert notes[52_224 // 512 - 1] == "1 of the 32 waits"


@pytest.mark.parametrize("page", [None, "views/start/cheat_sheet.py"])
def test_an_address_that_could_not_be_opened_is_said_here_too(open_page: OpenPage, page: str | None):
    at = open_page(page, {"tp": "3"})
    [said] = [node.value for node in at.markdown if ":material/error:" in node.value]
    assert "This address was not opened" in said
    assert "it must divide the 64 heads" in said
    assert not [node for node in open_page(page, {"tp": "8"}).markdown if ":material/error:" in node.value]
