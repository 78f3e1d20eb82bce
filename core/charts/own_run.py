"""One run of our own benchmark as pictures: bandwidth over size, attention's two curves, kernels beside their launch,

and measured steps against their predictions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from core.charts.batch_parts import log_axis
from core.charts.live import LiveFigure
from core.charts.over_picture import Limit, RowLabels
from core.charts.stacked import stacked, stacked_layout
from core.checks import Floats
from core.display import BYTE_UNITS, digits, show_bytes, show_percent, show_rate, show_seconds
from core.layer_prediction import Judged, Score
from core.own_views import AttentionPair, Band, Bandwidth, LaunchView
from core.units import GB, MICROSECOND, MILLISECOND

ROLE_OF_CURVE = {"copy": "accent", "read": "gradients", "write": "communication", "unfused": "kv", "fused": "accent"}
ROLE_OF_PHASE = {"decode": "accent", "prefill": "gradients", "training": "kv"}
SYMBOL_OF_PHASE = {"decode": "circle", "prefill": "diamond", "training": "square"}
MODE_WORDS = {"graph": "launched from a graph", "eager": "launched one by one"}
VARIANT_WORDS = {"unfused": "scores written out", "fused": "fused kernel"}
_MARGIN = {"l": 64, "r": 16, "t": 28, "b": 48}
_LEGEND = {"orientation": "h", "y": 1.12}


def bandwidth(found: Bandwidth) -> LiveFigure:
    """Rates of copies, reads and writes over the size of the buffer, with the cache's size and the datasheet's rate."""
    traces = [_band(curve, GB, "GB/s", curve.name) for curve in found.curves]
    sizes = [curve.x for curve in found.curves]
    rates = [curve.median / GB for curve in found.curves]
    limits = [Limit(found.cache_bytes, f"last-level cache {show_bytes(found.cache_bytes)}", role="muted")]
    if found.datasheet_bytes_per_s is not None:
        sheet = found.datasheet_bytes_per_s / GB
        limits.append(Limit(sheet, f"datasheet {show_rate(found.datasheet_bytes_per_s, 'B')}", "y"))
        rates.append(np.array([sheet]))
    layout = _layout(log_axis("bytes of the buffer", *sizes), log_axis("GB/s", *rates))
    return LiveFigure({"data": traces, "layout": layout}, alt=[bandwidth_text(found)], limits=tuple(limits))


def bandwidth_text(found: Bandwidth) -> str:
    """What memory reaches, in a sentence for each curve."""
    said = []
    for name, rate in found.memory_bytes_per_s.items():
        sheet = found.datasheet_bytes_per_s
        share = "" if sheet is None else f", {show_percent(rate / sheet)} of the datasheet"
        said.append(f"{name}: {show_rate(rate, 'B')}{share}")
    return f"At the largest buffer {'; '.join(said)}."


def bandwidth_note(found: Bandwidth) -> str:
    """How the sizes are to be read, and whether the last ones can be memory's."""
    if found.beyond_cache:
        return "A copy moves its buffer twice. Small buffers stay in the cache; the last ones come from memory."
    return (
        "A copy moves its buffer twice. No buffer is larger than the last-level cache of "
        f"{show_bytes(found.cache_bytes)}, so none of these rates is surely memory's."
    )


def attention_times(pair: AttentionPair) -> LiveFigure:
    """Both curves over the sequence length."""
    traces = [_band(curve, MICROSECOND, "us", VARIANT_WORDS[name]) for name, curve in pair.seconds.items()]
    layout = _layout(
        log_axis("tokens", *(curve.x for curve in pair.seconds.values())),
        log_axis("microseconds", *(curve.median / MICROSECOND for curve in pair.seconds.values())),
    )
    return LiveFigure({"data": traces, "layout": layout}, alt=[attention_text(pair)])


