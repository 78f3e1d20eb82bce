"""The pictures of step 3 that are charts: time of a step by axis over GPUs, and MFU on more and more GPUs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from core.charts.live import LiveFigure, LiveSlider, Readout
from core.charts.over_picture import RowLabels
from core.charts.stacked import stacked, stacked_layout
from core.checks import Floats
from core.communication import AxisSweep, Curve, Difference, Headline, Scaling
from core.display import show_bytes, show_difference, show_percent, show_seconds

WORK, EXPOSED, ON_LINKS = "work: kernels and optimizer", "exposed", "on the links"
HIDDEN, BUBBLE = "hidden behind work", "bubble: a stage waits"
ROLE_OF_PART = {WORK: "accent", EXPOSED: "communication", ON_LINKS: "communication", HIDDEN: "other", BUBBLE: "idle"}
_GPU_TICKS = tuple(4**k for k in range(14))  # beyond the most GPUs that a layout can name on one axis
MOST_TICKS = 8


@lru_cache(maxsize=64)
def by_axis(sweep: AxisSweep, *, gpus_per_replica: int, unit: str, baseline: Headline | None) -> LiveFigure:
    """One bar an axis, exposed and hidden time, beside the work that hides it; live over the number of GPUs.

    Args:
        sweep: times and bytes over positions.
        gpus_per_replica: GPUs that one data-parallel rank consists of.
        unit: "GB" or "GiB", for bytes.
        baseline: numbers to compare with, if some are pinned.
    """
    count, known = len(sweep.data_parallel), sweep.step_s is not None
    zero = np.zeros(count)
    rows = [*(["work"] if known else []), *sweep.axes, *(["bubble"] if known and "pipeline" in sweep.axes else [])]

    def column(values: Mapping[Any, Any]) -> Floats:
        return np.stack([np.broadcast_to(values.get(row, zero), (count,)) for row in rows], axis=-1)

    exposed = {axis: sweep.exposed_s[axis] for axis in sweep.axes}
    hidden = {axis: sweep.hidden_s[axis] for axis in sweep.axes}
    parts = {
        WORK: column({"work": sweep.work_s}),
        EXPOSED if known else ON_LINKS: column(exposed),
        HIDDEN: column(hidden),
        BUBBLE: column({"bubble": sweep.bubble_s}),
    }
    parts = {name: values for name, values in parts.items() if np.any(values > 0) or name in (EXPOSED, ON_LINKS)}
    totals = np.sum(list(parts.values()), axis=0)
    end = 1.02 * float(totals.max()) or 1.0
    trace, tables = stacked(parts, ROLE_OF_PART, rows, end=end, hover="%{customdata:,.3r} s")
    layout = stacked_layout("seconds of a step, estimate", end=end, height=84 + 52 * len(rows), top=8)
    labels = [
        [_label(sweep, row, position, float(totals[position, k]), unit) for k, row in enumerate(rows)]
        for position in range(count)
    ]
    heads = [sweep.headline(position) for position in range(count)]
    gaps = [head.against(baseline) if baseline else None for head in heads]
    return LiveFigure(
        {"data": [trace], "layout": layout},
        tables,
        LiveSlider(
            "GPUs",
            [_gpus(n, ranks, gpus_per_replica) for n, ranks in zip(sweep.num_gpus, sweep.data_parallel, strict=True)],
        ),
        _readouts(sweep, heads, gaps, unit),
        [_alt(sweep, position, head) for position, head in enumerate(heads)],
        labels=RowLabels(labels),
    )


def _label(sweep: AxisSweep, row: str, position: int, seconds: float, unit: str) -> str:
    """What stands beside a bar: of an axis the bytes, of the rest the time."""
    if row in ("work", "bubble"):
        return show_seconds(seconds)
    sent = float(sweep.sent_bytes[row][position])  # type: ignore[index]
    return show_bytes(sent, unit) if sent else "nothing"


def _readouts(
    sweep: AxisSweep, heads: Sequence[Headline], gaps: Sequence[Difference | None], unit: str
) -> tuple[Readout, ...]:
    busiest = [sweep.busiest(position) for position in range(len(heads))]
    sent = Readout(
        "each GPU sends, a step",
        [show_bytes(head.sent_bytes, unit) for head in heads],
        [
            _joined(
                f"most of it {axis} parallel" if axis else "nothing to exchange",
                f"{show_difference(gap.sent_bytes, unit)} against pinned" if gap else None,
            )
            for axis, gap in zip(busiest, gaps, strict=True)
        ],
    )
    if sweep.step_s is None:
        return (
            Readout(
                "communication, estimate",
                [show_seconds(head.on_links_s) for head in heads],
                ["how much of it hides is unknown: no confirmed peak"] * len(heads),
                emphasis=True,
            ),
            sent,
        )
    return (
        Readout(
            "exposed communication, a step",
            [_time(head.exposed_s or 0.0) for head in heads],
            [
                _joined(f"{show_percent(head.exposed_share or 0.0)} of the step", gap and _time_gap(gap.exposed_s))
                for head, gap in zip(heads, gaps, strict=True)
            ],
            emphasis=True,
        ),
        Readout(
            "step, estimate",
            [show_seconds(head.step_s or 0.0) for head in heads],
            [
                _joined(f"MFU {show_percent(head.mfu or 0.0)}", gap and _time_gap(gap.step_s))
                for head, gap in zip(heads, gaps, strict=True)
            ],
        ),
        sent,
    )


def _alt(sweep: AxisSweep, position: int, head: Headline) -> str:
    def said(axis: str) -> str:
        exposed, hidden = (float(part[axis][position]) for part in (sweep.exposed_s, sweep.hidden_s))  # type: ignore[index]
        if not exposed and not hidden:
            return f"{axis} parallel sends nothing"
        if sweep.step_s is None:
            return f"{axis} parallel {show_seconds(exposed)} on the links"
        return f"{axis} parallel {_time(exposed)} exposed and {_time(hidden)} hidden"

    axes = ", ".join(said(axis) for axis in sweep.axes)
    gpus = f"{sweep.num_gpus[position]:,} GPU" + ("s" if sweep.num_gpus[position] > 1 else "")
    if head.step_s is None:
        return f"{gpus}: estimated time of communication in a step: {axes}."
    bubble = f", {show_seconds(head.bubble_s)} of bubble" if head.bubble_s else ""
    return f"{gpus}: of a step of {show_seconds(head.step_s)}, {axes}{bubble}."


@lru_cache(maxsize=64)
def scaling_figure(scaling: Scaling) -> LiveFigure:
    """MFU over GPUs, once with the batch kept and once with the batch growing; the scenario's own place is marked."""
    curves = {"strong: the batch stays": scaling.strong, "weak: the batch grows": scaling.weak}
    traces: list[dict[str, Any]] = []
    for (name, curve), role in zip(curves.items(), ("communication", "accent"), strict=True):
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": name,
                "x": list(curve.num_gpus),
                "y": _percent(curve.mfu),
                "line": {"dash": "8px,4px" if role == "communication" else "solid"},
                "marker": {"size": 8, "symbol": ["circle" if fits else "circle-open" for fits in curve.fits]},
                "hovertemplate": "%{x:,} GPUs: MFU %{y:.1f}%<extra>" + name + "</extra>",
                "cliponaxis": False,
                "meta": {"role": role},
            }
        )
    own = scaling.weak.mfu[scaling.weak.num_gpus.index(scaling.own_gpus)]
    traces.append(
        {
            "type": "scatter",
            "mode": "markers",
            "x": [scaling.own_gpus],
            "y": _percent([own]),
            "marker": {"size": 14, "symbol": "diamond"},
            "hovertemplate": f"this scenario: {scaling.own_gpus:,} GPUs<extra></extra>",
            "showlegend": False,
            "meta": {"role": "limit"},
        }
    )
    low, high = _ends(scaling)
    ticks = [tick for tick in _GPU_TICKS if low <= tick <= high] or [low]
    ticks = ticks[:: -(-len(ticks) // MOST_TICKS)]
    all_fit = all(all(curve.fits) for curve in curves.values())
    top = max(max(curve.mfu) for curve in curves.values())
    layout = {
        "height": 320,
        "margin": {"l": 56, "r": 24, "t": 24, "b": 48},
        "xaxis": {
            "type": "log",
            "range": [math.log10(low) - 0.15, math.log10(high) + 0.15],
            "tickvals": ticks,
            "ticktext": [f"{tick:,}" for tick in ticks],
            "title": {"text": "GPUs" if all_fit else "GPUs (open marks: the memory does not suffice)"},
            "fixedrange": True,
        },
        "yaxis": {"range": [0, 125 * top], "title": {"text": "MFU, %, estimate"}, "fixedrange": True},
    }
    said = " ".join(_curve_in_words(name, curve) for name, curve in curves.items())
    return LiveFigure({"data": traces, "layout": layout}, readouts=_scaling_readouts(scaling), alt=[said])


def _scaling_readouts(scaling: Scaling) -> tuple[Readout, ...]:
    def at_end(name: str, curve: Curve, emphasis: bool) -> Readout:
        note = f"{show_percent(curve.of_first[-1])} of the throughput a GPU has on {curve.num_gpus[0]:,}"
        return Readout(
            f"{name}, on {_count(curve.num_gpus[-1])}", [f"MFU {show_percent(curve.mfu[-1])}"], [note], emphasis
        )

    return at_end("strong scaling", scaling.strong, True), at_end("weak scaling", scaling.weak, False)


def _count(gpus: int) -> str:
    return f"{gpus:,} GPU" + ("s" if gpus > 1 else "")


def _curve_in_words(name: str, curve: Curve) -> str:
    first, last = (f"{show_percent(curve.mfu[k])} on {_count(curve.num_gpus[k])}" for k in (0, -1))
    return f"{name.capitalize()}, MFU goes from {first} to {last}."


def _ends(scaling: Scaling) -> tuple[int, int]:
    counts = (*scaling.strong.num_gpus, *scaling.weak.num_gpus)
    return min(counts), max(counts)


def _percent(shares: Sequence[float]) -> list[float]:
    return [100 * share for share in shares]


def sweep_table(sweep: AxisSweep) -> dict[str, list[object]]:
    """The first chart's data as columns, one row a position and axis: bytes and seconds, for a spreadsheet."""
    shape = len(sweep.data_parallel), len(sweep.axes)

    def each(values: Any) -> list[object]:
        return list(
            np.stack([np.broadcast_to(values[axis], shape[:1]) for axis in sweep.axes], axis=-1).ravel().tolist()
        )

    columns: dict[str, list[object]] = {
        "gpus": np.repeat(sweep.num_gpus, shape[1]).tolist(),
        "data_parallel": np.repeat(sweep.data_parallel, shape[1]).tolist(),
        "axis": [*sweep.axes] * shape[0],
        "sent_bytes": each(sweep.sent_bytes),
    }
    if sweep.step_s is None:
        return columns | {"on_links_s": each(sweep.exposed_s)}
    assert sweep.bubble_s is not None
    times: dict[str, list[object]] = {
        "exposed_s": each(sweep.exposed_s),
        "hidden_s": each(sweep.hidden_s),
        "bubble_s": [*np.repeat(sweep.bubble_s, shape[1]).tolist()],
        "step_s": [*np.repeat(sweep.step_s, shape[1]).tolist()],
    }
    return columns | times


def scaling_table(scaling: Scaling) -> dict[str, list[object]]:
    """Both curves as columns, for a spreadsheet."""
    rows = [
        (mode, gpus, mfu, of_first, fits)
        for mode, curve in (("strong", scaling.strong), ("weak", scaling.weak))
        for gpus, mfu, of_first, fits in zip(curve.num_gpus, curve.mfu, curve.of_first, curve.fits, strict=True)
    ]
    names = ("mode", "gpus", "mfu", "throughput_of_first", "fits")
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


def _gpus(gpus: int, ranks: int, per_replica: int) -> str:
    count = f"{gpus:,} GPU" + ("s" if gpus > 1 else "")
    return count if per_replica == 1 else f"{count} ({ranks:,} x {per_replica:,})"


def _time(seconds: float) -> str:
    return show_seconds(seconds) if seconds else "0 s"


def _time_gap(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    if abs(seconds) < 1e-9:
        return "no change against pinned"
    return f"{'+' if seconds > 0 else '-'}{show_seconds(abs(seconds))} against pinned"


def _joined(*words: object) -> str:
    return "; ".join(str(word) for word in words if word)
