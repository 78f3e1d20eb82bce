"""Whiteboard sums of bottleneck against printed numbers and sums worked by hand."""

import pytest

from core.hardware import load_accelerators
from core.units import TFLOP
from core.whiteboard import bottleneck

CARDS = load_accelerators()
H100, A100, H200 = CARDS["h100-sxm"], CARDS["a100-sxm-80gb"], CARDS["h200-sxm"]


# Peaks and bandwidths of the datasheets: 989.4 over 3.35, 312 over 2.039, 989.4 over 4.8.
@pytest.mark.parametrize(("card", "ridge"), [(H100, 295.3), (A100, 153.0), (H200, 206.1)])
def test_the_ridge_is_peak_over_bandwidth(card, ridge):
    assert bottleneck.ridge_point(card) == pytest.approx(ridge, abs=0.05)


def test_the_roof_is_a_slope_and_then_the_peak():
    # 100 FLOP/byte x 2.039 TB/s = 203.9 TFLOP/s; at 200 the slope would give 407.8, above the peak of 312.
    assert bottleneck.attainable_flops_per_s(A100, 100) == pytest.approx(203.9 * TFLOP)
    assert bottleneck.attainable_flops_per_s(A100, 200) == pytest.approx(312 * TFLOP)


def test_a_square_product_has_a_third_of_its_size_as_intensity():
    # 2 x 3,000^3 FLOP over 3 x 3,000^2 x 2 bytes.
    assert bottleneck.square_matmul_intensity(3000) == pytest.approx(1000)


def test_a_thin_projection_has_nearly_its_tokens_as_intensity():
    # 2 x 10 x 100 x 400 = 800,000 FLOP; (100 x 400 + 10 x 100 + 10 x 400) x 2 = 90,000 bytes.
    assert bottleneck.projection_intensity(10, 100, 400) == pytest.approx(800 / 90)


def test_the_crossover_halves_with_the_bytes_of_a_weight():
    # Austin et al. 2025, chapter Rooflines, put it at the peak intensity for 16-bit weights.
    assert bottleneck.crossover_tokens(H100, 2) == pytest.approx(295.3, abs=0.05)
    assert bottleneck.crossover_tokens(H100, 1) == pytest.approx(147.7, abs=0.05)


def test_mfu_by_hand():
    # 6 x 13e9 x 2,000 tokens/s = 156 TFLOP/s, half of an A100's 312.
    assert bottleneck.mfu(13e9, 2000, A100) == pytest.approx(0.5)
    # 16,000 tokens in 2 s on 4 GPUs are the same 2,000 tokens a second and GPU.
    assert bottleneck.mfu_of_step(13e9, 16_000, 4, 2.0, A100) == pytest.approx(0.5)


def test_full_recomputation_turns_megatron_s_52_into_an_mfu_of_39():
    # Narayanan et al. 2021, abstract: 52% of peak with the recomputed pass in the count; 3/4 of it is model FLOPs.
    assert bottleneck.hfu_with_full_recompute(0.392) == pytest.approx(0.522, abs=0.001)


def test_palm_s_mfu_and_hfu_imply_seven_and_a_half_flop_a_parameter():
    # Chowdhery et al. 2022, section 4.1: 46.2% and 57.8%; 57.8 / 46.2 = 1.251, times 6.
    assert bottleneck.hfu_over_mfu(0.462, 0.578) == pytest.approx(1.251, abs=0.0005)
    assert bottleneck.executed_flops_per_param(0.462, 0.578) == pytest.approx(7.506, abs=0.001)


def test_causal_attention_of_a_70b_at_32k_is_0_3_of_6n():
    # 6 x 80 x 8,192 x 32,768 = 128.8 GFLOP of 420 GFLOP.
    share = bottleneck.causal_attention_over_6n(70e9, 80, 8192, 32768)
    assert share == pytest.approx(128.85 / 420, rel=1e-4)
    assert bottleneck.hfu_with_recompute_and_attention(0.35, share) == pytest.approx(0.6098, abs=1e-4)


def test_a_trillion_parameters_take_84_days():
    # Narayanan et al. 2021, section 5.1: 450B tokens on 3,072 A100 at 163 TFLOP/s with recomputation, about 84 days.
    # Three quarters of 163 are model FLOPs, an MFU of 39.2%.
    days = bottleneck.training_time_s(1e12, 450e9, 3072, 0.75 * 163 / 312, A100) / 86400
    assert days == pytest.approx(84, abs=1)


def test_a_step_s_floor_by_hand():
    # 6 x 13e9 x 4e6 = 3.12e17 FLOP on 1,000 x 312e12 = one second.
    assert bottleneck.step_floor_s(13e9, 4e6, 1000, A100) == pytest.approx(1.0)


def test_amdahl_s_ceiling():
    # Half serial: 2 / (1 + 1/n), so 1.6 with 4 workers and never 2.
    assert bottleneck.amdahl_speedup(0.5, 4) == pytest.approx(1.6)
    assert bottleneck.amdahl_speedup(0.5, 1_000_000) < 2
    assert bottleneck.amdahl_speedup(0, 64) == 64
    with pytest.raises(ValueError, match="must be a share from 0 to 1"):
        bottleneck.amdahl_speedup(5, 64)


def test_hiding_half_of_a_fifth_saves_a_tenth():
    assert bottleneck.time_after_hiding_s(10.0, 0.2, 0.5) == pytest.approx(9.0)
    assert bottleneck.time_after_hiding_s(10.0, 0.2, 0) == 10.0


def test_a_thin_product_on_h200_reaches_four_fifths_of_the_bandwidth():
    # core.efficiency: 134 MB in 35 us, 3.8 of 4.8 TB/s.
    assert bottleneck.bandwidth_share(134e6, 35e-6, H200) == pytest.approx(0.798, abs=0.001)
