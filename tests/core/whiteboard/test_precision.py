"""Precision on the whiteboard, held to printed numbers, to NumPy's arithmetic and to sums worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from core.whiteboard import precision


@pytest.mark.parametrize(("gradient", "exponent"), [(0.5, 16), (2.0, 14), (8.0, 12)])
def test_the_largest_scale_stays_finite_in_numpys_fp16_and_the_next_one_does_not(gradient, exponent):
    assert precision.largest_loss_scale_exponent(gradient) == exponent
    with np.errstate(over="ignore"):
        assert np.isfinite(np.float16(gradient * 2.0**exponent))
        assert np.isinf(np.float16(gradient * 2.0 ** (exponent + 1)))


@pytest.mark.parametrize(("gradient", "exponent"), [(1e-7, 10), (1e-8, 13), (3e-6, 5)])
def test_the_smallest_scale_makes_a_normal_number_and_the_one_before_does_not(gradient, exponent):
    assert precision.smallest_loss_scale_exponent(gradient) == exponent
    normal = float(np.finfo(np.float16).smallest_normal)
    assert gradient * 2.0**exponent >= normal > gradient * 2.0 ** (exponent - 1)


def test_a_gradient_of_1e_minus_8_is_zero_in_fp16_and_99_powers_above_the_floor_of_bf16():
    assert np.float16(1e-8) == 0
    assert precision.powers_above_bf16_floor(1e-8) == pytest.approx(126 - 26.575, abs=1e-3)


def test_fp8_multipliers_by_hand():
    # Micikevicius et al. 2022, arXiv:2209.05433, table 1: 448 and 57,344.
    assert precision.e4m3_multiplier(12.0) == pytest.approx(37.333, rel=1e-4)
    assert precision.e5m2_multiplier(12.0) == pytest.approx(4778.67, rel=1e-5)


# 4.5 bits: NVIDIA, Introducing NVFP4 (2025); 4.25: OCP MX 1.0; 4.127: QLoRA, arXiv:2305.14314, section 3.
@pytest.mark.parametrize(
    ("element", "scale", "block", "bits"),
    [(4, 8, 16, 4.5), (4, 8, 32, 4.25), (4, 8 + 32 / 256, 64, 4.127), (3, 8, 64, 3.125)],
)
def test_bits_of_an_element_as_printed(element, scale, block, bits):
    assert 8 * precision.stored_element_bytes(element / 8, scale / 8, block) == pytest.approx(bits, abs=5e-4)


def test_70b_weights_at_four_bits_are_more_than_35_gb():
    assert precision.quantized_weight_bytes(70e9, 0.5, 2, 128) == pytest.approx(36.09375e9)
    assert precision.quantized_weight_bytes(70e9, 0.5, 1, 32) == pytest.approx(37.1875e9)
    assert precision.quantized_weight_bytes(70e9, 0.5, 0, 32) == pytest.approx(35e9)


def test_the_int8_grid_ends_at_the_largest_value():
    step = precision.int8_step(6.0)
    assert 127 * step == pytest.approx(6.0)
    assert step == pytest.approx(0.047244, rel=1e-4)


def test_rounding_noise_measured_on_random_numbers():
    values = np.random.default_rng(0).uniform(-6.0, 6.0, 200_000)
    step = precision.int8_step(6.0)
    error = np.round(values / step) * step - values
    assert float(np.sqrt(np.mean(error**2))) == pytest.approx(precision.int8_rounding_rms(6.0), rel=5e-3)


def rounded_to_bf16(value: float) -> float:
    """To the nearest even, on the bits of an FP32 number (arXiv:1905.12322, section 2, names the rounding)."""
    bits = int(np.float32(value).view(np.uint32))
    bits += 0x7FFF + ((bits >> 16) & 1)
    return float(np.uint32(bits & 0xFFFF0000).view(np.float32))


@pytest.mark.parametrize("weight", [1.0, 2.0, 4.0])
def test_the_increase_is_lost_and_a_little_more_is_not(weight):
    increase = precision.bf16_lost_increase(weight)
    assert increase == weight / 256
    assert rounded_to_bf16(weight + increase) == weight
    assert rounded_to_bf16(weight + 1.01 * increase) == weight * (1 + 1 / 128)


def test_a_step_that_is_70_percent_products_gains_54_percent():
    # 0.3 + 0.35 = 0.65 of the time.
    assert precision.faster_matmul_speedup(0.7, 2) == pytest.approx(1 / 0.65)
    assert precision.faster_matmul_speedup(1.0, 2) == 2.0


def test_a_scaler_grows_each_growth_interval_as_pytorchs_rule_says():
    # torch.amp.GradScaler: after growth_interval steps without inf the scale doubles and the count starts again.
    scale, clean, steps = 1.0, 0, 0
    while scale < 8.0:
        clean, steps = clean + 1, steps + 1
        if clean == 2000:
            scale, clean = 2 * scale, 0
    assert precision.steps_to_grow(3, 2000) == steps == 6000


def adam_updates(gradients: np.ndarray, beta1: float, beta2: float) -> np.ndarray:
    """Updates in learning rates by the recursion of Kingma and Ba 2014, algorithm 1, no longer biased at the start."""
    first, second, updates = 0.0, 1.0, []
    for gradient in gradients:
        first = beta1 * first + (1 - beta1) * gradient
        second = beta2 * second + (1 - beta2) * gradient**2
        updates.append(first / np.sqrt(second))
    return np.array(updates)


@pytest.mark.parametrize(("beta2", "bound"), [(0.95, 0.1 / np.sqrt(0.05)), (0.999, 0.1 / np.sqrt(0.001))])
def test_a_spiking_gradient_adds_to_adams_update_as_its_recursion_does_and_never_beyond_the_bound(beta2, bound):
    for ratio in (1.0, 10.0, 100.0):
        expected = adam_updates(np.array([ratio]), 0.9, beta2)[0]
        assert precision.adam_contribution(ratio, 0.9, beta2) == pytest.approx(expected)
        assert expected < bound
    assert precision.adam_contribution(1e6, 0.9, beta2) == pytest.approx(bound)


def test_half_lives_by_hand():
    # 0.95^13.51 = 1/2; 0.999^692.8 = 1/2.
    assert precision.half_life_steps(0.95) == pytest.approx(13.51, abs=0.005)
    assert precision.half_life_steps(0.999) == pytest.approx(692.8, abs=0.05)


def test_twenty_spikes_of_a_run():
    assert precision.repeated_work_share(20, 300, 500_000) == pytest.approx(0.012)
    with pytest.raises(ValueError, match="events"):
        precision.repeated_work_share(0, 300, 500_000)
