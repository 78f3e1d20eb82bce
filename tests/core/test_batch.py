"""What step 5 shows: sweeps that are their scalars and the report's, the cap by hand, the bends that are printed."""

import numpy as np
import pytest

from core.batch import (
    BATCHES,
    deployment_of,
    fabric_between,
    headline_of,
    most_requests,
    over_batch,
    over_context,
)
from core.hardware import load_accelerators
from core.inference import estimate
from core.kv_cache import kv_bytes, max_batch
from core.model_spec import load_models
from core.presets import load_presets
from core.scenario import MOST_REQUESTS, build, changed, with_model
from core.scenario_link import default_scenario

START = default_scenario()
PRESETS = {name: preset.scenario() for name, preset in load_presets().items()}
EVERY_PRESET = pytest.mark.parametrize("scenario", PRESETS.values(), ids=PRESETS)
GPT3 = PRESETS["gpt3-175b-serving"]


def on(model_id, **values):
    scenario, _ = with_model(START, load_models()[model_id])
    return changed(scenario, **values)


def with_gpu(gpu, **values):
    return build(START.model, load_accelerators()[gpu], START.scale_up, START.scale_out, values)


# The report is another way to the same numbers: scalars, and a module that this one does not import.
@EVERY_PRESET
def test_the_sweep_holds_the_numbers_of_the_report(scenario):
    report, here = estimate(scenario.serving, fabric=fabric_between(scenario)), headline_of(scenario)
    assert here.max_batch == report.max_batch
    assert here.floor_s == pytest.approx(report.decode_floor_s)
    assert here.step_s == pytest.approx(float(report.estimate.sequential_s))
    assert here.most_tokens_per_s == pytest.approx(report.most_tokens_per_s)
    assert here.tokens_per_s == pytest.approx(scenario.serving.batch / here.step_s)
    assert here.room_bytes == pytest.approx(float(report.memory.room_bytes))
    assert (here.fits, here.over_bytes) == (report.fits, max(-here.room_bytes, 0))
    assert over_batch(scenario).step_bends == report.bend_batch


