"""Measured profiles as pictures: products at the roofline, times over one size, collectives with their fit.

Open data and runs of one's own lie over each other; where a curve is continued beyond what was measured it is dotted,
and measured cells are marked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from core.charts.batch_parts import log_axis
from core.charts.live import LiveFigure
from core.charts.over_picture import Limit
from core.checks import Floats
from core.display import digits, show_percent, show_rate, show_seconds
from core.measured_collectives import Fit
from core.measured_curves import Curve, Curves
from core.measured_roofline import Placed, Reached
from core.units import MICROSECOND, TFLOP

# Profiles in their order; what is not measured is drawn in the page's own text colour.
ROLES = ("accent", "kv", "gradients", "communication", "optimizer", "activations")
SYMBOLS = ("circle", "diamond", "square", "triangle-up", "cross", "x")
_MARGIN = {"l": 64, "r": 16, "t": 28, "b": 48}


def at_roofline(placed: Sequence[Placed]) -> LiveFigure:
    """Products over rows as points under the datasheet's roof and under the roof as measured."""
    if not placed:
        raise ValueError("nothing to draw: give one profile or more that measured the format")
    every = [(index, one) for index, one in enumerate(placed)]
    low = min(float(one.intensity.min()) for one in placed) / 2
    high = max(float(one.intensity.max()) for one in placed) * 2
    tops = [max(one.reached.flops_per_s, one.reached.datasheet_flops_per_s or 0.0) for one in placed]
    bottom = min(float(one.flops_per_s[~one.outside].min()) for one in placed)
    traces = [trace for index, one in every for trace in _roofs(one.reached, index, low, high)]
    traces += [_points(one, index) for index, one in every]
    layout = {
        "height": 380,
        "margin": _MARGIN,
        "showlegend": True,
        "legend": {"orientation": "h", "y": 1.12},
        "xaxis": log_axis("FLOP for each byte moved", np.array([low, high])),
        "yaxis": log_axis("TFLOP/s", np.array([bottom / 2, max(tops) * 2]) / TFLOP),
    }
    first = placed[0].reached
    ridges = [Limit(first.ridge, f"ridge as measured {digits(first.ridge)}")] if first.tells_ridge else []
    if first.datasheet_ridge is not None:
        ridges.append(Limit(first.datasheet_ridge, f"datasheet {digits(first.datasheet_ridge)}", role="muted"))
    return LiveFigure(
        {"data": traces, "layout": layout}, alt=[" ".join(map(roofline_text, placed))], limits=tuple(ridges)
    )


def over_size(curves: Curves) -> LiveFigure:
    """Times of a product or of attention over one size, with the datasheet's floor below them."""
    traces = [*_floor(curves), *_all_lines(curves)]
    return _figure(curves, traces, _alt(curves))


def collectives(curves: Curves, fits: Sequence[Fit]) -> LiveFigure:
    """A collective's times over bytes; each profile's start and rate as a thin line."""
    traces = [*_floor(curves), *_all_lines(curves)]
    for index, (curve, fit) in enumerate(zip(curves.curves, fits, strict=True)):
        fitted = fit.latency_s + curve.x / fit.bytes_per_s
        name = f"{curve.name}: start and rate"
        traces.append(_line(name, _role(index), curve.x, fitted, dash="2px,3px", width=1.2))
    return _figure(curves, traces, [*_alt(curves), *map(fit_text, fits)])


