"""Roofs, and what an intensity meets under them."""

import numpy as np
import pytest

from core.bottleneck import place
from core.hardware import load_accelerators
from core.scenario_link import default_scenario
from core.under_roof import (
    GROUPS,
    Roof,
    format_roofs,
    half_roof,
    matrix_roof,
    other_formats,
    side,
    vector_roof,
)

H100 = load_accelerators()["h100-sxm"]
APPLE = load_accelerators()["apple-m3-ultra"]


# NVIDIA H100 datasheet: 3.35 TB/s; 989.4 TFLOP/s by 528 tensor cores at 1,830 MHz.
def test_the_ridge_of_an_h100_in_16_bits():
    roof = half_roof(H100)
    assert roof.name == "bf16"
    assert roof.ridge == pytest.approx(989.4e12 / 3.35e12, rel=1e-4)


def test_weights_of_storage_formats_lie_under_the_roof_that_multiplies_them():
    assert matrix_roof(H100, "fp8").name == "fp8"
    assert matrix_roof(H100, "int4-g128").name == "bf16"
    assert vector_roof(H100) == Roof("vector units", H100.hbm_bytes_per_s, H100.fp32_flops_per_s)


def test_an_accelerator_without_a_confirmed_peak_has_a_slope_alone():
    assert half_roof(APPLE) == Roof("no peak", APPLE.hbm_bytes_per_s, None)
    assert half_roof(APPLE).ridge is None
    assert vector_roof(APPLE).flops_per_s is None
    assert other_formats(APPLE) == ()


def test_each_other_peak_is_offered_once():
    assert other_formats(H100) == ("tf32", "fp8")  # fp16 equals bf16, int8 equals fp8, fp32 is that of the vector units
    assert [roof.name for roof in format_roofs(H100, ("fp8", "fp4"))] == ["fp8"]


@pytest.mark.parametrize("accelerator", load_accelerators().values(), ids=load_accelerators())
def test_every_accelerator_has_roofs(accelerator):
    for roof in (
        half_roof(accelerator),
        vector_roof(accelerator),
        *format_roofs(accelerator, other_formats(accelerator)),
    ):
        assert roof.bytes_per_s == accelerator.hbm_bytes_per_s
        assert (roof.ridge is None) == (roof.flops_per_s is None)


@pytest.mark.parametrize(
    ("intensity", "bound"),
    [(31.7, "bandwidth"), (270, "at the ridge"), (300, "at the ridge"), (400, "compute")],
)
def test_a_tenth_around_the_ridge_belongs_to_neither(intensity, bound):
    assert side(intensity, 295.3) == bound


def test_without_a_ridge_no_side_is_known():
    assert side(31.7, np.nan) == "unknown"


def test_points_lie_on_their_roofs():
    placed = place(default_scenario(), "decode")
    roofs = np.minimum(placed.intensity * placed.roofs[0].bytes_per_s, placed.peaks)
    assert placed.attained == pytest.approx(roofs)
    assert placed.share.sum(axis=-1) == pytest.approx(np.ones(len(placed.positions)))
    assert set(placed.groups) <= set(GROUPS)


def test_operators_are_listed_by_the_time_they_take():
    placed = place(default_scenario(), "prefill")
    spots = placed.spots(5)
    assert [spot.seconds for spot in spots] == sorted((spot.seconds for spot in spots), reverse=True)
    assert sum(spot.seconds for spot in spots) == pytest.approx(placed.floor_s[5])
