"""A trace's time split as stacked bars: one bar a GPU, or one a step of one GPU."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.charts.live import LiveFigure
from core.charts.over_picture import RowLabels
from core.charts.stacked import stacked, stacked_layout
from core.checks import Floats
from core.display import show_percent, show_seconds
from core.trace.report import TraceReport
from core.trace.split import GpuSplit
from core.units import MILLISECOND

# Work, then what is lost to other GPUs and to copies, then idle time by what it waited on.
ROLE_OF_PART = {
    "compute": "accent",
    "exposed communication": "communication",
    "copies": "optimizer",
    "idle: launch": "kv",
    "idle: input": "gradients",
    "idle: communication": "activations",
    "idle: queued": "idle",
    "idle: unknown": "other",
}
MOST_ROWS = 24  # bars that a reader can still compare


def by_gpu(report: TraceReport) -> LiveFigure:
    """The whole of each GPU."""
    shown = report.gpus[:MOST_ROWS]
    parts = {name: np.array([float(gpu.whole.parts()[name]) for gpu in shown]) for name in ROLE_OF_PART}
    return _bars([gpu_name(gpu, report) for gpu in shown], parts)


def by_step(gpu: GpuSplit) -> LiveFigure:
    """Each profiler step of one GPU."""
    count = min(gpu.steps.size, MOST_ROWS)
    parts = {name: values[:count] for name, values in gpu.by_step.parts().items()}
    return _bars([f"step {number}" for number in gpu.steps[:count]], parts)


def gpu_name(gpu: GpuSplit, report: TraceReport) -> str:
    """A rank, and its GPU where it has several."""
    alone = sum(other.rank == gpu.rank for other in report.gpus) == 1
    return f"rank {gpu.rank}" if alone else f"rank {gpu.rank}, GPU {gpu.device}"


def _bars(rows: Sequence[str], parts: dict[str, Floats]) -> LiveFigure:
    """Horizontal bars; parts that no row has are left out."""
    there = {name: values for name, values in parts.items() if np.any(values > 0)} or {"compute": parts["compute"]}
    whole = np.sum(list(there.values()), axis=0)
    end = 1.02 * float(whole.max()) / MILLISECOND or 1.0
    trace, tables = stacked(
        {name: values[None, :] / MILLISECOND for name, values in there.items()},
        ROLE_OF_PART,
        rows,
        end=end,
        hover="%{customdata:,.3r} ms",
    )
    return LiveFigure(
        {"data": [trace], "layout": stacked_layout("milliseconds", end=end, height=84 + 34 * len(rows), top=8)},
        tables,
        alt=[" ".join(_sentence(row, at, there, float(whole[at])) for at, row in enumerate(rows))],
        labels=RowLabels([[show_seconds(float(seconds)) for seconds in whole]]),
    )


def _sentence(row: str, at: int, parts: dict[str, Floats], whole: float) -> str:
    shares = [
        f"{name} {show_percent(float(values[at]) / whole)}"
        for name, values in parts.items()
        if whole and values[at] > 0
    ]
    return f"{row[0].upper()}{row[1:]}, {show_seconds(whole)}: {', '.join(shares) or 'nothing'}."
