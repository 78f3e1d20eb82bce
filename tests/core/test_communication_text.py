"""The words of step 3 find every number they quote, and can be said in a minute."""

import re
from pathlib import Path
from string import Template

import pytest

from core.communication import headline_of, over_gpus, rates_of
from core.communication_questions import idle_share, ring_bytes
from core.communication_text import (
    FIXES,
    assumptions_in_words,
    axis_table,
    bubble_numbers,
    layout_in_words,
    limit_numbers,
    links_in_words,
    pipeline_note,
    ring_numbers,
    said_numbers,
    show_time,
    time_gap,
    uneven_note,
)
from core.display import show_percent
from core.measured_profile import load_profile
from core.presets import load_presets
from core.scenario import changed
from core.scenario_link import default_scenario
from tests.core.test_communication import on

TEXT = (Path(__file__).parents[2] / "content/steps/communication.md").read_text()
SECTIONS = {part.partition("\n")[0]: part.partition("\n")[2] for part in ("\n" + TEXT).split("\n## ")[1:]}
START = default_scenario()
SPLIT = changed(START, tensor_parallel=8, pipeline_parallel=8, data_parallel=4, num_micro_batches=32, zero_stage=1)
PRESETS = {name: preset.scenario() for name, preset in load_presets().items()} | {
    "no peak": on("apple-m4-max"),
    "split": SPLIT,
}
EVERY_PRESET = pytest.mark.parametrize("scenario", PRESETS.values(), ids=PRESETS)


def numbers(scenario, unit="GB"):
    ring = ring_bytes(scenario.training)
    asked = limit_numbers(scenario, unit, ring)
    told = asked | ring_numbers(ring, unit) | bubble_numbers(idle_share())
    return {
        "Limit": asked,
        "Question 1": asked,
        "Answer 1": told,
        "Question 2": told,
        "Answer 2": told,
        "Say it": said_numbers(scenario, unit),
    }


@EVERY_PRESET
@pytest.mark.parametrize("unit", ["GB", "GiB"])
def test_every_name_in_the_text_has_its_number(scenario, unit):
    for heading, values in numbers(scenario, unit).items():
        said = Template(SECTIONS[heading]).substitute(values)
        assert "$" not in said
        assert "nan" not in said
        assert re.search(r"\d[eE][+-]?\d", said) is None


def test_no_other_section_quotes_a_number():
    assert not [heading for heading, text in SECTIONS.items() if "${" in text and heading not in numbers(START)]


@EVERY_PRESET
def test_what_to_say_takes_at_most_120_words(scenario):
    assert len(Template(SECTIONS["Say it"]).substitute(said_numbers(scenario, "GB")).split()) <= 120


def said(scenario):
    return Template(SECTIONS["Say it"]).substitute(said_numbers(scenario, "GB"))


def test_what_to_say_follows_the_scenario():
    assert "Each GPU sends 417 GB a step, most of it data parallel." in said(START)
    assert "There is no pipeline, so no bubble." in said(START)
    assert "8 stages with 32 micro-batches idle for 17.9% of the step" in said(SPLIT)
    assert "most of it tensor parallel" in said(SPLIT)
    assert "exposed in a step of" in said(SPLIT)
    alone = said(changed(START, data_parallel=1))
    assert "One GPU sends nothing" in alone
    assert "all of it work" in alone
    assert "without a confirmed peak" in said(PRESETS["no peak"])
    chunks = said(changed(SPLIT, virtual_stages=5))
    assert "8 stages in 5 chunks each with 32 micro-batches idle for 4.19%" in chunks


def test_the_answer_quotes_the_numbers_of_the_question():
    told = Template(SECTIONS["Answer 2"]).substitute(numbers(START)["Answer 2"])
    assert "17.9% of the step" in told
    assert "21.9%" in told
    assert told.strip().endswith("5.2%.")
    ring = Template(SECTIONS["Answer 1"]).substitute(numbers(START)["Answer 1"])
    assert "247 GB with 8 ranks, 282 GB with 512" in ring  # 1.75 and 1.996 times 141.1