def roofline_text(placed: Placed) -> str:
    """One profile's roof in a sentence."""
    best, plain = placed.reached, placed.reached.plain_flops_per_s
    few = ""
    if best.measured_weights < best.planned_weights:
        few = f", products with {best.measured_weights:,} of {best.planned_weights:,} planned weights measured"
    product = show_rate(best.product_flops_per_s, "FLOP")
    if plain is not None and plain > best.product_flops_per_s:
        product += f", a plain call of the same run {show_rate(plain, 'FLOP')}"
    text = (
        f"{placed.profile}{few}: the best {placed.dtype} product reaches {product}"
        f"{_of(best.flops_per_s, best.datasheet_flops_per_s)}, weights are read at {show_rate(best.bytes_per_s, 'B')}"
        f"{_of(best.bytes_per_s, best.datasheet_bytes_per_s)}"
    )
    if not best.tells_ridge:
        return f"{text}. Products of so few sizes do not tell where the ridge is."
    text += f", so the ridge really is at {digits(best.ridge)} FLOP/byte"
    return f"{text}." if best.datasheet_ridge is None else f"{text}, not {digits(best.datasheet_ridge)}."


def fit_text(fit: Fit) -> str:
    """One profile's collective in a sentence."""
    link = "" if fit.link_bytes_per_s is None else f" of the link's {show_rate(fit.link_bytes_per_s, 'B')}"
    return (
        f"{fit.name}: {show_seconds(fit.latency_s)} to start, then {show_rate(fit.bus_bytes_per_s, 'B')} from each GPU"
        f"{link}; between the two this misses by up to {show_percent(fit.worst)}."
    )


def notes(curves: Curves) -> list[str]:
    """What a page says below the picture: sources, continuations, differences."""
    said = [f"{curve.name}: {note}" for curve in curves.curves for note in curve.notes]
    said += [f"{name}: not measured." for name in curves.missing]
    said += [one.in_words for one in curves.differences]
    return [*said, *dict.fromkeys(f"Source: {curve.citation}." for curve in curves.curves)]


def _figure(curves: Curves, traces: list[dict[str, Any]], alt: Sequence[str]) -> LiveFigure:
    if not curves.curves:
        raise ValueError(f"nothing to draw: no profile measured {curves.what}")
    seconds = [curve.seconds / MICROSECOND for curve in curves.curves]
    layout = {
        "height": 360,
        "margin": _MARGIN,
        "showlegend": True,
        "legend": {"orientation": "h", "y": 1.12},
        "xaxis": log_axis(curves.axis, *(curve.x for curve in curves.curves)),
        "yaxis": log_axis("microseconds", *seconds, *_floor_values(curves)),
    }
    return LiveFigure({"data": traces, "layout": layout}, alt=[" ".join(alt)])


def _alt(curves: Curves) -> list[str]:
    said = [f"{curves.what[:1].upper()}{curves.what[1:]} over {curves.axis}."]
    for curve in curves.curves:
        first, last = (_as_measured(curve, at) for at in (0, -1))
        ends = (
            f"{curve.name}: {show_seconds(first)} at {curve.x[0]:,.0f} and {show_seconds(last)} at {curve.x[-1]:,.0f}"
        )
        share = curves.share(curve)[-1] * curve.seconds[-1] / last
        said.append(
            f"{ends}." if np.isnan(share) else f"{ends}, of which {curves.floor_name} is {show_percent(share)}."
        )
    return [*said, *(one.in_words for one in curves.differences)]


def _as_measured(curve: Curve, at: int) -> float:
    """The time at a place of the curve: the measured cell there, as the table has it, else what the curve reads. [s]"""
    cell = np.flatnonzero(curve.points_x == curve.x[at])
    return float(curve.points_s[cell[0]] if cell.size else curve.seconds[at])


def _all_lines(curves: Curves) -> Iterator[dict[str, Any]]:
    for index, curve in enumerate(curves.curves):
        yield _line(curve.name, _role(index), curve.x, np.where(curve.outside, np.nan, curve.seconds))
        if curve.outside.any():
            name = f"{curve.name}, continued"
            yield _line(name, _role(index), curve.x, _continued(curve), dash="2px,4px")
        if curve.points_x.size:
            yield _marks(curve, index)


