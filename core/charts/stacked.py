"""Horizontal stacked bars as one trace, since Plotly's work at each position grows with the number of traces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from core.charts.live import TraceTable
from core.checks import Floats


def stacked(
    parts: Mapping[str, Floats], roles: Mapping[str, str], rows: Sequence[str], *, end: float, hover: str
) -> tuple[dict[str, Any], tuple[TraceTable, ...]]:
    """Bars whose parts lie end to end, one a row; a longer bar is drawn up to the end of the axis.

    Args:
        parts: by name, each of shape (positions, rows), in the axis's unit.
        roles: of each part, by name.
        rows: names of the bars, top first.
        end: where the axis ends, in its unit.
        hover: what follows a part's name: ``%{customdata}`` is its whole value, also beyond the axis.

    Returns:
        the trace, to be the figure's first, and its tables.
    """
    whole = np.stack(list(parts.values()), axis=-2)  # (positions, parts, rows)
    edges = np.minimum(np.cumsum(whole, axis=-2), end)
    starts = np.concatenate([np.zeros_like(edges[:, :1]), edges[:, :-1]], axis=-2)
    tables = {"base": starts, "x": edges - starts, "customdata": whole}
    frames = {name: values.reshape(len(values), -1) for name, values in tables.items()}
    trace = {
        "type": "bar",
        "orientation": "h",
        "y": list(rows) * len(parts),
        **{name: values[0] for name, values in frames.items()},
        "hovertemplate": "%{hovertext}: " + hover + "<extra></extra>",
        "meta": {
            "parts": [name for name in parts for _ in rows],
            "roles": [roles[name] for name in parts for _ in rows],
        },
    }
    return trace, tuple(TraceTable(0, name, values) for name, values in frames.items())


def stacked_layout(title: str, *, end: float, height: float, top: int = 30) -> dict[str, Any]:
    """Rows from the top down, along an axis that ends at ``end``; ``top`` leaves room for the names of limits.

    Margins beside the rows are the browser's: they hold the longest name and the longest label.
    """
    return {
        "barmode": "overlay",  # parts say themselves where they start
        "bargap": 0.35,
        "barcornerradius": 0,  # each part would be rounded
        "height": height,
        "margin": {"t": top, "b": 44},
        "xaxis": {"range": [0, end], "title": {"text": title}, "fixedrange": True},
        "yaxis": {"autorange": "reversed", "fixedrange": True},
    }