def attention_text(pair: AttentionPair) -> str:
    """What the fused kernel gains, in words."""
    x, times = pair.speedup
    if not x.size:
        return f"Attention ({pair.direction}, {pair.heads}): only one of the two curves was measured."
    short, long = (digits(float(times[at]), 2) for at in (0, -1))
    return (
        f"Attention ({pair.direction}, {pair.heads}): the fused kernel is {short} times as fast at {x[0]:,.0f} tokens "
        f"and {long} times at {x[-1]:,.0f}."
    )


def attention_memory(pair: AttentionPair, unit: str) -> LiveFigure:
    """Peak memory of both over the sequence length."""
    traces, every = [], []
    for name, (x, num_bytes) in pair.peak_bytes.items():
        held = num_bytes / BYTE_UNITS[unit]
        traces.append(_line(VARIANT_WORDS[name], ROLE_OF_CURVE[name], x, held, f"%{{y:,.3r}} {unit}"))
        every.append((x, held))
    layout = _layout(
        log_axis("tokens", *(x for x, _ in every)), log_axis(f"{unit} at the peak", *(values for _, values in every))
    )
    return LiveFigure({"data": traces, "layout": layout}, alt=[memory_text(pair, unit)])


def memory_text(pair: AttentionPair, unit: str) -> str:
    """Both peaks at the longest length, in words."""
    ends = [
        f"{VARIANT_WORDS[name]}: {show_bytes(float(values[-1]), unit)} at {x[-1]:,.0f} tokens"
        for name, (x, values) in pair.peak_bytes.items()
    ]
    return f"Peak memory beyond the inputs ({pair.direction}): {'; '.join(ends)}."


def launches(view: LaunchView) -> LiveFigure:
    """Kernels of the smallest decode step as bars, with the time of a launch as a line across them."""
    names = [kernel.name for kernel in view.kernels]
    seconds = np.array([kernel.seconds for kernel in view.kernels]) / MICROSECOND
    eager = view.eager_s and view.eager_s / MICROSECOND
    # The longest would press the short ones, which this is about, to the axis.
    end = float(min(seconds.max(), 8 * float(np.median(seconds)))) * 1.05
    end = max(end, 1.3 * eager) if eager else end
    trace, tables = stacked(
        {"kernel": seconds[None, :]}, {"kernel": "accent"}, names, end=end, hover="%{customdata:,.3r} us"
    )
    limits = [Limit(eager, f"a launch {show_seconds(view.eager_s or 0.0)}")] if eager else []
    if view.graph_s is not None:
        limits.append(Limit(view.graph_s / MICROSECOND, f"in a graph {show_seconds(view.graph_s)}", role="muted"))
    return LiveFigure(
        {
            "data": [trace],
            "layout": stacked_layout("microseconds", end=end, height=90 + 30 * len(names), top=34),
        },
        tables,
        alt=[launch_text(view)],
        limits=tuple(limits),
        labels=RowLabels([[show_seconds(kernel.seconds) for kernel in view.kernels]], cut=seconds[None, :] > end),
    )


def launch_text(view: LaunchView) -> str:
    """Launches against kernels, in words."""
    if view.eager_s is None:
        return f"Inside a graph a kernel starts {show_seconds(view.graph_s or 0.0)} after the one before it."
    graph = "" if view.graph_s is None else f", {show_seconds(view.graph_s)} inside a graph"
    said = f"From one tiny kernel to the next {show_seconds(view.eager_s)} pass, launched one by one{graph}."
    if not view.kernels:
        return said
    verb = "takes" if view.shorter == 1 else "take"
    return (
        f"{said} Of the {len(view.kernels)} kinds of kernel in the smallest decode step {view.shorter} {verb} less "
        f"than the {show_seconds(view.eager_s)} of a launch."
    )


def graph_text(view: LaunchView) -> str:
    """What a graph gains over launching one by one, over all decode steps that were measured both ways."""
    gains = [eager / graph for _, eager, graph in view.steps]
    most = max(range(len(gains)), key=gains.__getitem__)
    return (
        f"Launched from a graph, the same decode step of one layer is {digits(min(gains), 2)} to "
        f"{digits(gains[most], 2)} times as fast; most with {view.steps[most][0]}."
    )


