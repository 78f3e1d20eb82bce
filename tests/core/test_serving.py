"""Floors and estimates of prefill and decode against printed times and against each other."""

import numpy as np
import pytest

from core.hardware import load_accelerators
from core.kv_cache import kv_bytes
from core.model_spec import load_models
from core.params import count_params
from core.precision import weight_bytes
from core.roofline import time_floor_s
from core.serving import (
    Fabric,
    decode_estimate_s,
    decode_floor_s,
    fabric_of,
    prefill_estimate_s,
    prefill_floor_s,
    speculative_speedup,
    verify_cost,
)
from core.units import GB, MILLISECOND
from tests.published import as_printed
from tests.published_serving import serving_rows

ACCELERATORS, MODELS = load_accelerators(), load_models()
H100 = ACCELERATORS["h100-sxm"]
LLAMA = MODELS["meta-llama/Llama-3.1-70B"]
PALM = MODELS["google/palm-540b"]


@serving_rows("step_floor")
def test_matches_printed_floors(row):
    assert read_s(**row["inputs"]) / MILLISECOND == as_printed(row)


def read_s(num_bytes, bytes_per_s):
    """The whiteboard's floor: bytes over the bandwidth of all chips."""
    return time_floor_s(0, num_bytes, peak_flops_per_s=1, bytes_per_s=bytes_per_s)


def test_the_floor_of_the_seed_question_on_four_h100():
    # (139.0 + 42.95) GB over 13.4 TB/s; each of the four reads the norms.
    assert decode_floor_s(LLAMA, H100, 4096, batch=32, tensor_parallel=4) == pytest.approx(
        (139.006 * GB + 42.950 * GB) / 13.4e12, rel=1e-4
    )


# Pope et al. 2022, arXiv:2211.05102: PaLM 540B in int8 on 64 TPU v4, batch 64 after 2,048 tokens: 28.5 ms a token, a
# quarter of the bandwidth. Its one KV head is spread by batch, so that each chip holds 1/64 of the cache.
def test_the_measured_step_of_palm_lies_within_one_to_four_floors():
    read = weight_bytes(PALM, "int8", keep_16bit=()) + kv_bytes(PALM, 2112, batch=64)
    floor = read_s(read, bytes_per_s=64 * ACCELERATORS["tpu-v4"].hbm_bytes_per_s)
    assert floor / MILLISECOND == pytest.approx(7.2, abs=0.1)
    assert 1.3 < 28.5 * MILLISECOND / floor < 4.0


def test_one_kv_head_is_copied_to_every_gpu_under_tensor_parallelism():
    # The same deployment without batch-sharding: each of 64 chips reads the whole cache, and the floor triples.
    floor = decode_floor_s(
        PALM, ACCELERATORS["tpu-v4"], 2112, batch=64, tensor_parallel=64, weight_dtype="int8", keep_16bit=()
    )
    assert floor / MILLISECOND == pytest.approx(21.8, abs=0.1)


# The same table: prefill of 2,048 tokens in 0.29 s.
def test_the_measured_prefill_of_palm_lies_above_its_floor():
    assert prefill_floor_s(PALM, ACCELERATORS["tpu-v4"], 2048, tensor_parallel=64) < 0.29


def test_a_short_prompt_waits_for_weights_and_a_long_one_for_compute():
    short, long = prefill_floor_s(LLAMA, H100, [16, 4096], tensor_parallel=4)
    assert short == pytest.approx(139 * GB / 13.4e12, rel=1e-3)
    count = count_params(LLAMA)
    matrices = 2 * (count.active - count.lm_head) * 4096 / (4 * 989.4e12)
    assert matrices < long < 1.06 * matrices  # causal attention adds 4%


def test_estimates_lie_above_floors_everywhere():
    batch, gpus = np.array([1, 8, 64, 512])[:, None], np.array([4, 8, 16])
    for name in ("meta-llama/Llama-3.1-70B", "deepseek-ai/DeepSeek-V3", "Qwen/Qwen3.5-27B"):
        shape = {"batch": batch, "tensor_parallel": gpus}
        assert np.all(
            decode_floor_s(MODELS[name], H100, 8192, **shape) < decode_estimate_s(MODELS[name], H100, 8192, **shape)
        )
        assert np.all(
            prefill_floor_s(MODELS[name], H100, 8192, **shape) < prefill_estimate_s(MODELS[name], H100, 8192, **shape)
        )


def test_a_slower_link_slows_the_estimate_and_not_the_floor():
    pcie = fabric_of(ACCELERATORS["h100-pcie"])
    shape = {"batch": 32, "tensor_parallel": 8}
    assert decode_estimate_s(LLAMA, H100, 4096, fabric=pcie, **shape) > 1.2 * decode_estimate_s(
        LLAMA, H100, 4096, **shape
    )
    assert np.isnan(decode_estimate_s(LLAMA, H100, 4096, fabric=Fabric(None), **shape))


def test_eight_bit_caches_hardly_help_a_single_short_request():
    floors = [decode_floor_s(LLAMA, H100, 4096, tensor_parallel=4, kv_dtype=dtype) for dtype in ("bf16", "fp8")]
    assert 1 - floors[1] / floors[0] < 0.005


def test_checking_a_draft_is_free_until_compute_binds():
    costs = verify_cost(LLAMA, H100, 512, 4, batch=[1, 32, 2000], tensor_parallel=8)
    assert costs[:2] == pytest.approx([1, 1])
    assert costs[2] == pytest.approx(5)
    gains = speculative_speedup(0.8, 4, draft_cost=0.05, verify_cost=costs)
    assert gains[0] == pytest.approx(2.80, abs=0.005)
    assert gains[2] < 1


def test_a_draft_hits_more_experts():
    assert verify_cost(MODELS["openai/gpt-oss-120b"], H100, 512, 4) > 2


def test_without_a_confirmed_peak_prefill_has_no_time():
    apple = ACCELERATORS["apple-m2-ultra"]
    assert np.isnan(prefill_floor_s(LLAMA, apple, 4096))
    assert np.isnan(prefill_estimate_s(LLAMA, apple, 4096))
    assert decode_floor_s(LLAMA, apple, 4096) == pytest.approx(140.35 * GB / 800e9, rel=1e-3)


def test_batch_by_context_by_gpus_is_one_call():
    floors = decode_floor_s(
        LLAMA,
        H100,
        np.arange(1, 6)[:, None, None] * 1000,
        batch=np.arange(1, 4)[:, None],
        tensor_parallel=np.array([1, 2, 4, 8]),
    )
    assert floors.shape == (5, 3, 4)
    assert floors[2, 1, 3] == decode_floor_s(LLAMA, H100, 3000, batch=2, tensor_parallel=8)
