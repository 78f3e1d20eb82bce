"""Bytes and FLOPs of a step against printed counts and the whole-model functions."""

import numpy as np
import pytest

from core.collectives import bytes_per_rank
from core.flops import decode_flops_per_token, forward_flops_per_token
from core.kv_cache import kv_bytes
from core.model_spec import Attention, Layer, Mlp, ModelSpec, load_models
from core.operators import model_operators
from core.params import count_params
from core.serving_work import decode_work, prefill_work
from core.units import MILLISECOND
from tests.published import as_printed
from tests.published_serving import serving_rows

MODELS = load_models()
LLAMA = MODELS["meta-llama/Llama-3.1-70B"]
NAMES = [
    "meta-llama/Llama-3.1-70B",
    "openai/gpt-oss-120b",
    "deepseek-ai/DeepSeek-V3",
    "deepseek-ai/DeepSeek-V3.2",
    "deepseek-ai/DeepSeek-V4-Flash",
    "Qwen/Qwen3.5-27B",
    "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16",
    "google/gemma-2-9b",
]


def gpt(layers, hidden_size):
    """GPT-3's shape with heads of 128, and a head that costs nothing."""
    heads = hidden_size // 128
    mixer = Attention(num_heads=heads, num_kv_heads=heads, head_dim=128, v_head_dim=128)
    mlp = Mlp(intermediate_size=4 * hidden_size, gated=False)
    return ModelSpec(
        id="gpt",
        name="gpt",
        model_type="test",
        hidden_size=hidden_size,
        vocab_size=1,
        tie_word_embeddings=True,
        max_position_embeddings=2048,
        layers=(Layer(mixer=mixer, mlp=mlp),) * layers,
    )


@serving_rows("layer_flops")
def test_matches_the_flops_of_a_token_of_kipply(row):
    model = gpt(row["inputs"]["layers"], row["inputs"]["hidden_size"])
    head = 2 * model.hidden_size
    assert decode_work(model, 1).matmul_flops["bf16"] - head == as_printed(row)


# The post counts four passes of d elements a layer over the wire, the limit of two all-reduces among many GPUs.
@serving_rows("messages")
def test_matches_the_messages_of_kipply(row):
    inputs = row["inputs"]
    work = decode_work(gpt(inputs["layers"], inputs["hidden_size"]), 1, batch=inputs["batch"])
    assert work.num_messages == 2 * inputs["layers"] + 1  # and one of the embedding
    one = bytes_per_rank("all_reduce", work.message_bytes, 10**6) / inputs["bytes_per_s"]
    assert 2 * inputs["layers"] * one / MILLISECOND == as_printed(row)


@pytest.mark.parametrize("name", NAMES)
def test_a_decode_step_computes_what_one_token_of_each_sequence_needs(name):
    model = MODELS[name]
    work = decode_work(model, [1, 5000], batch=3)
    assert work.flops == pytest.approx(3 * decode_flops_per_token(model, [1, 5000]), rel=1e-9)


def dense_only(names):
    """Sparse layers multiply in the latent's space, which flops.py leaves to its caller."""
    return [name for name in names if not any(getattr(mixer, "indexer", None) for mixer in MODELS[name].mixers)]


@pytest.mark.parametrize("name", dense_only(NAMES))
def test_prefill_computes_a_causal_forward_pass_with_one_row_of_logits(name):
    model, tokens = MODELS[name], 4096
    head = 2 * count_params(model).embedding
    whole = tokens * forward_flops_per_token(model, tokens, causal=True)
    assert prefill_work(model, tokens, batch=2).flops == pytest.approx(2 * (whole - (tokens - 1) * head), rel=1e-9)


# The operators of a pass are counted one by one elsewhere; they also write the new tokens' cache and read embeddings.
@pytest.mark.parametrize("gpus", [1, 4])
@pytest.mark.parametrize("name", NAMES)
def test_the_operators_of_a_step_add_up_to_its_work(name, gpus):
    model = MODELS[name]
    operators = model_operators(model, "decode", seq_len=5000, batch=3, tensor_parallel=gpus)
    work = decode_work(model, 5000, batch=3, tensor_parallel=gpus)
    assert sum(one.flops for one in operators if not one.on_vector_units) == pytest.approx(work.flops, rel=1e-12)
    assert sum(one.weight_bytes for one in operators) == pytest.approx(work.weight_bytes, rel=1e-5)
    assert sum(one.cache_bytes for one in operators) == pytest.approx(work.kv_bytes + work.state_bytes, rel=0.003)


@pytest.mark.parametrize("name", NAMES)
def test_the_operators_of_a_prefill_compute_its_flops(name):
    operators = model_operators(MODELS[name], "prefill", seq_len=5000, batch=3)
    flops = sum(one.flops for one in operators if not one.on_vector_units)
    assert flops == pytest.approx(prefill_work(MODELS[name], 5000, batch=3).flops, rel=1e-12)


