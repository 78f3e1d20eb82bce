"""Roofs of a roofline chart: slopes, peaks, the ridge, and the frame that holds them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.display import digits, show_rate
from core.under_roof import Placed, Roof
from core.units import TFLOP

Floats = NDArray[np.float64]


class Overlay(NamedTuple):
    """Another accelerator's roof, drawn beside the scenario's."""

    name: str
    roof: Roof


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
    """The slope with the highest peak, lower peaks from where they leave it, the ridge, then what is overlaid."""
    slope, first = own[0].bytes_per_s, own[0]
    yield _roof(first, frame, "", role="limit", first=True)
    if first.flops_per_s is not None:  # clear of the points that lie on it
        yield _words(frame.right, 1.2 * first.flops_per_s / TFLOP, _height(first), "top left")
    for roof in own[1:]:
        yield _roof(roof, frame, _height(roof), role="muted")
    at = frame.left * (frame.right / frame.left) ** 0.2
    yield _words(at, at * slope / TFLOP, show_rate(slope, "B"), "top left")
    if first.ridge is not None and first.flops_per_s is not None:
        yield {
            "type": "scatter",
            "mode": "lines+text",
            "x": [first.ridge, first.ridge],
            "y": [frame.bottom, first.flops_per_s / TFLOP],
            "text": [f"ridge {digits(first.ridge)}", ""],
            "textposition": "top right" if frame.across(first.ridge) < 0.6 else "top left",
            "line": {"width": 1.5, "dash": "2px,4px"},
            "hoverinfo": "skip",
            "showlegend": False,
            "meta": {"role": "limit"},
        }
    for roof in others:
        if roof not in own:
            above = (roof.flops_per_s or 0.0) > (first.flops_per_s or 0.0)
            yield _roof(roof, frame, _height(roof), role="muted", dash="6px,4px", above=above)
    if overlay:
        name = f"{overlay.name}: {_height(overlay.roof)}"
        yield _roof(overlay.roof, frame, name, role="other", dash="5px,6px", whole=True)


def _roof(
    roof: Roof,
    frame: Frame,
    text: str,
    *,
    role: str,
    dash: str = "solid",
    first: bool = False,
    whole: bool = False,
    above: bool = False,
) -> dict[str, Any]:
    """One roof, named below its line unless it is the ``first`` or ``above``.

    The first and a ``whole`` one have their slope; others start where they leave it.
    """
    end = frame.top * TFLOP / roof.bytes_per_s
    corner = (min(end, frame.right) if roof.ridge is None else roof.ridge, roof.flops_per_s or end * roof.bytes_per_s)
    xs, ys = [corner[0]], [corner[1] / TFLOP]
    if first or whole:
        xs, ys = [frame.left, *xs], [frame.left * roof.bytes_per_s / TFLOP, *ys]
    if roof.flops_per_s is not None:
        xs, ys = [*xs, frame.right], [*ys, roof.flops_per_s / TFLOP]
    return {
        "type": "scatter",
        "mode": "lines+text",
        "x": xs,
        "y": ys,
        "text": ["" for _ in xs[:-1]] + [text],
        "textposition": "top left" if first or above else "bottom left",
        "line": {"width": 2.5 if first else 1.5, "dash": dash},
        "hoverinfo": "skip",
        "showlegend": False,
        "meta": {"role": role},
    }


def _words(x: float, y: float, text: str, position: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "text",
        "x": [x],
        "y": [y],
        "text": [text],
        "textposition": position,
        "hoverinfo": "skip",
        "showlegend": False,
        "meta": {"role": "limit"},
    }


def _height(roof: Roof) -> str:
    return "peak not confirmed" if roof.flops_per_s is None else f"{roof.name} {show_rate(roof.flops_per_s, 'FLOP')}"


def log_axis(low: float, high: float, title: str) -> dict[str, Any]:
    ends = [float(np.log10(low)), float(np.log10(high))]
    return {"type": "log", "range": ends, "title": {"text": title}, "dtick": 1, "tickformat": ",~r", "fixedrange": True}
