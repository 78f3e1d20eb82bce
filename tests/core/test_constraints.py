"""Each rule with a good and a bad value, on numbers and on columns, and a way out that really leads out."""

import re

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.constraints import (
    CONSTRAINTS,
    MAX_DEGREE,
    Problem,
    broken,
    expert_parallel_choices,
    feasible,
    kv_head_counts,
    label,
    length_note,
    problems,
    shown,
    tensor_parallel_choices,
)
from core.model_spec import from_hf_config, load_models
from tests.configs import real

LLAMA_70B, LLAMA_8B, DEEPSEEK, MIXTRAL, GPT2_XL, GPT2 = (
    load_models()[name]
    for name in (
        "meta-llama/Llama-3.1-70B",
        "meta-llama/Llama-3.1-8B",
        "deepseek-ai/DeepSeek-V3",
        "mistralai/Mixtral-8x7B-v0.1",
        "openai-community/gpt2-xl",
        "openai-community/gpt2",
    )
)
PLAIN = {
    "data_parallel": 8,
    "tensor_parallel": 1,
    "pipeline_parallel": 1,
    "context_parallel": 1,
    "expert_parallel": 1,
    "sequence_parallel": False,
    "virtual_stages": 1,
    "zero_stage": 1,
    "offload": "none",
    "seq_len": 4096,
}

# model, layout, the field at fault, what its sentence must say
BAD = [
    (LLAMA_70B, {"tensor_parallel": 7}, "tensor_parallel", "must divide the 64 heads of Llama 3.1 70B"),
    (LLAMA_70B, {"tensor_parallel": 128}, "tensor_parallel", "share its 8 KV heads evenly. Choose one of 1, 2, 4, 8"),
    (GPT2_XL, {"tensor_parallel": 2}, "tensor_parallel", "25 heads of GPT-2 XL"),
    (LLAMA_70B, {"pipeline_parallel": 81}, "pipeline_parallel", "each stage needs a layer of its own, .* has 80"),
    (LLAMA_70B, {"pipeline_parallel": 16, "virtual_stages": 6}, "pipeline_parallel", "6 virtual stages.* at most 13"),
    (GPT2, {"pipeline_parallel": 2, "virtual_stages": 64}, "pipeline_parallel", "one virtual stage, and at most 12"),
    (LLAMA_70B, {"virtual_stages": 2}, "virtual_stages", "Virtual stages is 2: interleaving needs a pipeline"),
    (LLAMA_70B, {"context_parallel": 3}, "context_parallel", "must divide the sequence length 4,096"),
    (LLAMA_70B, {"sequence_parallel": True}, "sequence_parallel", "Sequence parallel is on: .* only one"),
    (LLAMA_70B, {"expert_parallel": 2}, "expert_parallel", "has no experts to spread. Choose 1"),
    (DEEPSEEK, {"expert_parallel": 16}, "expert_parallel", "256 experts of DeepSeek-V3 and the 8 ranks"),
    (MIXTRAL, {"expert_parallel": 16, "data_parallel": 16}, "expert_parallel", "8 experts of Mixtral"),
    (LLAMA_70B, {"offload": "optimizer", "zero_stage": 0}, "offload", "builds on a sharded optimizer"),
    (LLAMA_70B, {"offload": "optimizer+parameters", "zero_stage": 2}, "offload", "only where they are sharded"),
    (LLAMA_70B, {"offload": "optimizer+parameters", "zero_stage": 0}, "offload", "Choose ZeRO stage 3"),
]
GOOD = [
    (LLAMA_70B, {"tensor_parallel": 64}),  # more GPUs than KV heads: each of the 8 is copied 8 times
    (GPT2_XL, {"tensor_parallel": 5}),
    (LLAMA_70B, {"pipeline_parallel": 80}),
    (LLAMA_70B, {"pipeline_parallel": 16, "virtual_stages": 5}),
    (LLAMA_70B, {"context_parallel": 16}),
    (LLAMA_70B, {"tensor_parallel": 8, "sequence_parallel": True}),
    (DEEPSEEK, {"expert_parallel": 64, "data_parallel": 128}),
    (DEEPSEEK, {"expert_parallel": 16, "data_parallel": 8, "context_parallel": 2}),
    (LLAMA_70B, {"offload": "optimizer"}),
    (LLAMA_70B, {"offload": "optimizer+parameters", "zero_stage": 3}),
]


