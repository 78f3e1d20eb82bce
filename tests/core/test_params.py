"""Parameter counts, to the last one, against models that other software builds and against the papers' own sums."""

import json
from pathlib import Path

import numpy as np
import pytest

from core.hf_config import from_hf_config
from core.model_spec import load_models
from core.params import breakdown, count_params, hyper_connection_params, layer_params, split_layer_params
from tests.communication import gpt
from tests.configs import model_of
from tests.published import as_printed, rows

DATA = Path(__file__).parents[1] / "data"
EXACT = json.loads((DATA / "exact_params.json").read_text())["models"]
FAMILIES = json.loads((DATA / "family_params.json").read_text())["cases"]


@pytest.mark.parametrize("name", EXACT)
def test_a_real_config_counts_to_the_last_parameter(name):
    expected, count = EXACT[name], count_params(model_of(name))
    fields = [field for field in ("total", "embedding", "lm_head", "experts") if field in expected]
    assert {field: getattr(count, field) for field in fields} == {field: expected[field] for field in fields}


@pytest.mark.parametrize("case", FAMILIES, ids=lambda case: f"{case['config']['model_type']}: {case['label']}")
def test_a_family_counts_to_the_last_parameter(case):
    assert count_params(from_hf_config(case["config"])).total == case["total"]


@pytest.mark.parametrize("name", EXACT)
def test_the_shown_terms_and_the_layers_add_up_to_the_total(name):
    model = model_of(name)
    count = count_params(model)
    assert sum(params for _, params in breakdown(model)) == count.total
    outside = [params for label, params in breakdown(model) if " x " not in label]
    assert sum(outside) + layer_params(model).sum() == count.total
    split = split_layer_params(model)
    assert split.experts.sum() == count.experts
    assert np.array_equal(split.total, layer_params(model))
    assert layer_params(model).shape == (model.num_layers,)


# Active parameters, printed to one decimal without the input embedding: gpt-oss model card, arXiv:2508.10925, table 1.
@pytest.mark.parametrize(("name", "published"), [("openai--gpt-oss-20b", 3.61e9), ("openai--gpt-oss-120b", 5.13e9)])
def test_active_parameters_of_gpt_oss_match_its_model_card(name, published):
    assert count_params(model_of(name)).active == pytest.approx(published, abs=0.005e9)


def test_active_parameters_swap_all_experts_for_those_a_token_uses():
    # Mixtral 8x7B: 46.7 B stored, 12.9 B used with the input embedding (Mistral AI, Mixtral of experts, 2023-12).
    count = count_params(model_of("mistralai--Mixtral-8x7B-v0.1"))
    assert count.active == count.total - count.embedding - count.experts * 6 // 8
    assert count.active + count.embedding == pytest.approx(12.9e9, abs=0.05e9)


def test_a_tied_head_is_stored_once_and_counts_as_used():
    count = count_params(model_of("google--gemma-4-26B-A4B"))
    assert count.embedding == count.lm_head
    assert count.active == count.total - count.experts * (128 - 8) // 128


def test_a_dense_model_uses_everything_but_the_input_embedding():
    count = count_params(model_of("meta-llama--Meta-Llama-3.1-70B"))
    assert count.active == count.total - count.embedding


def test_per_layer_embeddings_are_stored_but_only_looked_up():
    tables = 262_144 * 35 * 256  # Gemma 3n: rows x layers x width
    model = from_hf_config(
        {"model_type": "gemma3n_text", "hidden_size": 2048, "intermediate_size": 16_384, "num_hidden_layers": 35}
    )
    count = count_params(model)
    assert count.lookup_tables == tables
    assert count.active == count.total - tables


def test_a_layer_without_attention_is_lighter_than_its_neighbour():
    model = model_of("nvidia--Llama-3_3-Nemotron-Super-49B-v1")
    without = [layer.mixer is None for layer in model.layers]
    assert sum(without) == 31  # model card: attention skipped in 31 of 80 blocks
    # What is left is one norm and three matrices.
    index = without.index(True)
    width = model.layers[index].mlp.intermediate_size
    assert layer_params(model)[index] == 3 * 8192 * width + 8192


def test_pipeline_stages_can_be_cut_from_the_layer_array():
    deepseek = layer_params(model_of("deepseek-ai--DeepSeek-V3"))
    assert len(set(deepseek.tolist())) == 2
    assert (deepseek[:3] < deepseek[3:].min()).all()  # three dense layers first


def test_hyper_connections_by_hand():
    # Four streams of width 10: (2 + 4) x 4 = 24 rows over 40 inputs, 24 biases, three scales.
    assert hyper_connection_params(4, 10) == 24 * 40 + 24 + 3


@rows("params")
def test_matches_the_sizes_of_the_megatron_paper(row):
    assert count_params(gpt(*row["inputs"].values())).total / 1e9 == as_printed(row)


def test_equation_2_of_the_megatron_paper_to_the_parameter():
    # Narayanan et al. 2021, arXiv:2104.04473, table 1 and equation 2: 12 l h^2 (1 + 13/(12h) + (V + s)/(12 l h)).
    layers, hidden, vocab, seq = 128, 25_600, 51_200, 2048
    formula = 12 * layers * hidden**2 * (1 + 13 / (12 * hidden) + (vocab + seq) / (12 * layers * hidden))
    final_norm = 2 * hidden  # which the paper leaves out
    assert count_params(load_models()["nvidia/megatron-1t"]).total == pytest.approx(formula + final_norm, abs=1)
