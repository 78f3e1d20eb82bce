"""Steps predicted from measured kernels: sums of what was measured, floors beside, and what was not measured said."""

import json
from pathlib import Path

import numpy as np
import pytest

from core.hardware import load_accelerators
from core.measured_estimate import measured_decode, measured_prefill, measured_serving_step
from core.measured_profile import ExpertShape, Profile, load_profile
from core.measured_step import MATRICES, MESSAGES
from core.model_spec import load_models
from core.serving import decode_estimate_s, decode_floor_s, prefill_estimate_s, prefill_floor_s
from core.serving_step import serving_step
from core.units import MILLISECOND

MODELS = load_models()
QWEN = MODELS["Qwen/Qwen3-8B"]
LLAMA = MODELS["meta-llama/Llama-3.1-70B"]
H200 = load_profile("h200-sxm")
MEASURED = json.loads((Path(__file__).parents[1] / "data/measured_decode.json").read_text())["rows"]


def kernels_over_measured(row):
    """Layers' products and attention, over the sum of the same kernels as published."""
    step = measured_decode(
        load_profile(row["accelerator"]), QWEN, np.array(row["context"]) + 1, batch=np.array(row["batch"])
    )
    kernels = sum(
        part.seconds for part in step.parts if part.kind in ("matrices", "attention") and part.label != "output head"
    )
    return kernels / MILLISECOND / np.array(row["milliseconds"])


# These sums are of cells that the profiles hold, so they judge the adding up and the mending, and no prediction.
@pytest.mark.parametrize("row", MEASURED, ids=lambda row: row["accelerator"])
def test_the_layers_of_qwen3_8b_add_up_to_the_measured_kernels(row):
    assert kernels_over_measured(row) == pytest.approx(1.0, abs=0.125)


def test_half_of_the_sums_come_within_two_percent():
    off = np.abs(np.concatenate([kernels_over_measured(row) for row in MEASURED]) - 1)
    assert np.median(off) < 0.02
    assert np.quantile(off, 0.9) < 0.09


@pytest.mark.parametrize(
    "name", ["meta-llama/Llama-3.1-70B", "Qwen/Qwen3-8B", "deepseek-ai/DeepSeek-V3", "openai/gpt-oss-120b"]
)
@pytest.mark.parametrize("gpus", [1, 4, 8])
def test_a_step_lies_above_its_floor_and_near_the_stated_estimate(name, gpus):
    model, batch, context = MODELS[name], np.array([1, 8, 64]), 4096
    step = measured_decode(H200, model, context, batch=batch, tensor_parallel=gpus)
    chip = H200.accelerator
    floor = decode_floor_s(model, chip, context, batch=batch, tensor_parallel=gpus)
    stated = decode_estimate_s(model, chip, context, batch=batch, tensor_parallel=gpus)
    assert step.floor_s == pytest.approx(floor)
    assert np.all(step.step_s > floor)
    assert np.all(step.step_s / stated < 1.7)
    assert np.all(step.step_s / stated > 0.7)


@pytest.mark.parametrize("name", ["meta-llama/Llama-3.1-70B", "Qwen/Qwen3-8B"])
def test_prefill_lies_above_its_floor_and_near_the_stated_estimate(name):
    model, prompt = MODELS[name], np.array([512, 4096, 16384])
    step = measured_prefill(H200, model, prompt)
    assert np.all(step.step_s > prefill_floor_s(model, H200.accelerator, prompt))
    assert step.step_s / prefill_estimate_s(model, H200.accelerator, prompt) == pytest.approx(1.1, abs=0.2)


def test_parts_add_up_to_the_step_and_each_says_what_it_rests_on():
    step = measured_decode(H200, LLAMA, 8192, batch=[1, 32], tensor_parallel=8)
    assert step.step_s == pytest.approx(sum(part.seconds for part in step.parts))
    assert step.share("measured") + step.share("continued") + step.share("stated") == pytest.approx(1)
    assert np.all(step.share("measured") > 0.9)
    assert step.citation == H200.citation
    assert {part.kind for part in step.parts if part.basis == "stated"} == {"between"}


def test_all_reduces_are_the_measured_ones():
    step = measured_decode(H200, LLAMA, 8192, batch=32, tensor_parallel=8)
    # 80 layers, two each, and the embedding's: of 32 tokens with 8,192 channels in 16 bits.
    one = H200.collective_s("all_reduce", 32 * 8192 * 2, 8).seconds
    assert step.of_kind(MESSAGES) == pytest.approx(161 * one)
    assert measured_decode(H200, LLAMA, 8192, tensor_parallel=1).of_kind(MESSAGES) == 0


def test_where_a_group_was_not_measured_the_model_of_links_stands_in_and_says_so():
    step = measured_decode(load_profile("gb200"), LLAMA, 8192, tensor_parallel=8)
    assert "All-reduces among 8 GPUs were not measured." in step.notes
    assert step.of_kind(MESSAGES) > 0


