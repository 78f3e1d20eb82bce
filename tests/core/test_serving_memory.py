"""Memory of a serving GPU against an engine's log, the seed question and published sizes."""

import numpy as np
import pytest

from core.kv_cache import kv_bytes, max_batch, state_bytes
from core.model_spec import load_models
from core.paged_attention import num_blocks
from core.serving_memory import activation_bytes_per_token, gpus_needed, most_sequences, serving_memory
from core.serving_weights import stored_weight_bytes
from core.units import GB, GIB

MODELS = load_models()
LLAMA = MODELS["meta-llama/Llama-3.1-70B"]
QWEN_14B = MODELS["Qwen/Qwen2.5-14B"]


# vLLM issue 13061: "why is only 8.69 GiB left for the cache of 2 x 24 GB?" Each GPU has 23.08 GiB; 13.95 are weights,
# 0.25 is not torch's, 0.19 are activations. The budget is one GPU's, and a token takes 98,304 bytes of each.
def test_the_cache_budget_is_that_of_one_gpu():
    memory = serving_memory(QWEN_14B, 131_072, budget_bytes=(23.08 - 0.25) * GIB, tensor_parallel=2)
    left = memory.budget_bytes - memory.weight_bytes - memory.activation_bytes
    assert left / GIB == pytest.approx(8.69, rel=0.05)  # buffers beside the weights take 0.2
    assert memory.kv_bytes == 98_304 * 131_072 == 12 * GIB
    assert not memory.fits
    assert most_sequences(memory) == 0


def test_what_the_log_left_holds_95_thousand_tokens():
    assert num_blocks(8.69 * GIB, 98_304, block_tokens=1) == pytest.approx(94_900, abs=50)
    assert num_blocks(7.465 * GIB, 98_304) * 16 == 81_536  # what the rank with the least room allowed


# hf-vram-calc 1.0.9: weights and a fifth, 17.95 GiB for Llama 3 8B, beside its own 64 GiB of cache for 64 x 8,192.
def test_the_cache_of_the_batch_is_in_the_total():
    memory = serving_memory(MODELS["meta-llama/Llama-3.1-8B"], 8192, budget_bytes=80 * GIB, batch=64)
    assert memory.weight_bytes / GIB == pytest.approx(14.96, abs=0.005)
    assert memory.kv_bytes == 64 * GIB
    assert memory.total_bytes >= memory.weight_bytes + memory.kv_bytes


# llm-d-benchmark issue 454: show the equation and the blocks. A block holds 16 tokens of every layer.
def test_blocks_follow_from_the_room_beside_the_weights():
    memory = serving_memory(LLAMA, 1, budget_bytes=0.9 * 80 * GIB, tensor_parallel=4)
    room = float(memory.room_bytes + memory.kv_bytes)
    assert num_blocks(room, 327_680 / 4) == room // (16 * 81_920)


def test_parts_are_those_of_their_own_modules():
    hybrid = MODELS["Qwen/Qwen3.5-27B"]
    memory = serving_memory(hybrid, 8192, budget_bytes=1e11, batch=8, tensor_parallel=4, kv_dtype="fp8")
    assert memory.weight_bytes == stored_weight_bytes(hybrid, 4)
    assert memory.kv_bytes == kv_bytes(hybrid, 8192, batch=8, tensor_parallel=4, kv_dtype="fp8")
    assert memory.state_bytes == state_bytes(hybrid, batch=8, tensor_parallel=4)
    assert memory.total_bytes + memory.room_bytes == pytest.approx(1e11)


def test_index_keys_are_held():
    sparse = MODELS["deepseek-ai/DeepSeek-V3.2"]
    memory = serving_memory(sparse, 8192, budget_bytes=1e11)
    assert memory.kv_bytes == kv_bytes(sparse, 8192, indexer="included") > kv_bytes(sparse, 8192)


def test_the_largest_batch_fits_and_one_more_does_not():
    for name in ("meta-llama/Llama-3.1-70B", "deepseek-ai/DeepSeek-V3", "Qwen/Qwen3.5-27B"):
        shape = {"budget_bytes": 130 * GB, "tensor_parallel": 8, "weight_dtype": "fp8"}
        most = int(most_sequences(serving_memory(MODELS[name], 4096, **shape)))
        assert most > 0
        assert serving_memory(MODELS[name], 4096, batch=most, **shape).fits
        assert not serving_memory(MODELS[name], 4096, batch=most + 1, **shape).fits


def test_without_activations_the_cap_is_the_caches_own():
    memory = serving_memory(LLAMA, 4096, budget_bytes=77 * GB, tensor_parallel=4, chunk_tokens=0)
    free = memory.budget_bytes - memory.weight_bytes
    assert most_sequences(memory) == max_batch(LLAMA, 4096, free_bytes=free, tensor_parallel=4)


def test_a_token_at_work_holds_its_stream_and_the_widest_product():
    # Llama 3.1 70B: 8,192 wide; gate and up make 2 x 28,672 from 8,192; 16 bits each.
    assert activation_bytes_per_token(LLAMA) == 2 * (8192 + 8192 + 2 * 28_672)
    assert activation_bytes_per_token(LLAMA, 8) == 2 * (8192 + 8192 + 2 * 28_672 / 8)
    # Mixtral: each of two experts.
    assert activation_bytes_per_token(MODELS["mistralai/Mixtral-8x7B-v0.1"]) == 2 * (4096 + 2 * (4096 + 2 * 14_336))


# 70B and 32 requests of 4,096 tokens: 183 GB are three GPUs of 80 GB by capacity; 64 heads want four.
def test_capacity_asks_for_three_gpus_and_heads_for_four():
    needed = gpus_needed(LLAMA, 4096, batch=32, gpu_bytes=80 * GB)
    assert (needed.by_capacity, needed.to_run) == (3, 4)


# 175B in 16 bits: 350 GB are five GPUs by capacity; 96 heads could split six ways, a node of eight does not.
def test_gpt_3_needs_five_six_or_eight_gpus():
    gpt_3 = MODELS["openai/gpt-3-175b"]
    by_heads, in_a_node = (gpus_needed(gpt_3, 1, gpu_bytes=80 * GB, degrees=d) for d in (None, (1, 2, 4, 8)))
    assert (by_heads.by_capacity, by_heads.to_run, in_a_node.to_run) == (5, 6, 8)


def test_batch_by_length_gives_a_grid_of_gpus():
    needed = gpus_needed(LLAMA, [1024, 4096, 10**7], batch=np.array([[1], [32], [64]]), gpu_bytes=80 * GB)
    assert needed.to_run.shape == needed.by_capacity.shape == (3, 3)
    assert needed.to_run[1, 0] == 2
    assert needed.to_run[2, 2] == 0, "no degree holds it"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: serving_memory(LLAMA, 1, budget_bytes=1, batch=0), "batch=0 must be a whole number from 1"),
        (lambda: serving_memory(LLAMA, 1, budget_bytes=float("nan")), "budget_bytes=nan must be a finite number"),
        (lambda: serving_memory(LLAMA, 1, budget_bytes=1, chunk_tokens=-1), "chunk_tokens=-1 must be a whole number"),
        (lambda: gpus_needed(LLAMA, 1, gpu_bytes=0), "gpu_bytes=0 must be greater than 0"),
    ],
)
def test_a_bad_input_is_refused_in_words(call, message):
    with pytest.raises(ValueError, match=message):
        call()
