"""The roofline against datasheets' ridge points."""

import numpy as np
import pytest

from core.hardware import load_accelerators
from core.roofline import attainable_flops_per_s, crossover_batch, matmul_intensity, ridge_point, time_floor_s
from tests.published_flops import holds, rows

CARDS = load_accelerators()


# Dense bf16 peaks over pin rates: 989.4 / 3.35, 312 / 2.039, 989.4 / 4.8 TFLOP/s over TB/s.
@pytest.mark.parametrize(("card", "ridge"), [("h100-sxm", 295), ("a100-sxm-80gb", 153), ("h200-sxm", 206)])
def test_ridge_points_of_three_generations(card, ridge):
    assert ridge_point(CARDS[card], "bf16") == pytest.approx(ridge, abs=0.5)


@rows("ridge")
def test_matches_the_ridge_point_of_the_scaling_book(row):
    holds(ridge_point(CARDS[row["inputs"]["accelerator"]], row["inputs"]["dtype"]), row)


def test_the_roof_rises_to_the_ridge_and_stays_there():
    card = CARDS["h100-sxm"]
    ridge = ridge_point(card, "bf16")
    roof = attainable_flops_per_s([0, 1, ridge, 10 * ridge], card, "bf16")
    assert roof == pytest.approx([0, card.hbm_bytes_per_s, card.bf16_flops_per_s, card.bf16_flops_per_s])


def test_the_time_floor_is_work_under_the_roof():
    card = CARDS["h200-sxm"]
    intensity = np.geomspace(0.1, 1e5, 50)
    floor = time_floor_s(
        1e15, 1e15 / intensity, peak_flops_per_s=card.peak_flops_per_s("bf16"), bytes_per_s=card.hbm_bytes_per_s
    )
    assert floor == pytest.approx(1e15 / attainable_flops_per_s(intensity, card, "bf16"))


def test_a_decode_product_has_the_intensity_of_its_batch():
    batch = np.array([1, 8, 32, 64])
    assert matmul_intensity(batch, 8192, 28_672) == pytest.approx(batch, rel=0.015)


def test_decode_products_cross_at_the_ridge_with_16_bit_weights_and_at_half_with_8():
    card = CARDS["h100-sxm"]
    assert crossover_batch(card, "bf16") == ridge_point(card, "bf16")
    assert crossover_batch(card, "bf16", weight_bytes=[2, 1, 0.5]) == pytest.approx([295.3, 147.7, 73.8], abs=0.05)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ridge_point(CARDS["a100-sxm-80gb"], "fp8"), "has no fp8 peak"),
        (lambda: ridge_point(CARDS["a100-sxm-80gb"], "int3"), "not a compute format"),
        (lambda: attainable_flops_per_s(-1, CARDS["h100-sxm"], "bf16"), "intensity=-1 must be 0 or greater"),
        (lambda: time_floor_s(1, 1, peak_flops_per_s=0, bytes_per_s=1), "peak_flops_per_s=0 must be greater than 0"),
    ],
)
def test_a_bad_input_is_refused_in_words(call, message):
    with pytest.raises(ValueError, match=message):
        call()