def _continued(curve: Curve) -> Floats:
    """The continued stretches with the measured place beside each, so that the line has no gap."""
    out = curve.outside
    beside = out.copy()
    beside[:-1] |= out[1:]
    beside[1:] |= out[:-1]
    return np.where(beside, curve.seconds, np.nan)


def _floor(curves: Curves) -> Iterator[dict[str, Any]]:
    for floor in _floor_values(curves):
        yield _line(curves.floor_name, "limit", curves.floor_x, floor * MICROSECOND, width=1.5, dash="6px,4px")


def _floor_values(curves: Curves) -> list[Floats]:
    """The floor in the axis's unit; none where there is no datasheet."""
    known = curves.floor_s.size > 0 and not np.isnan(curves.floor_s).any() and bool((curves.floor_s > 0).all())
    return [curves.floor_s / MICROSECOND] if known else []


def _line(
    name: str, role: str, x: Floats, seconds: Floats, *, dash: str = "solid", width: float = 2.0
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": x,
        "y": _gaps(seconds / MICROSECOND),
        "line": {"width": width, "dash": dash},
        "hovertemplate": "%{x:,.0f}: %{y:,.3r} us<extra>" + name + "</extra>",
        "meta": {"role": role},
    }


def _marks(curve: Curve, index: int) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": f"{curve.name}, measured",
        "showlegend": False,
        "x": curve.points_x,
        "y": curve.points_s / MICROSECOND,
        "marker": {"size": 6, "symbol": SYMBOLS[index % len(SYMBOLS)]},
        "hovertemplate": "%{x:,.0f}: %{y:,.3r} us<extra>" + curve.name + ", measured</extra>",
        "meta": {"role": _role(index)},
    }


def _points(placed: Placed, index: int) -> dict[str, Any]:
    there = ~placed.outside  # what is continued is no measurement, and a roofline shows nothing else
    shapes = [
        f"{label}, {rows:,.0f} rows"
        for label, line, known in zip(placed.labels, placed.rows, there, strict=True)
        for rows in line[known]
    ]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": f"{placed.profile}, {placed.dtype}",
        "x": placed.intensity[there],
        "y": placed.flops_per_s[there] / TFLOP,
        "hovertext": shapes,
        "hovertemplate": "%{hovertext}<br>%{x:.3~r} FLOP/byte, %{y:,.3r} TFLOP/s<extra></extra>",
        "marker": {"size": 6, "symbol": SYMBOLS[index % len(SYMBOLS)]},
        "meta": {"role": _role(index)},
    }


def _roofs(best: Reached, index: int, low: float, high: float) -> Iterator[dict[str, Any]]:
    """The roof as measured, and the datasheet's."""
    yield _roof(best.bytes_per_s, best.flops_per_s, low, high, role=_role(index), dash="3px,4px")
    if best.datasheet_bytes_per_s is not None and best.datasheet_flops_per_s is not None:
        roof = (best.datasheet_bytes_per_s, best.datasheet_flops_per_s)
        yield _roof(*roof, low, high, role="limit" if index == 0 else "muted", dash="solid")


def _roof(bytes_per_s: float, flops_per_s: float, low: float, high: float, *, role: str, dash: str) -> dict[str, Any]:
    ridge = flops_per_s / bytes_per_s
    x = [low, ridge, high] if low < ridge < high else [low, high]
    return {
        "type": "scatter",
        "mode": "lines",
        "showlegend": False,
        "x": x,
        "y": [min(at * bytes_per_s, flops_per_s) / TFLOP for at in x],
        "line": {"width": 1.5, "dash": dash},
        "hoverinfo": "skip",
        "meta": {"role": role},
    }


def _gaps(values: Floats) -> list[float | None]:
    """As JSON carries it: None where there is no line."""
    return [None if np.isnan(value) else float(value) for value in values]


def _role(index: int) -> str:
    return ROLES[index % len(ROLES)]


def _of(value: float, whole: float | None) -> str:
    return "" if whole is None else f" ({show_percent(value / whole)} of the datasheet)"
