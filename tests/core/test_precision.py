"""Narrow formats against published checkpoint sizes, the formats' specifications and whole-model counts."""

import numpy as np
import pytest

from core.kv_cache import kv_bytes
from core.model_spec import load_models
from core.params import count_params
from core.precision import (
    PARTS,
    effective_bits,
    kv_quantized_bytes,
    quantized_bytes,
    weight_bytes,
    weight_part_bytes,
    weight_parts,
)
from core.units import GB, GIB
from tests.published import as_printed
from tests.published_serving import serving_rows
from tests.shapes import LLAMA_70B

MODELS = load_models()
LLAMA = MODELS["meta-llama/Llama-3.1-70B"]


@serving_rows("checkpoint")
def test_matches_published_checkpoint_sizes(row):
    inputs = dict(row["inputs"])
    assert weight_bytes(MODELS[inputs.pop("model")], **inputs) / GIB == as_printed(row)


@serving_rows("quantized_bytes")
def test_matches_printed_sizes(row):
    assert quantized_bytes(**row["inputs"]) / GB == as_printed(row)


@serving_rows("weight_share")
def test_matches_the_share_of_a_gpu_that_weights_take(row):
    inputs = dict(row["inputs"])
    gpu_bytes = inputs.pop("gpu_bytes")
    assert 100 * quantized_bytes(**inputs) / gpu_bytes == as_printed(row)


@pytest.mark.parametrize(
    ("element_bits", "scale_bits", "block_size", "bits"),
    [(4, 32, 128, 4.25), (4, 8, 32, 4.25), (4, 8, 16, 4.5), (8, 8, 32, 8.25), (2, 32, 32, 3.0), (16, 0, 1, 16)],
)
def test_scales_cost_bits(element_bits, scale_bits, block_size, bits):
    assert effective_bits(element_bits, scale_bits=scale_bits, block_size=block_size) == bits


def test_group_sizes_can_be_the_axis():
    assert effective_bits(4, scale_bits=16, block_size=[32, 64, 128]) == pytest.approx([4.5, 4.25, 4.125])
    assert quantized_bytes(np.array([[8e9], [70e9]]), 4, scale_bits=32, block_size=[32, 128]).shape == (2, 2)


@pytest.mark.parametrize("name", MODELS)
def test_the_parts_are_the_whole_model(name):
    parts = weight_parts(MODELS[name])
    assert sum(parts.values()) == count_params(MODELS[name]).total
    assert min(parts.values()) >= 0


# The same model card's table: MLP 114.71B with router and biases, attention 0.96B, embedding and head 1.16B.
def test_the_parts_of_gpt_oss_are_those_of_its_model_card():
    parts = weight_parts(MODELS["openai/gpt-oss-120b"])
    assert (parts["embedding"] + parts["lm_head"]) / 1e9 == pytest.approx(1.16, abs=0.005)
    assert parts["attention"] / 1e9 == pytest.approx(0.96, abs=0.005)
    assert (parts["experts"] + parts["router"] + parts["norms"]) / 1e9 == pytest.approx(114.71, abs=0.01)


def test_biases_of_a_dense_mlp_are_no_matrix():
    # GPT-2: 12 layers of 4 x 768^2 attention weights and 8 x 768^2 MLP weights.
    parts = weight_parts(MODELS["openai-community/gpt2"])
    assert (parts["attention"], parts["mlp"]) == (12 * 4 * 768**2, 12 * 8 * 768**2)


def test_sixteen_bits_and_more_are_the_whole_model_in_one_format():
    assert weight_bytes(LLAMA, "bf16") == 2 * count_params(LLAMA).total
    assert weight_bytes(LLAMA, "fp32") == 4 * count_params(LLAMA).total


def test_embedding_and_head_stay_in_16_bits_unless_asked():
    params = count_params(LLAMA)
    kept = params.embedding + params.lm_head
    norms = weight_parts(LLAMA)["norms"]
    assert weight_bytes(LLAMA, "fp8") == params.total + kept + norms
    assert weight_bytes(LLAMA, "fp8", keep_16bit=()) == params.total
    assert weight_bytes(LLAMA, "int4-g128") / GB == pytest.approx(40.6, abs=0.05)
    assert weight_bytes(LLAMA, "int4-g128", keep_16bit=()) / GB == pytest.approx(37.5, abs=0.05)


def test_parts_have_bytes_of_their_own():
    parts = weight_part_bytes(MODELS["openai/gpt-oss-20b"], "fp8", expert_dtype="mxfp4", keep_16bit=("router",))
    counts = weight_parts(MODELS["openai/gpt-oss-20b"])
    assert tuple(parts) == PARTS
    assert parts["experts"] == counts["experts"] * 4.25 / 8
    assert (parts["attention"], parts["router"]) == (counts["attention"], 2 * counts["router"])


# KIVI, arXiv:2402.02750: 2-bit keys and values in groups of 32.
def test_a_kv_format_of_ones_own_carries_its_scales():
    plain = kv_bytes(LLAMA_70B, 4096, batch=32)
    assert kv_quantized_bytes(LLAMA_70B, 4096, 2, scale_bits=32, block_size=32, batch=32) == plain * 3 / 16
    assert kv_quantized_bytes(LLAMA_70B, 4096, 8, scale_bits=8, block_size=32) == kv_bytes(
        LLAMA_70B, 4096, kv_dtype="mxfp8"
    )
    assert kv_quantized_bytes(LLAMA_70B, 4096, 16, kv_dtype="fp8") == kv_bytes(LLAMA_70B, 4096)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: weight_bytes(LLAMA, "int3"), "is not a known number format"),
        (lambda: weight_bytes(LLAMA, "fp8", keep_16bit=("heads",)), "keep_16bit='heads' is not known; choose one of"),
        (lambda: effective_bits(0), "element_bits=0 must be greater than 0"),
        (lambda: effective_bits(4, block_size=0.5), "block_size=0.5 must be a whole number"),
        (lambda: quantized_bytes(-1, 4), "num_elements=-1 must be 0 or greater"),
    ],
)
def test_a_bad_input_is_refused_in_words(call, message):
    with pytest.raises(ValueError, match=message):
        call()
