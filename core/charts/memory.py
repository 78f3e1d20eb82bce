"""Memory of one GPU as stacked bars against the line of what the GPU has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from core.charts.live import Limit, LiveFigure, LiveSlider, Readout, RowLabels, TraceTable
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
    whole = np.stack(list(parts.values()), axis=-2) / scale  # (positions, parts, rows)
    edges = np.minimum(np.cumsum(whole, axis=-2), end)
    starts = np.concatenate([np.zeros_like(edges[:, :1]), edges[:, :-1]], axis=-2)
    totals = np.sum(list(parts.values()), axis=0)
    tables = {"base": starts, "x": edges - starts, "customdata": whole}  # whole: also of a part beyond the axis
    frames = {name: values.reshape(len(values), -1) for name, values in tables.items()}
    trace = {
        "type": "bar",
        "orientation": "h",
        "y": [f"<b>{row}</b>" if index == bold else row for index, row in enumerate(rows)] * len(parts),
        **{name: values[0] for name, values in frames.items()},
        "hovertemplate": "%{hovertext}: %{customdata:,.3r} " + unit + "<extra></extra>",
        "meta": {
            "parts": [name for name in parts for _ in rows],
            "roles": [PART_ROLES[name] for name in parts for _ in rows],
        },
    }
    layout = {
        "barmode": "overlay",
        "bargap": 0.35,
        "barcornerradius": 0,  # each part would be rounded
        "height": 110 + (46 if len(rows) <= 8 else 24) * len(rows),
        "margin": {"t": 30, "b": 44},
        "xaxis": {"range": [0, end], "title": {"text": f"{unit} per GPU"}, "fixedrange": True},
        "yaxis": {"autorange": "reversed", "fixedrange": True},
    }
    line = Limit(hbm_bytes / scale, f"{show_bytes(hbm_bytes, unit)} of memory")
    texts = [[_total(float(total), hbm_bytes, unit) for total in row] for row in totals]
    labels = RowLabels(texts, cut=totals / scale > end, bold=bold)
    alt = [_alt(rows, row, hbm_bytes, unit, slider.positions[i] if slider else "") for i, row in enumerate(totals)]
    return LiveFigure(
        {"data": [trace], "layout": layout},
        tuple(TraceTable(0, name, values) for name, values in frames.items()),
        slider,
        readouts,
        alt,
        limits=(line,),
        labels=labels,
    )


def _total(total: float, hbm_bytes: float, unit: str) -> str:
    return show_bytes(total, unit) + ("" if total <= hbm_bytes else " ✕")


def _alt(rows: Sequence[str], totals: Floats, hbm_bytes: float, unit: str, position: str) -> str:
    said = ", ".join(
        f"{row} {show_bytes(float(total), unit)}{'' if total <= hbm_bytes else ', which does not fit'}"
        for row, total in zip(rows, totals, strict=True)
    )
    return f"{position + ': ' if position else ''}memory per GPU by row, against {show_bytes(hbm_bytes, unit)}: {said}."
