"""The words of step 1 find every number they quote, and can be said in a minute."""

import re
from pathlib import Path
from string import Template

import pytest

from core.bottleneck import PHASES, index_of, place
from core.bottleneck_counts import Known, counted
from core.bottleneck_questions import decode_intensity, recomputed_share
from core.bottleneck_text import (
    FIXES,
    INSTRUMENTS,
    SYMPTOMS,
    against_ridge,
    ceiling_numbers,
    intensity_numbers,
    layout_in_words,
    limit_numbers,
    operator_table,
    pressure_rows,
    problem_sentences,
    said_numbers,
    utilization_table,
    verdict_sentence,
)
from core.bottleneck_verdict import verdicts
from core.hardware import load_accelerators
from core.model_spec import load_models
from core.presets import load_presets
from core.scenario import build, changed, field_values, with_model
from core.scenario_link import default_scenario

TEXT = (Path(__file__).parents[2] / "content/steps/bottleneck.md").read_text()
SECTIONS = {part.partition("\n")[0]: part.partition("\n")[2] for part in ("\n" + TEXT).split("\n## ")[1:]}
START = default_scenario()


def on_gpu(name, **values):
    gpu = load_accelerators()[name]
    return build(START.model, gpu, START.scale_up, START.scale_out, field_values(START) | values)


SCENARIOS = {name: preset.scenario() for name, preset in load_presets().items()} | {
    "no peak": on_gpu("apple-m3-ultra"),
    "no peak, too small": on_gpu("apple-m4-pro", zero_stage=0, data_parallel=1),
    "fp16 alone": on_gpu("t4"),
    "one request in 4 bits": changed(START, batch=1, weight_dtype="int4-g128", serving_tensor_parallel=1),
    "state space": with_model(START, load_models()["nvidia/Nemotron-H-56B-Base-8K"])[0],
}
EVERY = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)


def spoken(scenario):
    decode = place(scenario, "decode")
    return said_numbers(scenario, verdicts(scenario), decode.spot(index_of(decode, scenario), decode.largest))


def numbers(scenario):
    limit = limit_numbers(scenario)
    ceiling = ceiling_numbers(recomputed_share(scenario.training), scenario)
    return {
        "Limit": limit,
        "Question 1": limit,
        "Answer 1": intensity_numbers(decode_intensity(scenario)),
        "Question 2": ceiling,
        "Answer 2": ceiling,
        "Say it": spoken(scenario),
    }


@EVERY
def test_every_name_in_the_text_has_its_number(scenario):
    for heading, values in numbers(scenario).items():
        said = Template(SECTIONS[heading]).substitute(values)
        assert "$" not in said
        assert "nan" not in said.split()
        assert "inf" not in said.split()
        assert re.search(r"\d[eE][+-]?\d", said) is None


def test_no_other_section_quotes_a_number():
    assert not [heading for heading, text in SECTIONS.items() if "${" in text and heading not in numbers(START)]


@EVERY
def test_what_to_say_takes_at_most_120_words(scenario):
    said = Template(SECTIONS["Say it"]).substitute(spoken(scenario))
    assert len(said.split()) <= 120


def test_before_the_first_answer_no_ridge_and_no_intensity_is_named():
    shown = Template(SECTIONS["Limit"] + SECTIONS["Question 1"]).substitute(limit_numbers(START))
    assert "31.7" not in shown
    assert "ridge" not in shown
    assert "-bound" not in shown


def test_what_to_say_at_the_start():
    said = Template(SECTIONS["Say it"]).substitute(spoken(START))
    assert "Training: compute binds" in said
    assert "Serving: memory bandwidth binds" in said
    assert "In decode at batch 32, MLP gate and up projections reach 31.7 FLOP a byte; the ridge lies at 295:" in said
    assert "it is 9.31 times below, bandwidth-bound" in said


