"""Scenarios with one click: each opens, says where it comes from, and agrees with what was published of it."""

from datetime import date

import pytest

from core.params import count_params
from core.partition import headline_of
from core.presets import load_presets

PRESETS = load_presets()
PAGES = {"partition", "batch", "bottleneck", "communication", "attention"}
SCENARIOS = {name: preset.scenario() for name, preset in PRESETS.items()}


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_each_preset_builds_and_says_its_source(preset):
    assert preset.scenario().model.id == preset.model
    assert len(preset.source) > 20
    assert any(year in preset.source for year in ("2020", "2021", "2022", "2024", "config.json"))
    assert date(2026, 1, 1) <= preset.checked
    assert preset.title
    assert preset.about.endswith(("?", "."))
    assert preset.page in PAGES


def test_the_seven_that_were_asked_for():
    assert list(PRESETS) == [
        "zero-70b-64",
        "gpt3-175b-serving",
        "mfu-35-hfu-62",
        "megatron-1t-3072",
        "llama31-405b-16384",
        "deepseek-v3-h800",
        "8b-on-24gb",
    ]


# GPUs as published: Narayanan et al. 2021, table 1; Llama Team 2024, table 4; DeepSeek-AI 2024, section 3.1.
@pytest.mark.parametrize(
    ("name", "gpus", "parameters"),
    [
        ("zero-70b-64", 64, 70.6e9),
        ("gpt3-175b-serving", 64, 174.6e9),
        ("megatron-1t-3072", 3072, 1008.0e9),
        ("llama31-405b-16384", 16_384, 405.9e9),
        ("deepseek-v3-h800", 2048, 671.0e9),
        ("8b-on-24gb", 1, 8.03e9),
    ],
)
def test_gpus_and_parameters_are_the_published_ones(name, gpus, parameters):
    training = SCENARIOS[name].training
    assert training.num_gpus == gpus
    assert count_params(training.model).total == pytest.approx(parameters, rel=1e-3)


# Narayanan et al. 2021, arXiv:2104.04473, table 1: t = 8, p = 64, batch 3,072, 2,048 tokens.
def test_the_trillion_runs_as_its_table_says():
    training = SCENARIOS["megatron-1t-3072"].training
    assert (training.tensor_parallel, training.pipeline_parallel, training.seq_len) == (8, 64, 2048)
    assert training.data_parallel * training.num_micro_batches * training.micro_batch_size == 3072
    assert headline_of(training).fits


# Llama Team 2024, arXiv:2407.21783, table 4 and section 3.3.2: 16M tokens a batch, no activation checkpointing at 8k.
def test_405b_fits_in_80_gb_without_recompute_as_the_paper_ran_it():
    training = SCENARIOS["llama31-405b-16384"].training
    assert (training.recompute, training.accelerator.id) == ("none", "h100-sxm")
    sequences = training.data_parallel * training.num_micro_batches * training.micro_batch_size
    assert sequences * training.seq_len == pytest.approx(16e6, rel=0.05)
    here = headline_of(training)
    assert here.fits
    assert here.activation_bytes > 8 * here.state_bytes  # sharded states are the small part


# DeepSeek-AI 2024, arXiv:2412.19437, section 4.2: 15,360 sequences of 4,096 tokens; 16 stages, 64 expert ranks, ZeRO-1.
def test_deepseek_v3_runs_as_its_report_says():
    training = SCENARIOS["deepseek-v3-h800"].training
    assert training.data_parallel * training.num_micro_batches * training.micro_batch_size == 15_360
    assert (training.pipeline_parallel, training.expert_parallel, training.tensor_parallel) == (16, 64, 1)
    assert SCENARIOS["deepseek-v3-h800"].scale_up.bytes_per_s == 200e9
    assert headline_of(training).fits


def test_an_8b_does_not_fit_on_a_24_gb_card_and_a_70b_on_64_does():
    assert not headline_of(SCENARIOS["8b-on-24gb"].training).fits
    assert headline_of(SCENARIOS["zero-70b-64"].training).fits


# Brown et al. 2020, table 2.1: 96 layers of 96 heads of 128, so 2 x 96 x 96 x 128 x 2 bytes of cache a token.
def test_the_175b_has_a_key_and_a_value_for_every_head():
    (mixer,) = SCENARIOS["gpt3-175b-serving"].model.mixers
    assert SCENARIOS["gpt3-175b-serving"].model.num_layers == 96
    assert (mixer.num_heads, mixer.num_kv_heads, mixer.head_dim) == (96, 96, 128)
