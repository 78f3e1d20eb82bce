"""Roofs of a roofline chart: the frame, and corners where bandwidth meets the peak."""

import numpy as np
import pytest

from core.bottleneck import PHASES, place
from core.charts.roofs import Frame, frame_of, log_axis, roof_traces
from core.hardware import load_accelerators
from core.scenario_link import default_scenario
from core.under_roof import Roof, half_roof
from core.units import TFLOP

FRAME = Frame(1.0, 10_000.0, 0.1, 10_000.0)
H100 = half_roof(load_accelerators()["h100-sxm"])


# Datasheet of the H100 SXM: 3.35 TB/s and 989 TFLOP/s in bf16 without sparsity, so the roof bends at 295 FLOP a byte.
def test_the_roof_of_an_h100_bends_at_295():
    first = next(iter(roof_traces((H100,), (), None, FRAME)))
    assert first["x"] == pytest.approx([1, 989 / 3.35, 10_000], abs=0.5)
    assert first["y"] == pytest.approx([3.35, 989, 989], abs=0.5)


def test_without_a_peak_the_slope_leaves_through_the_top():
    open_roof = Roof("no peak", 2e12, None)
    first = next(iter(roof_traces((open_roof,), (), None, FRAME)))
    assert first["x"] == pytest.approx([1, 5_000])  # 2 TB/s reach 10,000 TFLOP/s at 5,000 FLOP a byte
    assert first["y"] == pytest.approx([2, 10_000])


@pytest.mark.parametrize("phase", PHASES)
def test_the_frame_holds_every_point_and_every_roof(phase):
    placed = place(default_scenario(), phase)
    drawn = [k for k in range(len(placed.labels)) if (placed.flops[:, k] > 0).all()]
    frame = frame_of(placed, drawn, placed.roofs)
    assert ((placed.intensity[:, drawn] > frame.left) & (placed.intensity[:, drawn] < frame.right)).all()
    heights = placed.attained[:, drawn] / TFLOP
    assert ((heights > frame.bottom) & (heights < frame.top)).all()
    assert all(roof.ridge < frame.right and roof.flops_per_s / TFLOP < frame.top for roof in placed.roofs)


def test_places_are_even_on_a_logarithmic_axis():
    assert FRAME.across(np.array([1, 10, 100, 1000, 10_000])) == pytest.approx([0, 0.25, 0.5, 0.75, 1])
    assert log_axis(0.1, 1000, "x")["range"] == pytest.approx([-1, 3])  # Plotly wants the exponents