def test_the_step_of_the_seed_question_reads_weights_once_and_each_cache():
    # 32 requests at 4,096 tokens: 139 GB of weights (without the embedding) and 42.95 GB of cache.
    work = decode_work(LLAMA, 4096, batch=[1, 32])
    assert work.weight_bytes / 1e9 == pytest.approx(139.0, abs=0.05)
    assert work.kv_bytes / 1e9 == pytest.approx([1.342, 42.95], abs=0.005)


def test_heads_divide_over_gpus_and_both_times_shrink():
    alone, shared = decode_work(LLAMA, 4096, batch=32), decode_work(LLAMA, 4096, batch=32, tensor_parallel=8)
    assert shared.kv_bytes == alone.kv_bytes / 8
    assert shared.flops == pytest.approx(alone.flops / 8)
    assert shared.weight_bytes == pytest.approx(alone.weight_bytes / 8, rel=2e-4)
    assert shared.message_bytes == alone.message_bytes == 32 * 8192 * 2


def test_checking_a_draft_reads_as_much_and_computes_more():
    plain, checking = decode_work(LLAMA, 4096, batch=8), decode_work(LLAMA, 4096, batch=8, tokens_per_sequence=5)
    assert checking.moved_bytes == plain.moved_bytes
    assert checking.flops == 5 * plain.flops


def test_more_tokens_hit_more_experts():
    oss = MODELS["openai/gpt-oss-120b"]
    plain, checking = decode_work(oss, 100), decode_work(oss, 100, tokens_per_sequence=5)
    assert 2 < checking.weight_bytes / plain.weight_bytes < 5


# vLLM, v1/attention/backends/mla/common.py: prefill multiplies the cached latents of a prefix by W_UK and W_UV again.
def test_cached_latents_become_keys_and_values_once_more():
    model = MODELS["deepseek-ai/DeepSeek-V3"]
    alone = prefill_work(model, 4096)
    after = prefill_work(model, 8192, cached_tokens=4096)
    expansion = 2 * 61 * 512 * 128 * (128 + 128)  # of one token
    assert after.flops - after.attention_flops == pytest.approx(
        alone.flops - alone.attention_flops + 4096 * expansion, rel=1e-12
    )
    expanded = prefill_work(model, 8192, cached_tokens=4096, layout="expanded")
    assert expanded.flops - expanded.attention_flops == pytest.approx(alone.flops - alone.attention_flops, rel=1e-12)
    sparse = MODELS["deepseek-ai/DeepSeek-V3.2"]  # reads the chosen latents themselves
    half, first = prefill_work(sparse, 8192, cached_tokens=4096), prefill_work(sparse, 4096)
    assert half.flops - half.attention_flops == pytest.approx(first.flops - first.attention_flops, rel=1e-12)


def test_a_cached_prefix_saves_its_tokens_but_not_the_attention_to_them():
    whole, half = prefill_work(LLAMA, 8000), prefill_work(LLAMA, 8000, cached_tokens=4000)
    assert half.matmul_flops["bf16"] == pytest.approx(whole.matmul_flops["bf16"] / 2, rel=1e-3)
    assert half.attention_flops == pytest.approx(whole.attention_flops * 3 / 4, rel=1e-3)  # a triangle less its tip
    assert half.kv_bytes == whole.kv_bytes == kv_bytes(LLAMA, 8000)


def test_the_last_token_of_a_known_prompt_is_a_decode_step():
    last, step = prefill_work(LLAMA, 8000, cached_tokens=7999), decode_work(LLAMA, 8000)
    assert last.flops == pytest.approx(step.flops, rel=1e-9)


def test_narrow_weights_are_counted_by_format():
    work = decode_work(MODELS["openai/gpt-oss-120b"], 100, expert_dtype="mxfp4")
    assert set(work.matmul_flops) == {"bf16", "mxfp4"}


def test_batch_by_length_by_gpus_gives_a_grid():
    work = decode_work(
        LLAMA, np.arange(1, 5)[:, None, None], batch=np.arange(1, 4)[:, None], tensor_parallel=np.array([1, 8])
    )
    assert work.moved_bytes.shape == work.flops.shape == (4, 3, 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: decode_work(LLAMA, 0), "seq_len=0 must be a whole number"),
        (lambda: decode_work(LLAMA, 1, batch=-1), "batch=-1 must be a whole number"),
        (lambda: prefill_work(LLAMA, 100, cached_tokens=100), "cached_tokens must be less than prompt_len"),
        (lambda: prefill_work(LLAMA, 100, cached_tokens=-1), "cached_tokens=-1 must be a whole number, 0 or more"),
    ],
)
def test_a_bad_input_is_refused_in_words(call, message):
    with pytest.raises(ValueError, match=message):
        call()
