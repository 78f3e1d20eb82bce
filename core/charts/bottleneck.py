"""The first picture of step 1: operators under a roofline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.charts.live import LiveFigure, LiveSlider, Readout, TraceTable
from core.charts.over_picture import PointLabels
from core.charts.roofs import Frame, Overlay, Word, frame_of, log_axis, ridge_line, roof_traces, roof_words
from core.checks import Floats
from core.display import digits, show_percent, show_seconds
from core.under_roof import Headline, Placed, Roof
from core.units import TFLOP

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
# Points closer than that share one label, as shares of the width: beside each other on a peak, stepped on a slope.
NEAR_ON_PEAK, NEAR_ON_SLOPE = 0.35, 0.05
WORTH_A_LABEL = 0.01  # share of the floor
SIDES = {
    "bandwidth": "bandwidth-bound",
    "compute": "compute-bound",
    "at the ridge": "at the ridge: both",
    "unknown": "no confirmed peak to compare with",
}


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
    frame = frame_of(placed, drawn, (*own, *others, *((overlay.roof,) if overlay else ())))
    traces = list(roof_traces(own, others, overlay, frame))
    words = list(roof_words(own, others, overlay, frame))
    rows = [[*words, *_labels(placed, drawn, frame, index)] for index in range(len(placed.positions))]
    groups = [placed.groups[at] for at in drawn]
    share = placed.share[:, drawn]
    moving = {
        "x": placed.intensity[:, drawn],
        "y": placed.attained[:, drawn] / TFLOP,
        "customdata": 100 * share,
    }
    traces.append(
        {name: values[0] for name, values in moving.items()}
        | {
            "type": "scatter",
            "mode": "markers",
            "hovertext": [placed.labels[at] for at in drawn],
            "hovertemplate": "%{hovertext}<br>%{x:.3~r} FLOP/byte, %{customdata:.1f}% of the floor<extra></extra>",
            "marker": {
                "symbol": [SYMBOL_OF_GROUP[group] for group in groups],
                "size": _sizes(share[0]),
                "opacity": 0.9,
                "line": {"width": 0},
            },
            "cliponaxis": False,
            "meta": {"named": True, "parts": groups, "roles": [ROLE_OF_GROUP[group] for group in groups]},
        }
    )
    tables = [TraceTable(len(traces) - 1, name, values) for name, values in moving.items()]
    tables.append(TraceTable(len(traces) - 1, "marker.size", _sizes(share)))
    texts = [_position(placed, value) for value in placed.positions]
    slider = LiveSlider("Requests" if placed.phase == "decode" else "Sequence", texts)
    layout = {
        "height": 430,
        "margin": {"l": 62, "r": 18, "t": 30, "b": 48},
        "xaxis": log_axis(frame.left, frame.right, "arithmetic intensity, FLOP/byte"),
        "yaxis": log_axis(frame.bottom, frame.top, "TFLOP/s of one GPU"),
    }
    alt = [_alt(placed, index, text) for index, text in enumerate(texts)]
    return LiveFigure(
        {"data": traces, "layout": layout},
        tuple(tables),
        slider,
        _readouts(placed, baseline),
        alt,
        limits=ridge_line(own[0]),
        point_labels=_written(rows),
    )


def _sizes(share: Floats | float) -> Floats:
    """Marker area grows with the share of the floor. [pixels]"""
    return np.asarray(8 + 26 * np.sqrt(share))


def _written(rows: Sequence[Sequence[Word]]) -> PointLabels:
    """Words of each position; shorter rows are filled up with empty ones."""
    longest, blank = max(len(row) for row in rows), Word(1.0, 1.0, "", "top left")
    full = [[*row, *[blank] * (longest - len(row))] for row in rows]
    return PointLabels(
        texts=[[word.text for word in row] for row in full],
        x=np.array([[word.x for word in row] for row in full]),
        y=np.array([[word.y for word in row] for row in full]),
        sides=[[word.side for word in row] for row in full],
        away=np.array([[word.away for word in row] for row in full]),
    )


def _labels(placed: Placed, drawn: list[int], frame: Frame, index: int) -> Iterator[Word]:
    """One label for points that lie together, beside the largest of them, on the side where there is room."""
    share, computing, intensity = placed.share[index], placed.computing[index], placed.intensity[index]
    across = np.zeros(len(share))
    across[drawn] = frame.across(intensity[drawn])
    for cluster in _clusters(placed, drawn, across, computing):
        if share[cluster].sum() < WORTH_A_LABEL:
            continue
        chosen = max(cluster, key=lambda at: float(share[at]))
        x, y = float(intensity[chosen]), float(placed.attained[index, chosen]) / TFLOP
        up = across[chosen] > 0.33 and not computing[chosen]
        left = up or across[chosen] > 0.5
        side = f"{'top' if up else 'bottom'} {'left' if left else 'right'}"
        away = 0.35 * float(_sizes(share[chosen])) + 2  # clear of the point itself
        yield Word(x, y, _cluster_words(placed, cluster, chosen), side, away)


def _clusters(placed: Placed, drawn: list[int], across: Floats, computing: NDArray[np.bool_]) -> Iterator[list[int]]:
    """Points on one roof, from left to right, cut where the next lies too far from the first."""
    cluster: list[int] = []
    for at in sorted(drawn, key=lambda at: (placed.roofs[at].name, across[at])):
        first = cluster[0] if cluster else at
        near = NEAR_ON_PEAK if computing[first] else NEAR_ON_SLOPE
        if placed.roofs[at] != placed.roofs[first] or across[at] - across[first] > near:
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
    return f"{placed.labels[chosen]} + {len(cluster) - 1}"


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
            bound,
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
