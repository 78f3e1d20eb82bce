"""The batch at which decode turns compute-bound, against ridge points and a search over batches."""

import numpy as np
import pytest

from core.bend import bend_batch
from core.hardware import load_accelerators
from core.model_spec import load_models
from core.roofline import ridge_point
from core.serving_rates import floor_time
from core.serving_work import decode_work

ACCELERATORS, MODELS = load_accelerators(), load_models()
H100 = ACCELERATORS["h100-sxm"]
LLAMA = MODELS["meta-llama/Llama-3.1-70B"]


# Decode matrices turn compute-bound near a batch of the ridge: 295 on H100, 153 on A100, 206 on H200.
@pytest.mark.parametrize(("accelerator", "batch"), [("h100-sxm", 295), ("a100-sxm-80gb", 153), ("h200-sxm", 206)])
def test_dense_16_bit_weights_bend_at_the_ridge(accelerator, batch):
    card = ACCELERATORS[accelerator]
    bend = bend_batch(LLAMA, card)
    assert bend == pytest.approx(batch, abs=0.5)
    assert bend == pytest.approx(ridge_point(card, "bf16"), rel=2e-4)  # norms are read and never multiplied


def test_experts_bend_at_about_e_over_k_times_the_ridge():
    mixtral = MODELS["mistralai/Mixtral-8x7B-v0.1"]  # 8 experts, of which 2; attention is dense
    assert 0.85 < bend_batch(mixtral, H100) / (ridge_point(H100, "bf16") * 8 / 2) < 1
    latents = MODELS["deepseek-ai/DeepSeek-V3"]  # 256, of which 8, and one shared
    assert 0.5 < bend_batch(latents, H100) / (ridge_point(H100, "bf16") * 256 / 8) < 1


def test_storage_in_4_bits_bends_at_a_quarter():
    kept = {"keep_16bit": ()}
    quarter = bend_batch(LLAMA, H100, weight_dtype="int4", **kept) / bend_batch(LLAMA, H100)
    assert quarter == pytest.approx(0.25, rel=0.001)
    assert bend_batch(LLAMA, H100, weight_dtype="fp8", **kept) == pytest.approx(bend_batch(LLAMA, H100), rel=0.001)


def test_caches_move_the_bend_up_until_there_is_none():
    bends = bend_batch(LLAMA, H100, [1, 512, 1024, 4096])
    assert np.all(np.diff(bends[:3]) > 0)
    assert bends[3] == np.inf, "4,096 tokens of cache take longer to read than a token's FLOPs"


@pytest.mark.parametrize("name", ["meta-llama/Llama-3.1-70B", "mistralai/Mixtral-8x7B-v0.1"])
def test_agrees_with_a_search_over_batches(name):
    model, batches = MODELS[name], np.arange(1, 20_000)
    time = floor_time(decode_work(model, 512, batch=batches), H100)
    first = batches[time.compute_s > time.bandwidth_s][0]
    assert first - 1 < bend_batch(model, H100, 512) <= first


def test_lengths_by_gpus_give_a_grid_and_an_unknown_peak_no_bend():
    assert bend_batch(LLAMA, H100, np.array([100, 200])[:, None], tensor_parallel=np.array([1, 2, 8])).shape == (2, 3)
    assert np.isnan(bend_batch(LLAMA, ACCELERATORS["apple-m2-ultra"], 100))
