"""Rates and efficiencies: floors below estimates, and estimates held to measured kernels of ten systems."""

import json
from dataclasses import replace

import numpy as np
import pytest

from core.hardware import load_accelerators
from core.model_spec import load_models
from core.serving_rates import (
    EFFICIENCIES,
    IDEAL,
    estimated_time,
    floor_time,
    multiply_dtype,
    multiply_flops_per_s,
    step_time,
)
from core.serving_work import decode_work, prefill_work
from core.units import MILLISECOND
from tests.published_serving import DATA

ACCELERATORS = load_accelerators()
H100 = ACCELERATORS["h100-sxm"]
MODELS = load_models()
LLAMA = MODELS["meta-llama/Llama-3.1-70B"]
MEASURED = json.loads((DATA / "measured_decode.json").read_text())["rows"]
# The kernels that were measured: no logits, no norms.
KERNELS_ALONE = replace(EFFICIENCIES, small_kernels_per_layer=0)
QWEN_LAYERS = MODELS["Qwen/Qwen3-8B"].model_copy(update={"vocab_size": 1})


def ratios(row, *, floor=False):
    """Estimate (or floor) over measured, for each batch and context."""
    accelerator, measured = ACCELERATORS[row["accelerator"]], np.array(row["milliseconds"])
    work = decode_work(QWEN_LAYERS, np.array(row["context"]) + 1, batch=row["batch"])
    if floor:
        return floor_time(work, accelerator).overlapped_s / MILLISECOND / measured
    return estimated_time(work, accelerator, 1, efficiencies=KERNELS_ALONE).sequential_s / MILLISECOND / measured


# A100 reaches a smaller share of its bandwidth; RTX PRO 6000 keeps part of the cache in 128 MB of L2.
@pytest.mark.parametrize("row", MEASURED, ids=[row["accelerator"] for row in MEASURED])
def test_estimates_come_within_a_quarter_of_measured_kernels(row):
    assert ratios(row) == pytest.approx(1.0, abs=0.25)


def test_half_of_the_estimates_come_within_six_percent():
    errors = np.concatenate([np.abs(ratios(row) - 1) for row in MEASURED])
    floors = np.concatenate([np.abs(ratios(row, floor=True) - 1) for row in MEASURED])
    assert np.median(errors) < 0.06
    assert np.quantile(errors, 0.9) < 0.17
    assert np.median(floors) > 0.2, "a floor is no estimate"


@pytest.mark.parametrize(
    "row", [row for row in MEASURED if row["accelerator"] != "rtx-pro-6000-server"], ids=lambda row: row["accelerator"]
)
def test_no_measured_kernel_beats_the_floor(row):
    assert np.all(ratios(row, floor=True) <= 1)


def test_a_floor_overlaps_and_an_estimate_adds():
    work = decode_work(LLAMA, 4096, batch=[1, 32, 512], tensor_parallel=4)
    floor, estimate = floor_time(work, H100), estimated_time(work, H100, 4)
    assert np.all(floor.overlapped_s < estimate.sequential_s)
    assert floor.overlapped_s == pytest.approx(np.maximum(floor.bandwidth_s, floor.compute_s))
    assert floor.communication_s == floor.overhead_s == 0
    assert estimate.sequential_s == pytest.approx(
        np.maximum(estimate.weight_s, estimate.matmul_s)
        + np.maximum(estimate.kv_s, estimate.attention_s)
        + estimate.communication_s
        + estimate.overhead_s
    )


def test_ideal_efficiencies_give_datasheet_rates():
    work = decode_work(LLAMA, 4096)
    time = step_time(work, H100, efficiencies=IDEAL)
    assert time.bandwidth_s == pytest.approx(work.moved_bytes / 3.35e12)
    assert time.compute_s == pytest.approx(work.flops / 989.4e12)


def test_each_efficiency_slows_its_own_part():
    work = prefill_work(LLAMA, 4096)
    plain = step_time(work, H100, efficiencies=IDEAL)
    for field, part in {
        "weight_bandwidth": "weight_s",
        "kv_bandwidth": "kv_s",
        "matmul_compute": "matmul_s",
        "attention_compute": "attention_s",
    }.items():
        slowed = step_time(work, H100, efficiencies=replace(IDEAL, **{field: 0.5}))
        assert getattr(slowed, part) == 2 * getattr(plain, part)


def test_every_kernel_and_the_host_take_their_start():
    work = decode_work(LLAMA, 4096)
    starts = replace(IDEAL, matmul_start_s=1e-6, attention_start_s=1e-3, small_kernel_s=1.0, small_kernels_per_layer=5)
    assert step_time(work, H100, efficiencies=replace(starts, host_s=1000.0)).overhead_s == pytest.approx(
        321e-6 + 80e-3 + 400 + 1000
    )


@pytest.mark.parametrize(
    ("accelerator", "stored", "multiplied"),
    [
        ("h100-sxm", "bf16", "bf16"),
        ("h100-sxm", "fp8", "fp8"),
        ("h100-sxm", "mxfp4", "bf16"),  # no 4-bit units: widened first
        ("b200-sxm", "mxfp4", "fp4"),
        ("b200-sxm", "int4-g128", "bf16"),  # a format for storage alone
        ("a100-sxm-80gb", "fp8", "bf16"),
        ("a100-sxm-80gb", "int8", "int8"),
        ("a100-sxm-80gb", "fp32", "tf32"),
        ("t4", "bf16", "fp16"),
        ("apple-m2-ultra", "bf16", None),
    ],
)
def test_weights_are_multiplied_in_the_format_that_the_units_have(accelerator, stored, multiplied):
    assert multiply_dtype(ACCELERATORS[accelerator], stored) == multiplied


def test_narrow_weights_multiply_at_their_own_rate():
    assert multiply_flops_per_s(H100, "fp8") == 1978.9e12
    eight, sixteen = (
        floor_time(prefill_work(LLAMA, 4096, weight_dtype=dtype), H100).matmul_s for dtype in ("fp8", "bf16")
    )
    assert eight / sixteen == pytest.approx(0.5, abs=0.001)  # the head's one row stays in 16 bits


def test_without_a_confirmed_peak_memory_alone_sets_the_floor():
    time = floor_time(decode_work(LLAMA, 4096), ACCELERATORS["apple-m2-ultra"])
    assert np.isnan(time.compute_s)
    assert time.overlapped_s == time.bandwidth_s
