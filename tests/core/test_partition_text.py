"""The words of step 2 find every number they quote, and can be said in a minute."""

import re
from pathlib import Path
from string import Template

import pytest

from core.partition import headline_of, over_data_parallel
from core.partition_questions import largest_part, zero_one_share
from core.partition_text import (
    FIXES,
    largest_numbers,
    layout_in_words,
    limit_numbers,
    said_numbers,
    share_numbers,
    stage_table,
)
from core.presets import load_presets
from core.scenario import changed
from core.scenario_link import default_scenario

TEXT = (Path(__file__).parents[2] / "content/steps/partition.md").read_text()
SECTIONS = {part.partition("\n")[0]: part.partition("\n")[2] for part in ("\n" + TEXT).split("\n## ")[1:]}
START = default_scenario()
PRESETS = {name: preset.scenario().training for name, preset in load_presets().items()}
EVERY_PRESET = pytest.mark.parametrize("scenario", PRESETS.values(), ids=PRESETS)


def numbers(scenario, unit="GB"):
    limit = limit_numbers(scenario, unit)
    asked = limit | share_numbers(zero_one_share(scenario), unit) | largest_numbers(largest_part(scenario), unit)
    return {
        "Limit": limit,
        "Question 1": asked,
        "Answer 1": asked,
        "Question 2": asked,
        "Answer 2": asked,
        "Say it": said_numbers(scenario, unit),
    }


@EVERY_PRESET
@pytest.mark.parametrize("unit", ["GB", "GiB"])
def test_every_name_in_the_text_has_its_number(scenario, unit):
    for heading, values in numbers(scenario, unit).items():
        said = Template(SECTIONS[heading]).substitute(values)
        assert "$" not in said
        assert "nan" not in said
        assert unit in said or "tokens" in said
        assert re.search(r"\d[eE][+-]?\d", said) is None


def test_no_other_section_quotes_a_number():
    assert not [
        heading for heading, text in SECTIONS.items() if "${" in text and heading not in numbers(START.training)
    ]


@EVERY_PRESET
def test_what_to_say_takes_at_most_120_words(scenario):
    said = Template(SECTIONS["Say it"]).substitute(said_numbers(scenario, "GB"))
    assert len(said.split()) <= 120


def said(**values):
    return Template(SECTIONS["Say it"]).substitute(said_numbers(changed(START, **values).training, "GB"))


# 1,129 GB by 16 bytes a parameter; a 64th of it; the paper's half as much traffic again.
def test_what_to_say_at_the_start():
    words = said()
    assert "16 bytes a parameter, so 70.6B parameters need 1,129 GB" in words
    assert "Over 64 data-parallel ranks, ZeRO-3 leaves 17.6 GB of states on each GPU, for 1.5 times" in words
    assert "in the backward pass" in words
    assert "which fits" in words


def test_what_to_say_is_true_of_one_gpu_of_plain_copies_and_of_split_models():
    assert "With one data-parallel rank nothing is shared: 1,129 GB of states" in said(data_parallel=1)
    assert "Copied to 8 data-parallel ranks, that is 1,129 GB" in said(data_parallel=8, zero_stage=0)
    assert "in the optimizer step, is 1,411 GB, which does not fit" in said(data_parallel=8, zero_stage=0)
    split = said(data_parallel=2, tensor_parallel=8, pipeline_parallel=4, zero_stage=1)
    assert (
        "I first split each copy: tensor parallel 8, pipeline parallel 4. Over 2 data-parallel ranks, ZeRO-1" in split
    )


def test_eight_bit_adam_counts_its_own_bytes():
    # 2 + 2 + 4 + two moments of 1 + 4 / 256 bytes.
    assert limit_numbers(changed(START, recipe="adam-8bit").training, "GB")["bytes_per_param"] == "10.03"


def test_a_price_of_thousands_is_written_out():
    # ZeRO-3 sends 3 x a copy for each of 65,536 micro-batches, plain data parallel 2 x one copy after the last.
    training = changed(START, num_micro_batches=65_536).training
    assert stage_table(over_data_parallel(training), training, "GB", None)[3]["against plain"] == "98,304 x"
    assert "for 98,304 times the traffic" in said_numbers(training, "GB")["sharing"]


def test_one_row_for_each_stage_with_steady_peak_fit_and_price():
    training = START.training
    rows = stage_table(over_data_parallel(training), training, "GB", None)
    assert [row["stage"] for row in rows] == ["no sharding", "ZeRO-1", "ZeRO-2", "ZeRO-3"]
    assert [row["steady"] for row in rows] == ["1,129 GB", "295 GB", "157 GB", "17.6 GB"]
    assert [row["against plain"] for row in rows] == ["1 x", "1 x", "1 x", "1.5 x"]
    assert [row["fits"] == "yes" for row in rows] == [False, False, False, True]
    assert rows[3]["largest model"] == "342B params"
    assert rows[0]["peak"] == "1,411 GB"  # 20 bytes a parameter in the optimizer step
    assert "peak against pinned" not in rows[0]


def test_pinned_rows_say_how_far_the_peak_moved():
    training = START.training
    rows = stage_table(over_data_parallel(training), training, "GB", headline_of(training))
    assert rows[3]["peak against pinned"] == "no change"
    assert rows[0]["peak against pinned"].startswith("+")


def test_states_in_host_memory_leave_the_largest_model_open():
    training = changed(START, offload="optimizer+parameters").training
    assert stage_table(over_data_parallel(training), training, "GB", None)[3]["largest model"] == "∞ params"


def test_one_gpu_sends_nothing():
    training = changed(START, data_parallel=1).training
    assert {row["against plain"] for row in stage_table(over_data_parallel(training), training, "GB", None)} == {
        "nothing sent"
    }


def test_a_pinned_scenario_can_be_recognised():
    assert layout_in_words(START.training) == ("Llama 3.1 70B on 64 x H100 SXM, ZeRO-3, 4,096 tokens, full recompute")


def test_each_fix_has_its_price_and_its_proof():
    assert all(list(fix) == ["when", "do", "gains", "costs", "confirm by"] for fix in FIXES)
    assert all(value for fix in FIXES for value in fix.values())


# 16 and 5.5 bytes of 70.55e9 parameters.
def test_the_first_answer_in_words():
    numbers_said = share_numbers(zero_one_share(START.training), "GB")
    assert numbers_said == {"copy": "1,129 GB", "left": "388 GB", "times_less": "2.9"}
