"""Bytes as lines on logarithmic axes, with dots that a slider moves along them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from core.charts.over_picture import Dots
from core.checks import Floats
from core.display import show_bytes

_STEPS = {
    "GB": [(name, 1000**k) for k, name in enumerate(("B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB"))],
    "GiB": [(name, 1024**k) for k, name in enumerate(("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB"))],
}
HEIGHT = 340  # pixels
MOST_TICKS = 5


def log_figure(x: Floats, lines: Sequence[tuple[str, str, Floats]], unit: str) -> tuple[dict[str, Any], Dots]:
    """Lines that stand still, and a dot on each at every position."""
    traces: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": name,
            "x": x,
            "y": values,
            "customdata": [show_bytes(float(value), unit) for value in values],
            "hovertemplate": "%{customdata}<extra>" + name + "</extra>",
            "meta": {"role": role},
            "line": {"dash": dash},
        }
        for (name, role, values), dash in zip(lines, ("solid", "10px,3px", "2px,3px"), strict=False)
    ]
    heights = np.stack([values for _, _, values in lines], axis=-1)
    dots = Dots(np.repeat(x[:, None], len(lines), axis=1), heights, [role for _, role, _ in lines])
    layout = {"height": HEIGHT, "margin": {"l": 64, "r": 20, "t": 30, "b": 48}}
    return {"data": traces, "layout": layout}, dots


def level(x: Floats, level: float, name: str, role: str) -> dict[str, Any]:
    """A level line, with its name in the key."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": [x[0], x[-1]],
        "y": [level, level],
        "hoverinfo": "skip",
        "line": {"dash": "2px,3px" if role == "muted" else "solid", "width": 2},
        "meta": {"role": role},
    }


def axis(title: str, ticks: Sequence[float], texts: Sequence[str], values: Floats) -> dict[str, Any]:
    """A logarithmic axis from the first value to the last, with ticks of its own."""
    room = 0.03 * np.log10(values[-1] / values[0])
    return {
        "type": "log",
        "title": {"text": title},
        "tickvals": list(ticks),
        "ticktext": list(texts),
        "range": [float(np.log10(values[0]) - room), float(np.log10(values[-1]) + room)],
        "fixedrange": True,
    }


def byte_axis(title: str, values: Floats, unit: str) -> dict[str, Any]:
    """A logarithmic axis of bytes around some values, ticks in the reader's family of units."""
    low, high = reach(values)

    def ticks(*parts: int) -> list[tuple[int, str]]:
        whole = [(size * part, f"{part} {name}") for name, size in _STEPS[unit] for part in parts]
        return [(size, text) for size, text in whole if low <= size <= high]

    inside = ticks(1, 10, 100)
    if len(inside) < 2:  # close together: no two powers of ten between them
        inside = ticks(1, 2, 5, 10, 20, 50, 100, 200, 500)
    every = -(-len(inside) // MOST_TICKS)
    return {
        "type": "log",
        "title": {"text": title},
        "tickvals": [size for size, _ in inside[::every]],
        "ticktext": [text for _, text in inside[::every]],
        "range": [float(np.log10(low)), float(np.log10(high))],
        "fixedrange": True,
    }


def reach(values: Floats) -> tuple[float, float]:
    """An axis with some room around the values."""
    return float(values.min()) / 2.0, float(values.max()) * 2.0
