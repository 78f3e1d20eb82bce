"""Lines, dots, axes and words that the pictures of step 5 share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from core.checks import Floats
from core.display import show_percent

SPACING = 0.22  # of the axis between two labels: on a phone a time under each needs that
_REQUEST_TICKS = [1, 16, 256, 4096, 65_536, 1_048_576]


def columns(values: Mapping[str, Any], rows: int) -> dict[str, list[object]]:
    return {name: np.broadcast_to(column, (rows,)).tolist() for name, column in values.items()}


def line(
    name: str,
    role: str,
    x: Sequence[int],
    y: Floats,
    *,
    dash: str | None = None,
    width: float = 2.5,
) -> dict[str, Any]:
    trace = {"type": "scatter", "mode": "lines", "name": name, "x": list(x), "y": y}
    line = {"width": width} | ({"dash": dash} if dash else {})
    return trace | {"line": line, "meta": {"role": role}, "hovertemplate": "%{y:,.3r}<extra>" + name + "</extra>"}


def requests_axis(batch: Sequence[int], below: Sequence[str] = ()) -> dict[str, Any]:
    """The batch on a logarithmic axis; ``below`` has words for each position, shown under the labels.

    The first label says what is counted, so that the axis needs no title.
    """
    ends = [math.log10(batch[0]) - 0.06, math.log10(batch[-1]) + 0.06]
    room = math.ceil(SPACING * (ends[1] - ends[0]) / math.log10(16))
    ticks = [tick for tick in _REQUEST_TICKS[::room] if tick in batch]
    names = [requests(tick) if tick == batch[0] else f"{tick:,}" for tick in ticks]
    words = [f"<br>{below[list(batch).index(tick)]}" if below else "" for tick in ticks]
    return {
        "type": "log",
        "range": ends,
        "tickvals": ticks,
        "ticktext": [f"{name}{under}" for name, under in zip(names, words, strict=True)],
        "fixedrange": True,
        "showgrid": False,
    }


def log_axis(title: str, *values: Floats) -> dict[str, Any]:
    """A logarithmic axis around all of some values, with three or four labels at most."""
    low, high = min(float(v.min()) for v in values), max(float(v.max()) for v in values)
    ends = [math.log10(low) - 0.1, math.log10(high) + 0.15]
    dtick = 1 if ends[1] - ends[0] < 4 else 2
    return {"type": "log", "range": ends, "dtick": dtick, "title": {"text": title}, "fixedrange": True}


def requests(count: int) -> str:
    return f"{count:,} request" + ("s" if count != 1 else "")


def joined(*words: str | None) -> str:
    return "; ".join(word for word in words if word)


def share_against(share: float) -> str:
    return "no change" if abs(share) < 0.0005 else f"{'+' if share > 0 else '-'}{show_percent(abs(share))}"


def count_against(difference: int) -> str:
    sign = "+" if difference > 0 else "-"
    return "no change against pinned" if not difference else f"{sign}{abs(difference):,} against pinned"