def test_a_wide_head_is_continued_and_said():
    step = measured_decode(H200, QWEN, 1024)
    head = next(part for part in step.parts if part.label == "output head")
    assert head.basis == "continued"
    assert any("151,936" in note for note in step.notes)


def test_latent_attention_and_experts_say_that_they_were_not_measured():
    step = measured_decode(H200, MODELS["deepseek-ai/DeepSeek-V3"], 8192, batch=32, tensor_parallel=8)
    assert "Latent attention was not measured." in step.notes
    assert any("experts" in note for note in step.notes)
    basis = {part.label: part.basis for part in step.parts}
    assert basis["latent attention"] == "stated"
    assert basis["expert down projection"] == "continued"


def test_measured_experts_stand_for_both_products_and_the_sorting():
    model = MODELS["Qwen/Qwen3-30B-A3B"]
    step = measured_decode(H200, model, 4096, batch=[1, 32])
    parts = {part.label: part for part in step.parts}
    one = H200.experts_s(ExpertShape("bf16", 2048, 768, 128, 8, 1), [1, 32])
    assert parts["routed experts"].seconds == pytest.approx(48 * one.seconds)
    assert parts["routed experts"].basis == "measured"
    assert any("power_law_1.01" in note for note in step.notes)
    assert not {"expert down projection", "routing and permutation"} & set(parts)
    narrow = measured_decode(H200, MODELS["openai/gpt-oss-120b"], 4096, expert_dtype="mxfp4")
    assert "routed experts" in {part.label for part in narrow.parts}


def test_formats_without_a_table_run_at_stated_efficiencies():
    step = measured_decode(H200, QWEN, 1024, weight_dtype="int4-g128")
    stated = [part for part in step.parts if part.kind == MATRICES and part.basis == "stated"]
    assert {part.label for part in stated} >= {"query, key and value projections", "MLP down projection"}
    assert "Products in int4-g128 were not measured." in step.notes


def test_fp8_weights_halve_the_products_of_a_single_sequence():
    sixteen, eight = (measured_decode(H200, LLAMA, 1024, weight_dtype=dtype) for dtype in ("bf16", "fp8"))
    assert eight.of_kind(MATRICES) / sixteen.of_kind(MATRICES) == pytest.approx(0.55, abs=0.05)


def test_windows_read_no_more_than_they_hold():
    model = MODELS["openai/gpt-oss-120b"]
    short, long = (measured_decode(H200, model, context) for context in (1024, 131_072))
    windowed = [
        next(part.seconds for part in step.parts if part.label == "windowed attention") for step in (short, long)
    ]
    assert windowed[0] == windowed[1]
    assert "A window is read as a cache of its length." in long.notes
    prefill = measured_prefill(H200, model, 16_384)
    parts = {part.label: part.seconds for part in prefill.parts}
    assert parts["windowed attention"] < 0.05 * parts["attention"]


def test_launched_one_by_one_a_small_step_waits_for_its_launches():
    graph, eager = (measured_decode(H200, QWEN, 1024, eager=way) for way in (False, True))
    assert eager.step_s == pytest.approx(graph.step_s + eager.of_kind("launches"))
    small = MODELS["Qwen/Qwen3-0.6B"]
    assert measured_decode(H200, small, 128, eager=True).step_s > 1.2 * measured_decode(H200, small, 128).step_s
    assert measured_decode(H200, LLAMA, 8192, batch=64, eager=True).of_kind("launches") == 0


def test_as_every_page_takes_it_the_sum_and_the_limits_stay():
    step = measured_decode(H200, LLAMA, 8192, batch=[1, 32, 512], tensor_parallel=4)
    time = step.time
    assert time.sequential_s == pytest.approx(step.step_s)
    # The longer limit of each kind has the whole time: weights at one sequence, products at 512.
    assert time.weight_s[0] == pytest.approx(step.of_kind(MATRICES)[0])
    assert time.matmul_s[2] == pytest.approx(step.of_kind(MATRICES)[2])
    assert time.weight_s / time.matmul_s == pytest.approx(step.floor.weight_s / step.floor.matmul_s)


def test_a_serving_step_keeps_memory_and_floor_and_takes_the_estimate():
    chip = H200.accelerator
    plain = serving_step(LLAMA, chip, 8192, batch=[1, 32], tensor_parallel=4)
    measured = measured_serving_step(H200, LLAMA, 8192, batch=[1, 32], tensor_parallel=4)
    assert measured.floor_s == pytest.approx(plain.floor_s)
    assert measured.memory.total_bytes == pytest.approx(plain.memory.total_bytes)
    assert measured.step_s == pytest.approx(measured_decode(H200, LLAMA, 8192, batch=[1, 32], tensor_parallel=4).step_s)
    assert measured.limit.tolist() == ["bandwidth", "bandwidth"]