def test_one_row_for_each_axis_in_use():
    sweep = over_gpus(SPLIT)
    rows = axis_table(sweep, SPLIT, "GB", None)
    assert [row["axis"] for row in rows] == ["tensor parallel", "pipeline parallel", "data parallel"]
    assert [row["group"] for row in rows] == ["8 GPUs, inside one node", "8 GPUs, over 8 nodes", "4 GPUs, over 4 nodes"]
    assert "gathered beside other work" not in rows[0]["what hides it"]
    regathers = changed(SPLIT, sequence_parallel=True)
    with_sharded = axis_table(over_gpus(regathers), regathers, "GB", None)
    assert "gathered beside other work" in with_sharded[0]["what hides it"]
    assert with_sharded[0]["hidden"] != "0 s"


def test_pinned_rows_say_how_far_all_of_it_moved():
    rows = axis_table(over_gpus(SPLIT), SPLIT, "GB", headline_of(SPLIT))
    assert rows[-1]["axis"] == "all, against pinned"
    assert (rows[-1]["a GPU sends, a step"], rows[-1]["exposed"]) == ("no change", "no change")
    bare = PRESETS["no peak"]
    assert axis_table(over_gpus(bare), bare, "GB", headline_of(bare))[-1]["on the links"] == "no change"


# NVLink 4: 20.6 of 25 GB/s a link, 18 links; a 400 Gb/s port at 0.8.
def test_links_are_named_raw_and_as_planned():
    assert links_in_words(START) == (
        "Inside 8 GPUs: NVLink 4, 450 GB/s one way, 371 GB/s reached. "
        "Between them, a port a GPU: InfiniBand NDR (one 4x port), 50.0 GB/s one way, 40.0 GB/s reached."
    )
    assert "Assumed: 8 GPUs share a node." in links_in_words(on("apple-m4-max"))
    assert "77.0% of the dense 16-bit peak" in assumptions_in_words(START)
    assert "No 16-bit peak" in assumptions_in_words(PRESETS["no peak"])


def test_the_drawing_says_when_it_is_not_the_scenario():
    assert "drawn is an example of 8" in pipeline_note(START, "1f1b", 1)
    assert "Drawn with 2 chunks" in pipeline_note(SPLIT, "interleaved", 2)
    uneven = changed(SPLIT, num_micro_batches=20, virtual_stages=2)
    assert "rounds of 8; 20 do not divide" in pipeline_note(uneven, "interleaved", 2)
    assert pipeline_note(SPLIT, "1f1b", 1).startswith("A backward pass takes twice as long")


def test_groups_that_do_not_line_up_with_nodes_are_noted():
    assert uneven_note(START) == ""
    rack = on("gb200", tensor_parallel=8, data_parallel=16)
    assert uneven_note(rack).startswith("Groups and nodes of 72 GPUs do not line up")


def test_small_words():
    assert (show_time(0.0), show_time(0.5)) == ("0 s", "500 ms")
    assert (time_gap(None), time_gap(0.0), time_gap(-0.25)) == ("unknown", "no change", "-250 ms")
    assert layout_in_words(SPLIT) == "Llama 3.1 70B on 256 x H100 SXM, ZeRO-1, tensor 8, pipeline 8, 32 micro-batches"


def test_each_fix_has_its_price_and_its_proof():
    assert all(list(fix) == ["when", "do", "gains", "costs", "confirm by"] for fix in FIXES)
    assert all(value for fix in FIXES for value in fix.values())


def test_on_a_profile_the_assumptions_say_what_was_measured_and_no_more():
    profile = load_profile("h100-sxm")
    rates = rates_of(START, profile)
    words = assumptions_in_words(START, profile)
    assert f"measured kernels of H100 SXM, open data: matrices at {show_percent(rates.matmul_share)} and" in words
    assert f"attention at {show_percent(rates.attention_share)} of the dense 16-bit peak" in words
    assert "Collectives" not in assumptions_in_words(changed(START, data_parallel=64, tensor_parallel=1), profile)
    inside = changed(START, tensor_parallel=8, data_parallel=8)
    assert "Collectives of tensor parallelism inside a node are measured ones." in assumptions_in_words(inside, profile)
    bare = on("apple-m4-max")
    assert assumptions_in_words(bare, profile) == assumptions_in_words(bare)
    assert said_numbers(inside, "GB", profile)["exposed"] != said_numbers(inside, "GB")["exposed"]
