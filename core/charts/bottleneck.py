"""The first picture of step 1: operators under a roofline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.charts.live import LiveFigure, LiveSlider, Readout, TraceTable
from core.display import digits, show_percent, show_rate, show_seconds
from core.under_roof import GROUPS, Headline, Placed, Roof
from core.units import TFLOP

Floats = NDArray[np.float64]

ROLE_OF_GROUP = {
    "matrices": "weights",
    "token mixing": "kv",
    "elementwise": "activations",
    "optimizer": "optimizer",
}
SYMBOL_OF_GROUP = {
    "matrices": "circle",
    "token mixing": "diamond",
    "elementwise": "square",
    "optimizer": "triangle-up",
}
NEAR_BY = 0.14  # decades: points closer than that share one label
WORTH_A_LABEL = 0.01  # share of the floor
SIDES = {
    "bandwidth": "bandwidth-bound",
    "compute": "compute-bound",
    "at the ridge": "at the ridge: both",
    "unknown": "no confirmed peak to compare with",
}


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

    def across(self, x: float) -> float:
        """How far right an intensity stands, 0 to 1."""
        return float(np.log(x / self.left) / np.log(self.right / self.left))


@lru_cache(maxsize=64)
def under_roofline(
    placed: Placed,
    *,
    others: tuple[Roof, ...] = (),
    overlay: Overlay | None = None,
    baseline: Headline | None = None,
) -> LiveFigure:
    """Every operator on its roof, live over batch or length; kept, since the slider's place is no part of it.

    Args:
        placed: operators over positions.
        others: roofs of the same accelerator in other formats, drawn dashed.
        overlay: the 16-bit roof of another accelerator.
        baseline: numbers to compare with, if some are pinned for this phase.
    """
    own = tuple(dict.fromkeys(sorted(placed.roofs, key=lambda roof: -(roof.flops_per_s or 0.0))))
    drawn = [at for at in range(len(placed.labels)) if (placed.flops[:, at] > 0).all()]
    frame = _frame(placed, drawn, (*own, *others, *((overlay.roof,) if overlay else ())))
    traces = list(_roof_traces(own, others, overlay, frame))
    tables: list[TraceTable] = []
    labels, sides = _labels(placed, drawn, frame)
    for group in GROUPS:
        members = [at for at in drawn if placed.groups[at] == group]
        if not members:
            continue
        number = len(traces)
        share = placed.share[:, members]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers+text",
                "name": group,
                "x": placed.intensity[0, members],
                "y": placed.attained[0, members] / TFLOP,
                "text": labels[0, members].tolist(),
                "textposition": sides[0, members].tolist(),
                "customdata": 100 * share[0],
                "hovertext": [placed.labels[at] for at in members],
                "hovertemplate": "%{hovertext}<br>%{x:.3~r} FLOP/byte, %{customdata:.1f}% of the floor<extra></extra>",
                "marker": {"symbol": SYMBOL_OF_GROUP[group], "size": _sizes(share[0]), "opacity": 0.9},
                "cliponaxis": False,
                "meta": {"role": ROLE_OF_GROUP[group]},
            }
        )
        tables += [
            TraceTable(number, "x", placed.intensity[:, members]),
            TraceTable(number, "y", placed.attained[:, members] / TFLOP),
            TraceTable(number, "customdata", 100 * share),
            TraceTable(number, "marker.size", _sizes(share)),
            TraceTable(number, "text", labels[:, members].tolist()),
            TraceTable(number, "textposition", sides[:, members].tolist()),
        ]
    texts = [_position(placed, value) for value in placed.positions]
    slider = LiveSlider("Requests" if placed.phase == "decode" else "Sequence", texts)
    layout = {
        "height": 430,
        "margin": {"l": 62, "r": 18, "t": 16, "b": 48},
        "xaxis": _log_axis(frame.left, frame.right, "arithmetic intensity, FLOP/byte"),
        "yaxis": _log_axis(frame.bottom, frame.top, "TFLOP/s of one GPU"),
    }
    alt = [_alt(placed, index, text) for index, text in enumerate(texts)]
    return LiveFigure({"data": traces, "layout": layout}, tuple(tables), slider, _readouts(placed, baseline), alt)


def _frame(placed: Placed, drawn: list[int], roofs: Sequence[Roof]) -> Frame:
    intensity = placed.intensity[:, drawn]
    ridges = [roof.ridge for roof in roofs if roof.ridge is not None]
    peaks = [roof.flops_per_s for roof in roofs if roof.flops_per_s is not None]
    attained = placed.attained[:, drawn] / TFLOP
    left, right = float(intensity.min()) / 2, max(float(intensity.max()), *ridges, 1.0) * 4
    top = max(*peaks, float(placed.attained.max())) / TFLOP * 3
    return Frame(left, right, float(attained.min()) / 3, top)


def _roof_traces(
    own: tuple[Roof, ...], others: tuple[Roof, ...], overlay: Overlay | None, frame: Frame
) -> Iterator[dict[str, Any]]:
    """The slope with the highest peak, lower peaks from where they leave it, the ridge, then what is overlaid."""
    for index, roof in enumerate(own):
        yield _roof(roof, frame, _height(roof), role="limit" if index == 0 else "muted", whole=index == 0)
    slope, first = own[0].bytes_per_s, own[0]
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
            yield _roof(roof, frame, _height(roof), role="muted", dash="6px,4px")
    if overlay:
        name = f"{overlay.name}: {_height(overlay.roof)}"
        yield _roof(overlay.roof, frame, name, role="other", dash="5px,6px", whole=True, below=True)


def _roof(
    roof: Roof,
    frame: Frame,
    text: str,
    *,
    role: str,
    dash: str = "solid",
    whole: bool = False,
    below: bool = False,
) -> dict[str, Any]:
    """One roof; ``whole`` draws the slope too, else the line starts where it leaves the slope."""
    end = frame.top * TFLOP / roof.bytes_per_s
    corner = (min(end, frame.right) if roof.ridge is None else roof.ridge, roof.flops_per_s or end * roof.bytes_per_s)
    xs, ys = [corner[0]], [corner[1] / TFLOP]
    if whole:
        xs, ys = [frame.left, *xs], [frame.left * roof.bytes_per_s / TFLOP, *ys]
    if roof.flops_per_s is not None:
        xs, ys = [*xs, frame.right], [*ys, roof.flops_per_s / TFLOP]
    return {
        "type": "scatter",
        "mode": "lines+text",
        "x": xs,
        "y": ys,
        "text": ["" for _ in xs[:-1]] + [text],
        "textposition": "bottom left" if below else "top left",
        "line": {"width": 2.5 if whole else 1.5, "dash": dash},
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


def _log_axis(low: float, high: float, title: str) -> dict[str, Any]:
    ends = [float(np.log10(low)), float(np.log10(high))]
    return {"type": "log", "range": ends, "title": {"text": title}, "dtick": 1, "tickformat": ",~r", "fixedrange": True}


def _sizes(share: Floats) -> Floats:
    """Marker area grows with the share of the floor. [pixels]"""
    return np.asarray(8 + 26 * np.sqrt(share))


def _labels(placed: Placed, drawn: list[int], frame: Frame) -> tuple[NDArray[np.object_], NDArray[np.object_]]:
    """One label for points that lie together, written at the largest of them, on the side where there is room."""
    shape, intensity, attained = placed.flops.shape, placed.intensity, placed.attained
    shares = placed.share
    words, sides = np.full(shape, "", dtype=object), np.full(shape, "bottom right", dtype=object)
    for index in range(shape[0]):
        for cluster in _clusters(placed, drawn, index, intensity, attained):
            share = shares[index, cluster]
            if share.sum() < WORTH_A_LABEL:
                continue
            chosen = cluster[int(np.argmax(share))]
            words[index, chosen] = _cluster_words(placed, cluster, chosen)
            right = frame.across(float(intensity[index, chosen])) < 0.5
            sides[index, chosen] = "bottom right" if right else "bottom left"
    return words, sides


def _clusters(placed: Placed, drawn: list[int], index: int, intensity: Floats, attained: Floats) -> Iterator[list[int]]:
    """Points on one roof, from left to right, cut where the next lies too far from the first."""
    x, y = (dict(zip(drawn, np.log10(values[index, drawn]), strict=True)) for values in (intensity, attained))
    cluster: list[int] = []
    for at in sorted(drawn, key=lambda at: (placed.roofs[at].name == "vector units", float(x[at]))):
        first = cluster[0] if cluster else at
        if abs(x[at] - x[first]) > NEAR_BY or abs(y[at] - y[first]) > NEAR_BY:
            yield cluster
            cluster = []
        cluster.append(at)
    if cluster:
        yield cluster


def _cluster_words(placed: Placed, cluster: list[int], chosen: int) -> str:
    if len(cluster) == 1:
        return placed.labels[chosen]
    groups = {placed.groups[at] for at in cluster}
    if len(groups) == 1 and placed.groups[chosen] in ("matrices", "elementwise"):
        return f"{len(cluster)} {'matrix products' if placed.groups[chosen] == 'matrices' else 'elementwise'}"
    return f"{placed.labels[chosen]} and {len(cluster) - 1} more"


def _position(placed: Placed, value: int) -> str:
    noun = "request" if placed.phase == "decode" else "token"
    return f"{value:,} {noun}" + ("" if value == 1 else "s")


def _readouts(placed: Placed, baseline: Headline | None) -> tuple[Readout, ...]:
    rows = [placed.headline(index) for index in range(len(placed.positions))]
    spots = [placed.spot(index, placed.largest) for index in range(len(rows))]
    pinned = baseline if baseline and baseline.phase == placed.phase else None
    step = {"decode": "one decode step", "prefill": "prefill of one prompt", "training": "one optimizer step"}
    bound = [
        SIDES[spot.bound] + _distance(spot.from_ridge) + _ratio(spot.intensity, pinned.intensity if pinned else None)
        for spot in spots
    ]
    return (
        Readout(
            f"{rows[0].label}, FLOP/byte",
            [digits(row.intensity) for row in rows],
            [
                note + _ratio(row.intensity, pinned.intensity if pinned else None)
                for note, row in zip(bound, rows, strict=True)
            ],
            emphasis=True,
        ),
        Readout(
            f"floor of {step[placed.phase]}, one GPU",
            [show_seconds(row.floor_s) for row in rows],
            ["at datasheet rates" + _ratio(row.floor_s, pinned.floor_s if pinned else None) for row in rows],
        ),
        Readout(
            "of that floor, bound by compute",
            [show_percent(row.compute_share) if np.isfinite(row.compute_share) else "unknown" for row in rows],
            [_crossing(placed)] * len(rows),
        ),
    )


def _distance(from_ridge: float) -> str:
    if not np.isfinite(from_ridge):
        return ""
    above = from_ridge >= 1
    factor = from_ridge if above else 1 / from_ridge
    return f", {digits(factor)} x {'above' if above else 'below'} the ridge"


def _ratio(value: float, pinned: float | None) -> str:
    if pinned is None:
        return ""
    ratio = value / pinned
    return "; as pinned" if abs(ratio - 1) < 5e-4 else f"; {digits(ratio)} x pinned"


def _crossing(placed: Placed) -> str:
    if not placed.has_peak:
        return "no peak is confirmed"
    if placed.crossing is None:
        return "the largest product never is, up to here"
    first = _position(placed, placed.crossing)
    return f"the largest product from {first} on" if placed.crossing > placed.positions[0] else "the largest product is"


def _alt(placed: Placed, index: int, position: str) -> str:
    spots = [spot for spot in placed.spots(index) if spot.flops > 0][:4]
    said = "; ".join(
        f"{spot.label} {digits(spot.intensity)} FLOP a byte, {SIDES[spot.bound]}, {show_percent(spot.share)} of it"
        for spot in spots
    )
    return f"{position}, {placed.phase}: operators under the roofline, with shares of the floor: {said}."


def placed_table(placed: Placed) -> dict[str, list[object]]:
    """Every operator at every position as columns, in FLOP, bytes and seconds."""
    shape = placed.flops.shape
    columns: dict[str, Any] = {
        {"decode": "batch", "prefill": "context_len", "training": "seq_len"}[placed.phase]: np.repeat(
            placed.positions, shape[1]
        ),
        "operator": np.tile(placed.labels, shape[0]),
        "group": np.tile(placed.groups, shape[0]),
        "flops": placed.flops.ravel(),
        "bytes": placed.bytes.ravel(),
        "flop_per_byte": placed.intensity.ravel(),
        "floor_s": placed.seconds.ravel(),
    }
    return {name: np.asarray(values).tolist() for name, values in columns.items()}