def test_batch_and_length_broadcast_and_a_step_rises_with_both():
    batch, length = np.array([1, 4, 16, 64])[:, None], np.array([128, 1024, 8192])
    seconds = measured_decode(H200, LLAMA, length, batch=batch, tensor_parallel=4).step_s
    assert seconds.shape == (4, 3)
    assert np.all(np.diff(seconds, axis=0) > -1e-9)
    assert np.all(np.diff(seconds, axis=1) > -1e-9)
    assert seconds[2, 1] == pytest.approx(measured_decode(H200, LLAMA, 1024, batch=16, tensor_parallel=4).step_s)


def test_a_system_that_the_catalog_does_not_have_needs_a_datasheet_beside_it():
    unknown = Profile(H200.file.model_copy(update={"accelerator": None}))
    with pytest.raises(ValueError, match="choose the one whose datasheet"):
        measured_decode(unknown, QWEN, 1024)
    chip = load_accelerators()["h200-sxm"]
    assert measured_decode(unknown, QWEN, 1024, accelerator=chip).step_s == measured_decode(H200, QWEN, 1024).step_s


def test_layers_leave_out_what_stands_before_and_behind_them():
    step = measured_decode(H200, QWEN, 1024)
    outside = sum(p.seconds for p in step.parts if p.label in ("embedding", "final norm", "output head"))
    assert step.layers_s == pytest.approx(step.step_s - outside)


@pytest.mark.parametrize("name", sorted(MODELS))
def test_every_model_of_the_catalog_gets_an_estimate(name):
    for step in (measured_decode(H200, MODELS[name], 2048, batch=4), measured_prefill(H200, MODELS[name], 2048)):
        assert np.isfinite(step.step_s)
        # The floor takes even routing; the measured experts' was skewed, so that small batches hit fewer of them.
        assert step.step_s > step.floor_s * 0.95


def of(step, kind):
    return {part.label: part for part in step.parts if part.kind == kind}


def test_one_token_and_no_known_prefix_are_the_plain_passes():
    plain = measured_decode(H200, LLAMA, 8192, batch=[1, 32], tensor_parallel=8)
    checked = measured_decode(H200, LLAMA, 8192, batch=[1, 32], tensor_parallel=8, tokens_per_sequence=1)
    assert checked.parts[0].seconds.tolist() == plain.parts[0].seconds.tolist()
    assert checked.step_s.tolist() == plain.step_s.tolist()
    prompt = measured_prefill(H200, LLAMA, 4096, tensor_parallel=8)
    assert measured_prefill(H200, LLAMA, 4096, tensor_parallel=8, cached_tokens=0).step_s == prompt.step_s


def test_a_checking_pass_multiplies_all_its_tokens_and_reads_the_cache_once():
    """Four tokens of each of eight sequences: the products of 32 sequences, the attention of eight."""
    four = measured_decode(H200, LLAMA, 8192, batch=8, tensor_parallel=8, tokens_per_sequence=4)
    eight, many = (measured_decode(H200, LLAMA, 8192, batch=batch, tensor_parallel=8) for batch in (8, 32))
    assert four.of_kind(MATRICES) == pytest.approx(many.of_kind(MATRICES))
    assert four.of_kind(MESSAGES) == pytest.approx(many.of_kind(MESSAGES))
    assert four.of_kind("attention") == pytest.approx(eight.of_kind("attention"))  # memory's time at either
    assert eight.step_s < four.step_s < many.step_s
    # At 64 tokens for 64 query heads over 8 the scores are the limit, and attention pays for them.
    wide = measured_decode(H200, LLAMA, 8192, batch=8, tensor_parallel=8, tokens_per_sequence=64)
    assert wide.of_kind("attention") > 1.5 * eight.of_kind("attention")
    assert of(wide, "attention")["attention"].basis == "continued"
    assert any("in proportion to their floors" in note for note in wide.notes)


def test_what_a_prefix_cache_holds_is_not_multiplied_again():
    whole, rest = (measured_prefill(H200, LLAMA, 8192, tensor_parallel=8, cached_tokens=c) for c in (0, 4096))
    half = measured_prefill(H200, LLAMA, 4096, tensor_parallel=8)
    assert rest.of_kind(MATRICES) == pytest.approx(half.of_kind(MATRICES))
    assert rest.of_kind(MESSAGES) == pytest.approx(half.of_kind(MESSAGES))
    # Of 8,192^2 / 2 pairs the first half of the prompt has a quarter.
    assert rest.of_kind("attention") == pytest.approx(0.75 * whole.of_kind("attention"), rel=1e-3)


def test_cached_latents_are_expanded_again():
    model = MODELS["deepseek-ai/DeepSeek-V3"]
    whole, rest = (measured_prefill(H200, model, 8192, tensor_parallel=8, cached_tokens=c) for c in (0, 4096))
    label = "keys and values from the latent"
    assert of(rest, MATRICES)[label].seconds == of(whole, MATRICES)[label].seconds
    other = "query and key/value latents"  # meets the new tokens alone
    assert of(rest, MATRICES)[other].seconds < 0.6 * of(whole, MATRICES)[other].seconds