def predictions(judged: Sequence[Judged]) -> LiveFigure:
    """Each measured step as a point: measured time across, predicted up; the line is where both agree."""
    measured = np.array([one.measured_s for one in judged]) / MILLISECOND
    predicted = np.array([one.predicted_s for one in judged]) / MILLISECOND
    ends = np.array([min(measured.min(), predicted.min()) / 1.5, max(measured.max(), predicted.max()) * 1.5])
    traces: list[dict[str, Any]] = [
        _line("prediction = measurement", "muted", ends, ends, None),
        *(
            _line(f"{share:+.0%}", "muted", ends, ends * (1 + share), None, dash="3px,4px", width=1.0)
            for share in (-0.2, 0.2)
        ),
    ]
    for trace in traces[1:]:
        trace["showlegend"] = False
    for phase in dict.fromkeys(one.phase for one in judged):
        mine = [one for one in judged if one.phase == phase]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": phase,
                "x": [one.measured_s / MILLISECOND for one in mine],
                "y": [one.predicted_s / MILLISECOND for one in mine],
                "hovertext": [f"{step_name(one)}: {one.error:+.1%}" for one in mine],
                "hovertemplate": "%{hovertext}<extra></extra>",
                "marker": {"size": 8, "symbol": SYMBOL_OF_PHASE[phase]},
                "meta": {"role": ROLE_OF_PHASE[phase]},
            }
        )
    layout = _layout(log_axis("measured, ms", ends), log_axis("predicted, ms", ends))
    return LiveFigure({"data": traces, "layout": layout | {"height": 400}}, alt=[predictions_text(judged)])


def predictions_text(judged: Sequence[Judged]) -> str:
    """How many points lie where, in words."""
    near = sum(abs(one.error) <= 0.2 for one in judged)
    return f"Predicted against measured times of {len(judged)} steps of one layer: {near} lie within 20% of measured."


def score_text(score: Score) -> str:
    """One phase's errors in a sentence."""
    side = "short" if score.bias < 0 else "long"
    what = f"{score.phase[0].upper()}{score.phase[1:]}, {MODE_WORDS[score.mode]}, {score.count} steps"
    return (
        f"{what}: median error {show_percent(score.median)}, 90th percentile {show_percent(score.p90)}, worst "
        f"{show_percent(score.worst)}; predictions tend to be too {side}."
    )


def step_name(one: Judged) -> str:
    """One step in words."""
    what = "context" if one.phase == "decode" else "tokens"
    return f"{one.phase}, {one.model}, batch {one.batch:,}, {what} {one.seq_len:,}, {one.mode}"


def _layout(x: dict[str, Any], y: dict[str, Any]) -> dict[str, Any]:
    return {"height": 340, "margin": _MARGIN, "showlegend": True, "legend": _LEGEND, "xaxis": x, "yaxis": y}


def _band(curve: Band, scale: float, unit: str, words: str) -> dict[str, Any]:
    """A curve with marks at what was measured and its spread as error bars."""
    trace = _line(words, ROLE_OF_CURVE[curve.name], curve.x, curve.median / scale, f"%{{y:,.3r}} {unit}")
    spread = {"array": (curve.high - curve.median) / scale, "arrayminus": (curve.median - curve.low) / scale}
    bars = {"type": "data", "symmetric": False, "thickness": 1, "width": 3, **spread}
    return trace | {"mode": "lines+markers", "error_y": bars, "marker": {"size": 6}}


def _line(
    name: str, role: str, x: Floats, y: Floats, hover: str | None, *, dash: str = "solid", width: float = 2.0
) -> dict[str, Any]:
    shown = {"hoverinfo": "skip"} if hover is None else {"hovertemplate": f"%{{x:,.0f}}: {hover}<extra>{name}</extra>"}
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": x,
        "y": y,
        "line": {"width": width, "dash": dash},
        "meta": {"role": role},
        **shown,
    }
