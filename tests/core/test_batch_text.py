"""The words of step 5 find every number they quote, and can be said in a minute."""

import re
from pathlib import Path
from string import Template

import pytest

from core.batch import most_requests
from core.batch_questions import throughput_ratio, twist
from core.batch_text import (
    FIXES,
    assumptions_in_words,
    bend_in_words,
    layout_in_words,
    limit_numbers,
    notes,
    ratio_numbers,
    said_numbers,
    standing_problems,
    twist_numbers,
)
from core.hardware import load_accelerators
from core.model_spec import load_models
from core.presets import load_presets
from core.scenario import build, changed, with_model
from core.scenario_link import default_scenario

TEXT = (Path(__file__).parents[2] / "content/steps/batch.md").read_text()
SECTIONS = {part.partition("\n")[0]: part.partition("\n")[2] for part in ("\n" + TEXT).split("\n## ")[1:]}
START = default_scenario()
SCENARIOS = {name: preset.scenario() for name, preset in load_presets().items()} | {
    model_id: with_model(START, load_models()[model_id])[0]
    for model_id in (
        "google/gemma-3-27b-pt",
        "deepseek-ai/DeepSeek-V3.2",
        "nvidia/Nemotron-H-56B-Base-8K",
        "openai/gpt-oss-120b",
        "openai-community/gpt2",
    )
}
EVERY = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)


def numbers(scenario, unit="GB"):
    here = scenario.serving
    asked = limit_numbers(here, unit) | ratio_numbers(throughput_ratio(here), unit)
    twisted = asked | twist_numbers(twist(here), here, unit)
    return {
        "Limit": limit_numbers(here, unit),
        "Question 1": asked,
        "Answer 1": asked,
        "Question 2": twisted,
        "Answer 2": twisted,
        "Say it": said_numbers(scenario, unit),
    }


@EVERY
@pytest.mark.parametrize("unit", ["GB", "GiB"])
def test_every_name_in_the_text_has_its_number(scenario, unit):
    for heading, values in numbers(scenario, unit).items():
        said = Template(SECTIONS[heading]).substitute(values)
        assert "$" not in said
        assert re.search(r"\b(nan|inf)\b", said) is None
        assert re.search(r"\d[eE][+-]?\d", said) is None
    for said in (bend_in_words(scenario), assumptions_in_words(scenario), *notes(scenario)):
        assert re.search(r"\b(nan|inf)\b", said) is None
        assert said.endswith(".")


def test_no_other_section_quotes_a_number():
    assert not [heading for heading, text in SECTIONS.items() if "${" in text and heading not in numbers(START)]


@EVERY
def test_what_to_say_takes_at_most_120_words(scenario):
    said = Template(SECTIONS["Say it"]).substitute(said_numbers(scenario, "GB"))
    assert len(said.split()) <= 120


# 1,342,177,280 bytes of cache a request over eight GPUs; floors of 190.9 and 4,713 tokens a second.
def test_what_to_say_at_the_start():
    said = Template(SECTIONS["Say it"]).substitute(said_numbers(START, "GB"))
    assert "for each request its own cache, 0.168 GB" in said
    assert "one request gets 191 tokens a second, and 32 get 4,713: 24.7 times as many" in said
    assert "Memory holds 351 of them, so these fit." in said
    assert "compute-bound at 295 requests; reading the cache never does" in said


def test_what_to_say_of_what_does_not_fit():
    words = said_numbers(changed(START, batch=500), "GB")
    assert words["cap"] == "Memory holds 351 of them, so these do not fit."
    assert "not even one" not in words["cap"]
    assert said_numbers(SCENARIOS["megatron-1t-3072"], "GB")["cap"].startswith("Memory does not hold even one request")


def test_before_the_questions_nothing_says_the_answers():
    asked = numbers(START)
    before = Template(SECTIONS["Limit"]).substitute(asked["Limit"]) + Template(SECTIONS["Question 1"]).substitute(
        asked["Question 1"]
    )
    assert "24.7" not in before
    assert "4,713" not in before
    question = Template(SECTIONS["Question 2"]).substitute(asked["Question 2"])
    assert "351 requests of 4,096 tokens fit" in question
    assert "246" not in question


def test_the_first_answer_names_what_else_grows():
    assert "choose more experts" in ratio_numbers(throughput_ratio(SCENARIOS["deepseek-v3-h800"].serving), "GB")["why"]
    assert "expert" not in ratio_numbers(throughput_ratio(START.serving), "GB")["why"]
    slow = START.accelerator.edited(bf16_flops_per_s=2e13)
    bound = build(START.model, slow, START.scale_up, START.scale_out, {})
    assert "compute binds" in ratio_numbers(throughput_ratio(bound.serving), "GB")["why"]


def test_the_second_question_of_what_does_not_fit_as_it_stands():
    here = SCENARIOS["megatron-1t-3072"].serving
    words = twist_numbers(twist(here), here, "GB")
    assert words["stands"].startswith("no requests")
    assert words["beside"].startswith("As it stood, the weights left no room")


def test_a_tiny_model_scales_with_its_cache_alone():
    here = SCENARIOS["openai-community/gpt2"].serving
    assert "cache decides alone" in twist_numbers(twist(here), here, "GB")["beside"]


# 50.1 us for 167.8 MB over 3.35 TB/s; 18.9 us for 2 x 70e9 / 8 FLOPs and attention at 989 TFLOP/s.
def test_the_bend_in_words():
    words = bend_in_words(START)
    assert "They meet at 295 requests, at the dense bf16 peak" in words
    assert "at 4,096 tokens a whole step stays bound by memory" in words
    assert "each takes 50.1 us to read, and its request's FLOPs 18.9 us" in words
    assert "Memory stops at" not in words
    assert "Memory stops at 27, before the bend." in bend_in_words(SCENARIOS["gpt3-175b-serving"])
    assert "so a whole step bends too" in bend_in_words(changed(START, context_len=512))
    apple = build(START.model, load_accelerators()["apple-m4-max"], START.scale_up, START.scale_out, {})
    assert bend_in_words(apple).startswith("No peak of")


def test_what_stands_in_the_way_is_said_with_a_cure():
    assert standing_problems(START.serving, "GB") == ()
    (problem,) = standing_problems(changed(START, batch=500).serving, "GB")
    assert problem.field == "batch"
    assert f"at most {most_requests(START.serving):,} requests" in problem.sentence
    (long,) = standing_problems(changed(START, context_len=200_000, batch=1).serving, "GB")
    assert "was made for 131,072 tokens" in long.sentence


def test_notes_say_what_the_numbers_assume():
    assert list(notes(START)) == []
    assert any("experts" in note for note in notes(SCENARIOS["deepseek-v3-h800"]))
    assert any("multiplied in bf16" in note for note in notes(changed(START, weight_dtype="int4-g128")))


def test_a_pinned_scenario_can_be_recognised():
    assert layout_in_words(START.serving) == (
        "Llama 3.1 70B on 8 x H100 SXM, bf16 weights, bf16 cache, 32 x 4,096 tokens"
    )


def test_each_fix_has_its_price_and_its_proof():
    assert all(list(fix) == ["when", "do", "gains", "costs", "confirm by"] for fix in FIXES)
    assert all(value for fix in FIXES for value in fix.values())