@pytest.mark.parametrize(
    ("intensity", "ridge", "ending"),
    [
        (31.7, 295.3, "9.32 times below, bandwidth-bound"),
        (300.0, 295.3, "at the ridge, where both limits meet"),
        (2000.0, 295.3, "6.77 times above, compute-bound"),
        (31.7, float("nan"), "there is no ridge to compare with"),
    ],
)
def test_where_an_intensity_lies(intensity, ridge, ending):
    assert against_ridge(intensity, ridge).endswith(ending)


def test_verdicts_as_sentences():
    run, served = (verdict_sentence(verdict) for verdict in verdicts(START))
    assert run == "Training: compute binds; memory is 39.3% full."
    assert served.startswith("Serving: memory bandwidth binds; next is communication, ")
    crowded = verdict_sentence(verdicts(changed(START, data_parallel=1, zero_stage=0))[0])
    assert crowded == "Training: memory capacity binds. It needs 16.5 times what there is, so it does not run."
    apple = verdict_sentence(verdicts(SCENARIOS["no peak"])[0])
    assert apple == "Training: it fits, but without a confirmed peak no time can be estimated."


@EVERY
@pytest.mark.parametrize("unit", ["GB", "GiB"])
def test_each_limit_has_its_number_and_its_distance(scenario, unit):
    for verdict in verdicts(scenario):
        rows = pressure_rows(verdict, unit)
        assert [row[0] for row in rows] == ["memory capacity", "compute", "communication", "memory bandwidth"]
        assert sum(row[4] for row in rows) == (verdict.limit != "unknown")
        for _, share, amount, away, binds in rows:
            assert amount
            assert (share is None) == (amount == "not known")
            assert "nan" not in amount + away
            assert not binds or away == "binds" or away.endswith(" over")
        assert unit in rows[0][2]


@pytest.mark.parametrize("unit", ["GB", "GiB"])
@pytest.mark.parametrize("gpu", ["h100-sxm", "apple-m3-ultra"])
def test_what_cannot_run_says_by_how_much_and_a_cure_in_the_readers_unit(unit, gpu):
    crowded = build(
        START.model,
        load_accelerators()[gpu],
        START.scale_up,
        START.scale_out,
        field_values(START) | {"data_parallel": 1, "zero_stage": 0, "batch": 100_000},
    )
    other = {"GB": "GiB", "GiB": "GB"}[unit]
    for of in ("training", "serving"):
        [sentence] = problem_sentences(crowded, of, unit)
        assert re.search(rf"[\d,.]+ {unit} more than", sentence)
        assert f" {other}" not in sentence
        assert re.search(r"Cure:|No single change|Even |Choose |It takes", sentence)
        assert problem_sentences(START, of, unit) == []


@EVERY
@pytest.mark.parametrize("phase", PHASES)
def test_every_operator_has_a_row(scenario, phase):
    placed = place(scenario, phase)
    rows = operator_table(placed, index_of(placed, scenario), "GiB")
    assert len(rows) == len(placed.labels)
    assert {row["operator"] for row in rows} == set(placed.labels)
    assert all("nan" not in value for row in rows for value in row.values())


def test_each_count_has_a_row():
    run = load_presets()["mfu-35-hfu-62"].scenario().training
    used = counted(run, Known(0.35, None, "6N"), "bf16")
    rows = utilization_table(used, used.sweep.seq_len.index(32_768))
    assert [row["MFU"] for row in rows] == ["35.0%", "45.8%", "56.6%"]
    assert [row["HFU, all recomputed"] for row in rows] == ["46.5%", "60.9%", "75.3%"]


def test_tables_have_the_same_columns_in_each_row():
    for table in (FIXES, INSTRUMENTS, SYMPTOMS):
        assert len({tuple(row) for row in table}) == 1
        assert all(value for row in table for value in row.values())
    assert list(FIXES[0]) == ["when", "do", "gains", "costs", "confirm by"]


def test_a_pinned_scenario_can_be_recognised():
    assert layout_in_words(START, "decode") == "Llama 3.1 70B on 8 x H100 SXM, decode, 4,096 tokens, batch 32"
    assert layout_in_words(START, "training") == "Llama 3.1 70B on 64 x H100 SXM, training, 4,096 tokens"