@pytest.mark.parametrize(("model", "layout", "field", "words"), BAD)
def test_a_bad_layout_is_refused_with_field_value_rule_and_way_out(model, layout, field, words):
    (problem,) = problems(model, PLAIN | layout)
    assert problem.field == field
    assert problem.value == layout[field]
    assert re.search(words, problem.sentence)
    assert problem.sentence.startswith(f"{label(field)} is {shown(layout[field])}: ")
    assert problem.sentence.endswith(".")
    assert "  " not in problem.sentence


@pytest.mark.parametrize(("model", "layout"), GOOD)
def test_a_good_layout_breaks_no_rule(model, layout):
    assert problems(model, PLAIN | layout) == []
    assert feasible(model, PLAIN | layout)


def ways_out(problem):
    """Each change that the sentence proposes, as field values."""
    text = problem.way_out
    if listed := re.search(r"Choose (?:one of )?((?:\d+(?:, )?)+)", text):
        yield from ({problem.field: int(number)} for number in listed[1].rstrip(", ").split(", "))
    if most := re.search(r"one virtual stage, and at most (\d+)", text):
        yield {"virtual_stages": 1, problem.field: int(most[1])}
    elif most := re.search(r"at most (\d+)", text):
        yield {problem.field: int(most[1])}
    if stage := re.search(r"ZeRO stage (\d)", text):
        yield {"zero_stage": int(stage[1])}
    if "no offload" in text:
        yield {"offload": "none"}
    if "raise the pipeline stages" in text:
        yield {"pipeline_parallel": 2}
    if "Turn it off" in text:
        yield {"sequence_parallel": False}
    if "raise tensor parallel" in text:
        yield {"tensor_parallel": 2}


def leads_out(model, layout):
    for problem in problems(model, layout):
        proposed = list(ways_out(problem))
        assert proposed, problem.sentence
        for change in proposed:
            left = [p for p in problems(model, layout | change) if p.field == problem.field]
            assert not left, f"{problem.sentence} But {change} gives: {left[0].sentence}"
            assert all(not isinstance(value, int) or value <= MAX_DEGREE for value in change.values()), problem.sentence


@pytest.mark.parametrize(("model", "layout", "field", "words"), BAD)
def test_the_way_out_leads_out(model, layout, field, words):
    leads_out(model, PLAIN | layout)


degrees = st.integers(1, 130)
LAYOUTS = st.fixed_dictionaries(
    {
        "data_parallel": degrees,
        "tensor_parallel": degrees,
        "pipeline_parallel": degrees,
        "context_parallel": degrees,
        "expert_parallel": degrees,
        "sequence_parallel": st.booleans(),
        "virtual_stages": st.integers(1, 64),
        "zero_stage": st.integers(0, 3),
        "offload": st.sampled_from(["none", "optimizer", "optimizer+parameters"]),
        "seq_len": st.integers(1, 10_000),
    }
)
MODELS = st.sampled_from([LLAMA_70B, DEEPSEEK, MIXTRAL, GPT2_XL, GPT2, from_hf_config(real("Qwen--Qwen3.5-27B"))])


@settings(deadline=None)
@given(MODELS, LAYOUTS)
def test_from_any_layout_every_way_out_leads_out(model, layout):
    # Raising a degree may meet another rule of that degree, so such proposals are tried where they can hold.
    assume(2 in tensor_parallel_choices(model) or not layout["sequence_parallel"])
    assume(layout["virtual_stages"] * 2 <= model.num_layers)
    leads_out(model, layout)


@settings(deadline=None)
@given(MODELS, st.lists(LAYOUTS, min_size=1, max_size=8))
def test_masks_over_columns_are_the_verdicts_of_the_rows(model, layouts):
    columns = {name: np.array([layout[name] for layout in layouts]) for name in PLAIN}
    by_row = [problems(model, layout) for layout in layouts]
    assert list(feasible(model, columns)) == [not found for found in by_row]
    for constraint, bad in broken(model, columns):
        assert bad.shape == (len(layouts),)
        assert bad.dtype == bool
        for row, found in enumerate(by_row):
            sentence = constraint.rule(model, layouts[row]) if bad[row] else None
            named = [p.rule for p in found if p.field == constraint.field]
            assert (sentence in named) == bad[row]


def test_columns_broadcast_to_a_grid():
    columns = PLAIN | {"tensor_parallel": np.array([[1], [3], [8]]), "pipeline_parallel": np.array([1, 80, 81])}
    assert feasible(LLAMA_70B, columns).tolist() == [[True, True, False], [False] * 3, [True, True, False]]


