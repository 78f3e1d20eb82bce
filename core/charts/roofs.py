"""Roofs of a roofline chart: slopes, peaks, the ridge, and the frame that holds them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from core.charts.over_picture import Limit
from core.checks import Floats
from core.display import digits, show_rate
from core.under_roof import Placed, Roof
from core.units import TFLOP


class Overlay(NamedTuple):
    """Another accelerator's roof, drawn beside the scenario's."""

    name: str
    roof: Roof


class Word(NamedTuple):
    """Text beside a point."""

    x: float
    y: float
    text: str
    side: str
    away: float = 3.0  # pixels


class Frame(NamedTuple):
    """Ends of both logarithmic axes. [FLOP/byte], [TFLOP/s]"""

    left: float
    right: float
    bottom: float
    top: float

    def across(self, intensity: Floats | float) -> Floats:
        """How far right an intensity stands, 0 to 1."""
        return np.asarray(np.log(np.asarray(intensity) / self.left) / np.log(self.right / self.left))


def frame_of(placed: Placed, drawn: list[int], roofs: Sequence[Roof]) -> Frame:
    """Room for every point at every position, and for every roof."""
    intensity = placed.intensity[:, drawn]
    ridges = [roof.ridge for roof in roofs if roof.ridge is not None]
    peaks = [roof.flops_per_s for roof in roofs if roof.flops_per_s is not None]
    attained = placed.attained[:, drawn] / TFLOP
    left, right = float(intensity.min()) / 2, max([*ridges, float(intensity.max())]) * 3
    top = max([*peaks, float(placed.attained.max())]) / TFLOP * 3
    return Frame(left, right, float(attained.min()) / 3, top)


def roof_traces(
    own: tuple[Roof, ...], others: tuple[Roof, ...], overlay: Overlay | None, frame: Frame
) -> Iterator[dict[str, Any]]:
    """The scenario's own roofs in one trace, other formats dashed in another, then another accelerator's.

    Few traces, for each costs time in every drawing while the hand moves; so words are those of :func:`roof_words`.
    """
    yield _lines([_corners(roof, frame, slope=roof == own[0]) for roof in own], role="limit", width=2.0)
    if dashed := [_corners(roof, frame, slope=False) for roof in others if roof not in own]:
        yield _lines(dashed, role="muted", width=1.5, dash="3px,4px")
    if overlay:
        yield _lines([_corners(overlay.roof, frame, slope=True)], role="other", width=1.5, dash="7px,5px")


def roof_words(
    own: tuple[Roof, ...], others: tuple[Roof, ...], overlay: Overlay | None, frame: Frame
) -> Iterator[Word]:
    """What stands beside the roofs: bandwidth along the slope, peaks at their ends."""
    first = own[0]
    if first.flops_per_s is not None:
        yield Word(frame.right, first.flops_per_s / TFLOP, _height(first), "top left", away=10.0)  # above the points
    for roof in (*own[1:], *(roof for roof in others if roof not in own)):
        if roof.flops_per_s is not None:
            above = roof.flops_per_s > (first.flops_per_s or 0.0)
            yield Word(frame.right, roof.flops_per_s / TFLOP, _height(roof), f"{'top' if above else 'bottom'} left")
    if overlay and overlay.roof.flops_per_s is not None:
        text = f"{overlay.name}: {_height(overlay.roof)}"
        yield Word(frame.right, overlay.roof.flops_per_s / TFLOP, text, "bottom left")
    at = frame.left * (frame.right / frame.left) ** 0.2
    yield Word(at, at * first.bytes_per_s / TFLOP, show_rate(first.bytes_per_s, "B"), "top left")


def _corners(roof: Roof, frame: Frame, *, slope: bool) -> list[tuple[float, float]]:
    """A roof from the left end of its slope, or from where it leaves the slope, to the right end of its peak."""
    start = [(frame.left, frame.left * roof.bytes_per_s / TFLOP)] if slope else []
    if roof.flops_per_s is None or roof.ridge is None:
        end = min(frame.top * TFLOP / roof.bytes_per_s, frame.right)
        return [*start, (end, end * roof.bytes_per_s / TFLOP)]
    peak = roof.flops_per_s / TFLOP
    return [*start, (roof.ridge, peak), (frame.right, peak)]


def _lines(lines: list[list[tuple[float, float]]], *, role: str, width: float, dash: str = "solid") -> dict[str, Any]:
    """Several lines as one trace, with a gap between each two."""
    gap: list[tuple[float | None, float | None]] = [(None, None)]
    points = [point for line in lines for point in [*line, *gap]][:-1]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [x for x, _ in points],
        "y": [y for _, y in points],
        "line": {"width": width, "dash": dash},
        "hoverinfo": "skip",
        "showlegend": False,
        "meta": {"role": role},
    }


def _height(roof: Roof) -> str:
    return "peak not confirmed" if roof.flops_per_s is None else f"{roof.name} {show_rate(roof.flops_per_s, 'FLOP')}"


def ridge_line(roof: Roof) -> tuple[Limit, ...]:
    """The ridge as a line across the picture, where there is one."""
    return () if roof.ridge is None else (Limit(roof.ridge, f"ridge {digits(roof.ridge)}"),)


def log_axis(low: float, high: float, title: str) -> dict[str, Any]:
    ends = [float(np.log10(low)), float(np.log10(high))]
    return {"type": "log", "range": ends, "title": {"text": title}, "dtick": 1, "tickformat": ",~r", "fixedrange": True}
