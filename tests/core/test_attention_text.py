"""The words of step 4 find every number they quote, name what they leave out, and can be said in a minute."""

import re
from pathlib import Path
from string import Template

import pytest

from core.attention import headline_of
from core.attention_questions import recompute_time, score_size
from core.attention_text import (
    amount_of,
    block_name,
    kinds_note,
    limit_numbers,
    no_attention,
    notes,
    overflow,
    recompute_numbers,
    said_numbers,
    scenario_in_words,
    score_numbers,
    tile_note,
)
from core.hardware import load_accelerators
from core.model_spec import load_models
from core.presets import load_presets
from core.scenario import changed, with_model
from core.scenario_link import default_scenario
from tests.shapes import QWEN_27B, stack

TEXT = (Path(__file__).parents[2] / "content/steps/attention.md").read_text()
SECTIONS = {part.partition("\n")[0]: part.partition("\n")[2] for part in ("\n" + TEXT).split("\n## ")[1:]}
START = default_scenario()
PRESETS = {name: preset.scenario().training for name, preset in load_presets().items()}
MODELS = {model_id: with_model(START, load_models()[model_id])[0].training for model_id in load_models()}
EVERYTHING = pytest.mark.parametrize("scenario", [*PRESETS.values(), *MODELS.values()], ids=[*PRESETS, *MODELS])
NONE = START.training.model_copy(update={"model": stack((4, QWEN_27B.mixers[0]))})


def on_card(card):
    return START.training.model_copy(update={"accelerator": load_accelerators()[card]})


def numbers(scenario, unit="GB"):
    limit = limit_numbers(scenario)
    asked = limit | score_numbers(score_size(unit), scenario, unit)
    twist = asked | recompute_numbers(recompute_time(scenario), scenario, unit)
    return {
        "Limit": limit,
        "Question 1": asked,
        "Answer 1": asked,
        "Question 2": twist,
        "Answer 2": twist,
        "Say it": said_numbers(scenario, unit),
    }


@EVERYTHING
@pytest.mark.parametrize("unit", ["GB", "GiB"])
def test_every_name_in_the_text_has_its_number(scenario, unit):
    for heading, values in numbers(scenario, unit).items():
        said = Template(SECTIONS[heading]).substitute(values)
        assert "$" not in said
        assert "nan" not in said
        assert re.search(r"\d[eE][+-]?\d", said) is None


def test_no_other_section_quotes_a_number():
    known = numbers(START.training)
    assert not [heading for heading, text in SECTIONS.items() if "${" in text and heading not in known]


@EVERYTHING
def test_what_to_say_takes_at_most_120_words(scenario):
    said = Template(SECTIONS["Say it"]).substitute(said_numbers(scenario, "GB"))
    assert len(said.split()) <= 120


def test_what_to_say_at_the_start():
    said = Template(SECTIONS["Say it"]).substitute(said_numbers(START.training, "GB"))
    assert "64 heads of 128 over 8 of keys and values" in said
    assert "would move 24.1 GB forward and backward and hold 4.36 GB" in said


# The prose quotes no result before it is asked for.
def test_questions_and_limit_do_not_give_the_answers_away():
    values = numbers(START.training)
    before = "".join(
        Template(SECTIONS[name]).substitute(values[name]) for name in ("Limit", "Question 1", "Question 2")
    )
    assert "8.59" not in before
    assert "GB" not in before


@pytest.mark.parametrize(
    ("model_id", "words"),
    [
        ("openai/gpt-oss-120b", "18 of sliding attention"),
        ("deepseek-ai/DeepSeek-V3.2", "as if they read all of them"),
        ("Qwen/Qwen3.5-27B", "Of 64 layers: 16 of full attention"),
        ("openai-community/gpt2", "4,096 tokens are 3,072 more than the 1,024 that GPT-2"),
    ],
)
def test_what_differs_from_the_picture_is_said(model_id, words):
    assert words in " ".join(notes(MODELS[model_id]))


def test_a_plain_model_needs_no_note():
    assert list(notes(START.training)) == []


def test_context_parallel_and_missing_peaks_are_said():
    assert "Context parallel 2 shares the queries" in " ".join(notes(changed(START, context_parallel=2).training))
    assert "No 16-bit peak is confirmed for" in " ".join(notes(on_card("apple-m4-max")))


def test_tiles_that_move_more_than_the_chain_are_explained():
    wide = MODELS["deepseek-ai/DeepSeek-V3"].model_copy(update={"accelerator": load_accelerators()["mi300x"]})
    assert "heads are wide for 64.0 KiB on the chip" in " ".join(notes(wide))


def test_a_model_without_attention_has_words_and_no_numbers():
    assert list(notes(NONE)) == [no_attention(NONE.model)]
    assert limit_numbers(NONE)["shape"] == "no heads with a softmax"
    assert "it mixes tokens without a softmax" in score_numbers(score_size("GB"), NONE, "GB")["own"]


def test_scores_that_overflow_say_by_how_much_and_what_cures_it():
    assert overflow(headline_of(START.training), "GB") is None
    sentence = overflow(headline_of(changed(START, seq_len=131_072).training), "GB")
    assert sentence.startswith("Unfused, the scores of one layer exceed an empty GPU by 4,315 GB. A tiled kernel needs")


@pytest.mark.parametrize(
    ("card", "words"),
    [("tpu-v5p", "no shared memory per block for"), ("tpu-v4", "128 MiB of scratchpad"), ("apple-m4-max", "192 KiB")],
)
def test_chips_without_shared_memory_say_so(card, words):
    assert words in tile_note(on_card(card))
    assert block_name(on_card(card)) == "A100, the paper"


def test_chips_with_shared_memory_need_no_note():
    assert tile_note(START.training) is None
    assert block_name(START.training) == "a block on H100 SXM"


def test_a_pinned_scenario_can_be_recognised():
    assert scenario_in_words(START.training) == "Llama 3.1 70B on H100 SXM, 4,096 tokens, micro-batch 1"
    assert scenario_in_words(changed(START, tensor_parallel=8).training).endswith("micro-batch 1, tensor parallel 8")


def test_the_kinds_are_introduced_with_their_shape():
    assert "64 heads, 128 wide" in kinds_note(START.serving)


def test_amounts_are_shown_in_the_readers_unit():
    assert amount_of("GiB")(8.0) == "8.00 GiB"