# GenZ's search of layouts ended below the number of GPUs, so that none of its layouts of Llama 3 70B used all 16.
def test_splits_over_all_16_gpus_are_kept():
    tensor = np.array([1, 2, 4, 8, 16])
    assert feasible(LLAMA_70B, PLAIN | {"tensor_parallel": tensor, "pipeline_parallel": 16 // tensor}).all()
    assert set(tensor) <= set(tensor_parallel_choices(LLAMA_70B))


# Real head counts, by the models' own configs.
@pytest.mark.parametrize(
    ("config", "valid", "invalid"),
    [
        # 24 query heads of 4 KV heads, 16 key and 48 value heads of the linear layers.
        ("Qwen--Qwen3.5-27B", [1, 2, 4, 8], [3, 6, 12, 16, 24]),
        # Mamba-2 with 256 heads beside attention with 64 of 8 KV heads.
        ("nvidia--Nemotron-H-56B-Base-8K", [1, 8, 16, 64], [3, 128, 256]),
        # Full layers with 4 KV heads, sliding ones with 8, each 64 query heads.
        ("XiaomiMiMo--MiMo-V2-Flash", [1, 4, 8, 64], [3, 5, 128]),
        ("openai--gpt-oss-120b", [1, 8, 64], [6, 128]),
        # 40 query heads share 8 KV heads: 5 and 10 divide 40 but would cut KV heads unevenly.
        ("meta-llama--Llama-4-Scout-17B-16E-Instruct", [1, 2, 4, 8, 40], [5, 10, 20]),
        # Latent attention has no KV heads to share: any divisor of its 128 heads.
        ("deepseek-ai--DeepSeek-V3", [1, 16, 128], [3, 256]),
    ],
)
def test_tensor_parallel_degrees_of_models_with_mixed_heads(config, valid, invalid):
    choices = tensor_parallel_choices(from_hf_config(real(config)))
    assert set(valid) <= set(choices)
    assert not set(invalid) & set(choices)


def test_25_heads_split_by_5_alone():
    assert tensor_parallel_choices(GPT2_XL) == [1, 5, 25]


def test_several_head_counts_are_all_named():
    (problem,) = problems(from_hf_config(real("Qwen--Qwen3.5-27B")), PLAIN | {"tensor_parallel": 16})
    assert "the 16, 24 and 48 heads" in problem.rule
    assert kv_head_counts(from_hf_config(real("XiaomiMiMo--MiMo-V2-Flash"))) == (4, 8)


def test_expert_degrees_divide_experts_and_ranks():
    assert expert_parallel_choices(DEEPSEEK, 96) == [1, 2, 4, 8, 16, 32]
    assert expert_parallel_choices(LLAMA_70B, 96) == [1]


def test_every_rule_names_a_field_of_the_layout():
    assert {constraint.field for constraint in CONSTRAINTS} <= PLAIN.keys()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (True, "on"),
        (65_536, "65,536"),
        (0.9, "0.9"),
        (10**5000, "a number of more than 30 digits"),
        ("x" * 99, "'" + "x" * 36 + "..."),
        (None, "empty"),
        ([[[]]], "a list"),
        (float("nan"), "nan"),
    ],
    ids=lambda value: "" if isinstance(value, int) else None,
)
def test_any_value_can_be_said(value, words):
    assert shown(value) == words


def test_a_problem_reads_as_a_sentence():
    problem = Problem("seq_len", 0, "it must be a whole number from 1 to 16,777,216", "Try 1.")
    assert problem.sentence == "Sequence length is 0: it must be a whole number from 1 to 16,777,216. Try 1."
    assert label("some_new_field") == "Some new field"


def test_a_refusal_can_be_said_beside_the_field_that_brought_it_about():
    (problem,) = problems(LLAMA_70B, PLAIN | {"context_parallel": 2, "seq_len": 4097})
    seen = problem.seen_from("seq_len", 4097)
    assert (seen.field, seen.value) == ("seq_len", 4097)
    assert seen.sentence == (
        "Sequence length is 4,097: with it, Context parallel is 2, but it must divide the sequence length 4,097."
        " For Context parallel: choose one of 1, 17, 241."
    )


def test_a_sequence_beyond_the_models_positions_is_named_and_within_them_is_not():
    gpt2 = load_models()["openai-community/gpt2"]
    assert length_note(gpt2, 1024) == ""
    assert length_note(gpt2, 1025).startswith(f"1,025 tokens are 1 more than the 1,024 that {gpt2.name} was made for")
