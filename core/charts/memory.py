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
    memory, fits = show_bytes(hbm_bytes, unit), (totals <= hbm_bytes).tolist()
    line = Limit(hbm_bytes / scale, f"{memory} of memory")
    amounts = [[show_bytes(total, unit) for total in row] for row in totals.tolist()]
    texts = [
        [amount if fit else f"{amount} ✕" for amount, fit in zip(*row, strict=True)]
        for row in zip(amounts, fits, strict=True)
    ]
    labels = RowLabels(texts, cut=totals / scale > end, bold=bold)
    positions = slider.positions if slider else [""] * len(totals)
    alt = [_alt(rows, *row, memory) for row in zip(positions, amounts, fits, strict=True)]
    return LiveFigure(
        {"data": [trace], "layout": stacked_layout(f"{unit} per GPU", end=end, height=height)},
        tables,
        slider,
        readouts,
        alt,
        limits=(line,),
        labels=labels,
    )


def _alt(rows: Sequence[str], position: str, amounts: Sequence[str], fits: Sequence[bool], memory: str) -> str:
    said = ", ".join(
        f"{row} {amount}{'' if fit else ', which does not fit'}"
        for row, amount, fit in zip(rows, amounts, fits, strict=True)
    )
    return f"{position + ': ' if position else ''}memory per GPU by row, against {memory}: {said}."