# 2 x 96 layers x 96 heads x 128 x 2 bytes a token, an eighth of the heads on each GPU; fp32 logits of 50,257 words.
# Weights of 349.2 GB over eight, activations of 2,048 tokens at the MLP's widest: 12,288 twice and 49,152 / 8, 16-bit.
def test_the_cap_of_gpt_3_by_hand():
    hbm = GPT3.accelerator.hbm_bytes
    request = 2 * 96 * 96 * 128 * 2 * 2048 / 8 + 50_257 * 4
    memory = deployment_of(GPT3.serving).memory()
    free = 0.9 * hbm - float(memory.weight_bytes) - float(memory.working_bytes)
    assert float(memory.weight_bytes) == pytest.approx(349.2e9 / 8, rel=2e-3)
    assert most_requests(GPT3.serving) == int(free // request) == 27


# The cap of core.kv_cache counts caches and states; logits take 0.3% of a request more.
@EVERY_PRESET
def test_the_cap_is_that_of_the_cache_alone_up_to_the_logits(scenario):
    here, memory = scenario.serving, deployment_of(scenario.serving).memory()
    free = memory.budget_bytes - memory.weight_bytes - memory.working_bytes
    alone = max_batch(
        here.model,
        here.context_len,
        free_bytes=free,
        kv_dtype=here.kv_dtype,
        tensor_parallel=here.serving_tensor_parallel,
        indexer="included",
    )
    assert most_requests(here) <= alone <= 1.01 * most_requests(here) + 1


@EVERY_PRESET
def test_the_cap_is_the_last_batch_that_fits(scenario):
    most = most_requests(scenario.serving)
    for batch, fits in ((max(most, 1), most > 0), (most + 1, False)):
        assert deployment_of(scenario.serving.model_copy(update={"batch": batch})).fits == fits


@EVERY_PRESET
def test_the_own_batch_and_the_cap_are_positions_of_the_slider(scenario):
    sweep = over_batch(scenario)
    assert {*BATCHES, scenario.serving.batch, max(sweep.max_batch, 1)} == set(sweep.batch)
    assert list(sweep.batch) == sorted(sweep.batch)
    assert sweep.step.step_s.shape == (len(sweep.batch),)
    assert sweep.alone.batch == 1


def test_moving_the_slider_computes_nothing_anew():
    moved = changed(START, batch=64)
    assert over_batch(moved) is over_batch(START)
    assert over_context(changed(START, context_len=8192)) is over_context(changed(START, context_len=16_384))


# Dense 16-bit peak over bandwidth: 989.4 / 3.35, 989.4 / 4.8, 312 / 2.039.
@pytest.mark.parametrize(("gpu", "ridge"), [("h100-sxm", 295), ("h200-sxm", 206), ("a100-sxm-80gb", 153)])
def test_matrices_of_a_dense_model_bend_at_the_ridge(gpu, ridge):
    assert over_batch(with_gpu(gpu)).matrices_bend == pytest.approx(ridge, abs=0.6)


# What is shared rises with the batch; what each request brings is flat, and weights meet FLOPs at the bend.
def test_ceilings_rise_or_stay_and_the_floor_stays_below_them_all():
    sweep = over_batch(START)
    batch, ceilings = np.array(sweep.batch), sweep.ceilings
    assert ceilings["weights"] / batch == pytest.approx(ceilings["weights"][0])
    assert ceilings["caches"] == pytest.approx(ceilings["caches"][0])
    assert ceilings["flops"] == pytest.approx(ceilings["flops"][0])
    assert ceilings["flops"][0] / ceilings["weights"][0] == pytest.approx(sweep.matrices_bend)
    lowest = np.min(list(ceilings.values()), axis=0)
    assert np.all(sweep.step.most_tokens_per_s <= lowest)
    assert np.all(sweep.step.tokens_per_s < sweep.step.most_tokens_per_s)


def test_a_whole_step_bends_only_where_the_context_is_short():
    assert np.isinf(over_batch(START).step_bends)
    short = over_batch(changed(START, context_len=512))
    assert short.matrices_bend < short.step_bends < np.inf


def test_without_a_confirmed_peak_there_is_no_bend_and_still_a_step():
    sweep = over_batch(with_gpu("apple-m4-max", serving_tensor_parallel=1))
    assert np.isnan(sweep.matrices_bend)
    assert np.isnan(sweep.step_bends)
    assert np.all(np.isfinite(sweep.step.step_s))


def test_throughput_never_falls_and_latency_never_shrinks_with_the_batch():
    step = over_batch(START).step
    assert np.all(np.diff(step.most_tokens_per_s) > 0)
    assert np.all(np.diff(step.step_s) > 0)


@EVERY_PRESET
def test_the_own_context_is_a_position_with_the_own_numbers(scenario):
    sweep, here = over_context(scenario), scenario.serving
    at = sweep.context_len.index(here.context_len)
    memory = deployment_of(here).memory()
    assert float(sweep.memory.kv_bytes[at]) == pytest.approx(float(memory.kv_bytes))
    assert int(sweep.max_batch[at]) == most_requests(here)
    assert sweep.context_len[-1] >= 2 * here.context_len
    assert len(sweep.context_len) in (64, 65)


def test_the_cache_grows_by_what_the_next_token_adds():
    sweep = over_context(START)
    kv = sweep.memory.kv_bytes
    per_token = 32 * 2 * 80 * 8 * 128 * 2 / 8  # requests, keys and values, layers, heads, channels, bytes, GPUs
    assert sweep.token_bytes == pytest.approx(np.full(len(sweep.context_len), per_token))
    assert np.diff(kv) / np.diff(sweep.context_len) == pytest.approx(per_token)
    assert not sweep.reserves_more


# Gemma 3: five of six layers see 1,024 tokens, so they stop growing; reserving for every layer does not.
def test_windows_stop_growing_and_reservations_do_not():
    gemma = on("google/gemma-3-27b-pt")
    sweep = over_context(gemma)
    assert sweep.reserves_more
    assert sweep.token_bytes[-1] < 0.2 * sweep.token_bytes[0]
    tokens = sweep.context_len[-1]
    full = kv_bytes(gemma.model, tokens, batch=32, reservation="uniform", page_tokens=16, tensor_parallel=8)
    assert float(sweep.uniform_kv_bytes[-1]) == pytest.approx(float(full))


def test_a_difference_from_pinned_numbers():
    before, after = (headline_of(changed(START, batch=batch)) for batch in (32, 400))
    difference = after.against(before)
    assert difference.tokens == pytest.approx(after.tokens_per_s / before.tokens_per_s - 1)
    assert difference.step > 0
    assert difference.max_batch == 0
    assert (difference.fitted, after.fits) == (True, False)


# The 550 GB of an M3 Ultra hold millions of GPT-2's one-token requests, a card edited by hand 10^10.
@pytest.mark.parametrize("hbm_bytes", [549_755_813_888, 10**18])
def test_every_position_of_the_slider_is_a_batch_that_a_scenario_may_hold(hbm_bytes):
    gpt2 = on("openai-community/gpt2", context_len=1, serving_tensor_parallel=1)
    gpu = gpt2.accelerator.edited(hbm_bytes=hbm_bytes)
    roomy = build(gpt2.model, gpu, gpt2.scale_up, gpt2.scale_out, {"context_len": 1, "serving_tensor_parallel": 1})
    assert most_requests(roomy.serving) > MOST_REQUESTS
    sweep = over_batch(roomy)
    assert sweep.batch[-1] == MOST_REQUESTS
    assert changed(roomy, batch=sweep.batch[-1]).serving.batch == MOST_REQUESTS
