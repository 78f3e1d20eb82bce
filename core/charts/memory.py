"""Memory of one GPU as stacked bars against the line of what the GPU has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from core.charts.live import LiveFigure, LiveSlider, Readout
from core.charts.over_picture import Limit, RowLabels
from core.charts.stacked import stacked, stacked_layout
from core.checks import Floats
from core.display import BYTE_UNITS, show_bytes

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
    names = [f"<b>{row}</b>" if index == bold else row for index, row in enumerate(rows)]
    shown = {name: values / scale for name, values in parts.items()}
    trace, tables = stacked(shown, PART_ROLES, names, end=end, hover="%{customdata:,.3r} " + unit)
    height = 110 + (46 if len(rows) <= 8 else 24) * len(rows)
    totals = np.sum(list(parts.values()), axis=0)
    line = Limit(hbm_bytes / scale, f"{show_bytes(hbm_bytes, unit)} of memory")
    texts = [[_total(float(total), hbm_bytes, unit) for total in row] for row in totals]
    labels = RowLabels(texts, cut=totals / scale > end, bold=bold)
    alt = [_alt(rows, row, hbm_bytes, unit, slider.positions[i] if slider else "") for i, row in enumerate(totals)]
    return LiveFigure(
        {"data": [trace], "layout": stacked_layout(f"{unit} per GPU", end=end, height=height)},
        tables,
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
