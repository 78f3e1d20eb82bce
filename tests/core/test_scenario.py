"""A scenario that exists is valid, and one that cannot be names every field at fault in words."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.activations import RECOMPUTES as ACTIVATION_RECOMPUTES
from core.hardware import load_accelerators, load_links
from core.lora import ADAPTERS
from core.model_spec import load_models
from core.scenario import (
    FIELDS,
    OFFLOADS,
    RECIPES,
    RECOMPUTES,
    SERVING_FIELDS,
    TRAINING_FIELDS,
    Choice,
    Scenario,
    ScenarioError,
    ServingScenario,
    Share,
    TrainingScenario,
    WholeNumber,
    build,
    changed,
    field_values,
    read_field,
    with_model,
)
from core.zero import OFFLOADS as ZERO_OFFLOADS
from core.zero import RECIPES as ZERO_RECIPES
from core.zero import STAGES

MODELS, LINKS = load_models(), load_links()
H100 = load_accelerators()["h100-sxm"]


def scenario(model="meta-llama/Llama-3.1-70B", **values):
    return build(MODELS[model], H100, LINKS["nvlink-4"], LINKS["infiniband-ndr"], values)


WIDE = scenario(
    data_parallel=64,
    tensor_parallel=16,
    pipeline_parallel=16,
    virtual_stages=5,
    context_parallel=2,
    sequence_parallel=True,
    serving_tensor_parallel=32,
    seq_len=8192,
    num_micro_batches=64,
    zero_stage=1,
)


def refused(**values):
    with pytest.raises(ScenarioError) as caught:
        changed(WIDE, **values)
    assert str(caught.value) == " ".join(problem.sentence for problem in caught.value.problems)
    return {problem.field: problem for problem in caught.value.problems}


# The bad input that the first page must answer, field by field.
@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("data_parallel", 0, "must be a whole number from 1 to 65,536. Try 1."),
        ("data_parallel", -8, "Data-parallel ranks is -8: it must be a whole number"),
        ("data_parallel", 2.5, "must be a whole number"),
        ("data_parallel", 1e30, "must be a whole number from 1 to 65,536. Try 65,536."),
        ("data_parallel", 10**5000, "must be a whole number"),
        ("seq_len", float("nan"), "Sequence length is nan: it must be a whole number"),
        ("seq_len", float("inf"), "must be a whole number"),
        ("seq_len", "many", "Sequence length is 'many': it must be a whole number"),
        ("seq_len", None, "Sequence length is empty"),
        ("seq_len", [4096], "Sequence length is a list"),
        ("seq_len", "", "Sequence length is ''"),
        ("micro_batch_size", True, "Micro-batch size is on: it must be a whole number"),
        ("tensor_parallel", 3, "must divide the 64 heads of Llama 3.1 70B"),
        ("pipeline_parallel", 81, "Llama 3.1 70B has 80"),
        ("zero_stage", 4, "must be a whole number from 0 to 3. Try 3."),
        ("sequence_parallel", "yes", "is either on or off. Use 1 for on or 0 for off."),
        ("sequence_parallel", 1.0, "is either on or off"),
        ("recipe", "lion", "must be one of adam, adam-fp32-grads"),
        ("recipe", 1, "must be one of"),
        ("recompute", "Full", "must be one of none, selective, full"),
        ("memory_fraction", 0, "must be a share above 0 and at most 1. Try 0.9."),
        ("memory_fraction", 1.01, "must be a share"),
        ("kv_dtype", "fp5", "must be one of fp32"),
        ("serving_tensor_parallel", 7, "Tensor parallel for serving is 7: it must divide the 64 heads"),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 25 else "",
)
def test_a_bad_value_is_refused_beside_its_field(field, value, words):
    found = refused(**{field: value})
    assert words in found[field].sentence


def test_an_unknown_field_is_named():
    assert refused(gpus=8)["gpus"].sentence == "Gpus is 8: there is no such field. Remove it."


def test_every_field_at_fault_is_named_at_once():
    found = refused(data_parallel=0, seq_len="x", batch=-1, memory_fraction=2, gpus=1)
    assert found.keys() == {"data_parallel", "seq_len", "batch", "memory_fraction", "gpus"}


@pytest.mark.parametrize(
    ("field", "text", "value"),
    [
        ("data_parallel", "128", 128),
        ("data_parallel", 128.0, 128),
        ("data_parallel", np.int64(128), 128),
        ("sequence_parallel", "0", False),
        ("sequence_parallel", 1, True),
        ("memory_fraction", "0.85", 0.85),
        ("recipe", "adam-8bit", "adam-8bit"),
        ("seq_len", " 4096 ", 4096),
    ],
)
def test_a_value_from_an_address_or_a_box_is_read_as_its_own_type(field, text, value):
    read = read_field(field, text)
    assert read == value
    assert type(read) is type(value)


def test_each_refusal_proposes_a_value_that_is_taken():
    for field, kind in FIELDS.items():
        with pytest.raises(ScenarioError) as caught:
            read_field(field, object())
        (problem,) = caught.value.problems
        proposal = problem.way_out.removeprefix("Try ").removeprefix("Use ").split(" for ")[0].removesuffix(".")
        read_field(field, proposal.replace(",", ""))
        assert isinstance(kind, WholeNumber | Share | Choice) or kind is bool


ODD = [10**400, "1e400", "٣", "0x10", "1_0", "\ud800", b"8", 1j, np.float64(3), np.ones(2), {}, object()]
JUNK = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(ODD)
    | st.lists(st.integers(), max_size=2)
)


def outcome(values):
    """The changed scenario, or the problems that refuse it; any other exception fails the test."""
    try:
        return changed(WIDE, **values)
    except ScenarioError as error:
        return error.problems


@settings(max_examples=200, deadline=None)
@given(st.sampled_from([*FIELDS, "unknown", ""]), JUNK)
def test_nothing_but_a_sentence_comes_of_junk(field, value):
    found = outcome({field: value})
    if isinstance(found, Scenario):
        assert type(field_values(found)[field]) is type(field_values(WIDE)[field])
    else:
        assert found
        assert all(len(problem.sentence) < 400 for problem in found)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from(list(FIELDS)), JUNK))
def test_nothing_but_a_sentence_comes_of_much_junk(values):
    found = outcome(values)
    assert isinstance(found, Scenario) or {problem.field for problem in found} <= {*FIELDS}


def test_changed_keeps_everything_else():
    other = changed(WIDE, seq_len=16_384)
    assert field_values(other) == field_values(WIDE) | {"seq_len": 16_384}
    assert (other.model, other.accelerator, other.scale_up, other.scale_out) == (
        WIDE.model,
        WIDE.accelerator,
        WIDE.scale_up,
        WIDE.scale_out,
    )


def test_two_changes_that_fit_only_together_are_taken_together():
    assert refused(pipeline_parallel=40).keys() == {"pipeline_parallel"}
    assert changed(WIDE, pipeline_parallel=40, virtual_stages=2).training.pipeline_parallel == 40


FAMILIES = (
    "openai-community/gpt2-xl",
    "openai/gpt-3-175b",
    "meta-llama/Llama-3.1-8B",
    "meta-llama/Llama-3.1-405B",
    "meta-llama/Llama-4-Scout-17B-16E-Instruct",
    "mistralai/Mixtral-8x7B-v0.1",
    "Qwen/Qwen2.5-0.5B",
    "Qwen/Qwen3.5-27B",
    "Qwen/Qwen3-Next-80B-A3B-Instruct",
    "google/gemma-3-27b-pt",
    "deepseek-ai/DeepSeek-V3",
    "moonshotai/Kimi-K2-Instruct",
    "openai/gpt-oss-120b",
    "nvidia/Nemotron-H-56B-Base-8K",
)


def widest(model_id):
    """Every degree as high as the model takes it."""
    wide, _ = with_model(WIDE, MODELS[model_id])
    experts = MODELS[model_id].num_experts
    return changed(wide, expert_parallel=np.gcd(experts, 128)) if experts else wide


@pytest.mark.parametrize("first", FAMILIES)
def test_another_model_takes_the_layout_over_and_says_what_it_lowered(first):
    here = widest(first)
    for second in FAMILIES:
        there, said = with_model(here, MODELS[second])
        assert there.model == MODELS[second]
        before, after = field_values(here), field_values(there)
        lowered = {name for name in FIELDS if before[name] != after[name]}
        assert len(said) == len(lowered)
        for name in lowered:
            assert after[name] < before[name]
        for sentence in said:
            assert sentence.endswith(f"because {MODELS[second].name} cannot take it.")
        # Nothing was lowered in vain: the old value alone is refused, or breaks another that had to change too.
        for name in lowered - {"virtual_stages", "sequence_parallel"}:
            with pytest.raises(ScenarioError):
                changed(there, **{name: before[name]})
        assert with_model(there, MODELS[second]) == (there, [])


def test_gpt2_xl_after_a_wide_llama():
    there, said = with_model(WIDE, MODELS["openai-community/gpt2-xl"])
    assert said == [
        "Tensor parallel went from 16 to 5 because GPT-2 XL cannot take it.",
        "Tensor parallel for serving went from 32 to 25 because GPT-2 XL cannot take it.",
        "Virtual stages went from 5 to 3 because GPT-2 XL cannot take it.",
    ]
    assert there.training.sequence_parallel


def test_gpus_are_the_product_of_the_degrees_that_split_data_and_layers():
    assert WIDE.training.gpus_per_replica == 16 * 16 * 2
    assert WIDE.training.num_gpus == 64 * 16 * 16 * 2
    assert WIDE.training.layout.keys() == TRAINING_FIELDS.keys()


# The scenario lies below the formulas and repeats their names; here they are held together.
def test_the_choices_are_those_of_the_formulas():
    assert set(RECIPES) <= {*ZERO_RECIPES, *ADAPTERS}
    assert OFFLOADS == ZERO_OFFLOADS
    assert RECOMPUTES == ACTIVATION_RECOMPUTES
    stages = FIELDS["zero_stage"]
    assert (stages.low, stages.high) == (STAGES[0], STAGES[-1])


def test_the_defaults_are_valid_and_every_field_has_a_range():
    training = set(TrainingScenario.model_fields) - {"model", "accelerator"}
    serving = set(ServingScenario.model_fields) - {"model", "accelerator"}
    assert training == TRAINING_FIELDS.keys()
    assert serving == SERVING_FIELDS.keys()
    for field, value in field_values(scenario()).items():
        assert read_field(field, value) == value


def test_a_scenario_cannot_be_changed_in_place():
    with pytest.raises(Exception, match="frozen"):
        WIDE.training.seq_len = 1
