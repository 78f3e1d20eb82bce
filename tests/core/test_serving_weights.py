"""Weights on a GPU against whole-model sizes, an engine's log, and drawing lots for experts."""

import numpy as np
import pytest

from core.model_spec import load_models
from core.params import count_params
from core.precision import weight_bytes
from core.serving_weights import (
    dtype_of_parts,
    experts_hit_share,
    served_matrices,
    stored_weight_bytes,
    vector_bytes,
    weight_read_bytes,
)
from core.units import GIB

MODELS = load_models()
LLAMA = MODELS["meta-llama/Llama-3.1-70B"]
MIXTRAL = MODELS["mistralai/Mixtral-8x7B-v0.1"]


@pytest.mark.parametrize("name", MODELS)
def test_one_gpu_holds_the_whole_model(name):
    model = MODELS[name]
    assert stored_weight_bytes(model, 1) == pytest.approx(2 * count_params(model).total, rel=1e-12)
    # In fp8 the two counts differ by small matrices of linear attention, which one of them takes for vectors.
    assert stored_weight_bytes(model, 1, weight_dtype="fp8") == pytest.approx(weight_bytes(model, "fp8"), rel=1e-3)


# vLLM issue 13061: "Loading model weights took 13.9476 GB" (GiB) on each of two GPUs, buffers included.
def test_matches_the_weights_that_vllm_logged():
    assert stored_weight_bytes(MODELS["Qwen/Qwen2.5-14B"], 2) / GIB == pytest.approx(13.9476, rel=0.015)


def test_experts_in_their_own_format():
    oss = MODELS["openai/gpt-oss-120b"]
    assert stored_weight_bytes(oss, 1, expert_dtype="mxfp4") / GIB == pytest.approx(60.8, abs=0.05)


def test_norms_latents_and_routers_lie_on_every_gpu():
    dense, latents = LLAMA, MODELS["deepseek-ai/DeepSeek-V3"]
    excess = [8 * stored_weight_bytes(model, 8) / stored_weight_bytes(model, 1) - 1 for model in (dense, latents)]
    assert excess[0] == pytest.approx(7 * vector_bytes(dense, {}) / (2 * count_params(dense).total), rel=1e-9)
    assert 0.01 < excess[1] < 0.012


def test_a_step_reads_all_but_the_embedding():
    count = count_params(LLAMA)
    assert weight_read_bytes(LLAMA, 1, 1, {}) == pytest.approx(2 * (count.total - count.embedding))
    tied = MODELS["google/gemma-2-9b"]  # the embedding is the head, and is read
    assert weight_read_bytes(tied, 1, 1, {}) == pytest.approx(2 * count_params(tied).total)


def test_one_token_reads_the_active_weights_and_many_read_all():
    count = count_params(MIXTRAL)
    assert weight_read_bytes(MIXTRAL, 1, 1, {}) == pytest.approx(2 * count.active, rel=1e-9)
    assert weight_read_bytes(MIXTRAL, 1000, 1, {}) == pytest.approx(2 * (count.total - count.embedding), rel=1e-9)


def test_agrees_with_drawing_lots_for_experts():
    rng = np.random.default_rng(0)
    chosen = rng.random((2000, 16, 128)).argsort(axis=-1)[..., :8]  # 16 tokens choose 8 of 128 experts
    hit = np.mean([len(np.unique(step)) for step in chosen]) / 128
    assert hit == pytest.approx(experts_hit_share(8, 128, 16), rel=0.01)


def test_shares_of_experts_hit_have_their_limits():
    assert experts_hit_share(2, 8, [1, 10**6]) == pytest.approx([0.25, 1.0])
    assert experts_hit_share(8, 8, 1) == 1
    assert experts_hit_share(8, 10**6, 1) == pytest.approx(8e-6, rel=1e-12)


def test_flops_are_two_a_weight_that_is_used():
    used = sum(float(one.flops) for one in served_matrices(LLAMA, 1, {}))
    assert used == pytest.approx(2 * (count_params(LLAMA).active - vector_bytes(LLAMA, {}) / 2), rel=1e-9)


def test_parts_have_their_formats():
    dtypes = dtype_of_parts({"weight_dtype": "int4-g128", "expert_dtype": "mxfp4"})
    assert dtypes["lm_head"] == dtypes["router"] == "bf16"
    assert (dtypes["attention"], dtypes["experts"]) == ("int4-g128", "mxfp4")
    assert set(dtype_of_parts({"weight_dtype": "fp16"}).values()) == {"fp16"}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: stored_weight_bytes(LLAMA, 0), "tensor_parallel=0 must be a whole number"),
        (lambda: stored_weight_bytes(LLAMA, 1, keep_16bit=("tail",)), "keep_16bit='tail' is not known"),
        (lambda: experts_hit_share(2, 8, 0), "tokens=0 must be greater than 0"),
    ],
)
def test_a_bad_input_is_refused_in_words(call, message):
    with pytest.raises(ValueError, match=message):
        call()
