"""Memory of one GPU as stacked bars against the line of what the GPU has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.charts.live import LiveFigure, LiveSlider, Readout, TraceTable
from core.display import BYTE_UNITS, show_bytes

Floats = NDArray[np.float64]

PART_ROLES: Mapping[str, str] = {
    "weights": "weights",
    "gradients": "gradients",
    "optimizer": "optimizer",
    "activations": "activations",
    "transients": "communication",
}


def stacked_bars(
    parts: Mapping[str, Floats],
    rows: Sequence[str],
    hbm_bytes: float,
    *,
    unit: str,
    end_bytes: float | None = None,
    bold: int | None = None,
    slider: LiveSlider | None = None,
    readouts: tuple[Readout, ...] = (),
) -> LiveFigure:
    """Horizontal stacked bars, one a row, against the line of what the GPU has; the total stands beside each bar.

    A GPU's memory may be HBM or GDDR, so the line says memory.

    Args:
        parts: bytes by part name; each of shape (positions, rows).
        rows: names of the bars, top first.
        hbm_bytes: where the dashed line stands. [bytes]
        unit: "GB" or "GiB".
        end_bytes: where the axis ends; one and a half times the line unless given. A longer bar is drawn up to there.
        bold: index of the row that the scenario has chosen.
        slider: for more than one position.
        readouts: numbers beside the picture.
    """
    scale = BYTE_UNITS[unit]
    end = max(end_bytes or 0.0, 1.5 * hbm_bytes) / scale
    totals = np.sum(list(parts.values()), axis=0)
    names = [f"<b>{row}</b>" if index == bold else row for index, row in enumerate(rows)]
    traces: list[dict[str, Any]] = []
    tables: list[TraceTable] = []
    left = np.zeros_like(totals)
    for index, (name, values) in enumerate(parts.items()):
        right = np.minimum(left + values / scale, end)
        traces.append(
            {
                "type": "bar",
                "name": name,
                "orientation": "h",
                "y": names,
                "x": (right - left)[0],
                "customdata": (values / scale)[0],  # the whole value, where the bar ends with the axis
                "hovertemplate": "%{customdata:,.3r} " + unit + "<extra>" + name + "</extra>",
                "meta": {"role": PART_ROLES[name]},
            }
        )
        tables.append(TraceTable(index, "x", right - left))
        tables.append(TraceTable(index, "customdata", values / scale))
        left = right
    labels = [[_total(float(t), hbm_bytes, unit, index == bold) for index, t in enumerate(row)] for row in totals]
    traces.append(
        {
            "type": "scatter",
            "mode": "text",
            "y": names,
            "x": [end] * len(rows),
            "text": labels[0],
            "textposition": "middle right",
            "hoverinfo": "skip",
            "showlegend": False,
            "cliponaxis": False,
            "meta": {"role": "limit"},
        }
    )
    tables.append(TraceTable(len(parts), "text", labels))
    line = hbm_bytes / scale
    layout = {
        "barmode": "stack",
        "bargap": 0.35,
        "height": 110 + (46 if len(rows) <= 8 else 24) * len(rows),
        "margin": {"l": 96, "r": 118, "t": 30, "b": 44},
        "xaxis": {"range": [0, end], "title": {"text": f"{unit} per GPU"}, "fixedrange": True},
        "yaxis": {"autorange": "reversed", "fixedrange": True},
        "shapes": [{"type": "line", "x0": line, "x1": line, "y0": 0, "y1": 1, "yref": "paper"}],
        "annotations": [
            {
                "x": line,
                "y": 1,
                "yref": "paper",
                "yanchor": "bottom",
                "showarrow": False,
                "text": f"{show_bytes(hbm_bytes, unit)} of memory",
            }
        ],
    }
    alt = [_alt(rows, row, hbm_bytes, unit, slider.positions[i] if slider else "") for i, row in enumerate(totals)]
    return LiveFigure({"data": traces, "layout": layout}, tuple(tables), slider, readouts, alt)


def _total(total: float, hbm_bytes: float, unit: str, bold: bool) -> str:
    text = show_bytes(total, unit) + ("" if total <= hbm_bytes else " ✕")
    return f"<b>{text}</b>" if bold else text


def _alt(rows: Sequence[str], totals: Floats, hbm_bytes: float, unit: str, position: str) -> str:
    said = ", ".join(
        f"{row} {show_bytes(float(total), unit)}{'' if total <= hbm_bytes else ', which does not fit'}"
        for row, total in zip(rows, totals, strict=True)
    )
    return f"{position + ': ' if position else ''}memory per GPU by row, against {show_bytes(hbm_bytes, unit)}: {said}."
