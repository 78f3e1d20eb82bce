"""A trace's report as rows to read, and as columns for a CSV."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.display import show_bytes, show_percent, show_seconds
from core.trace.kernels import CollectiveTotal, KernelTotal
from core.trace.launches import Launches
from core.trace.report import TraceReport
from core.trace.split import Split

Row = dict[str, str]
TOP_KERNELS = 10
LONGEST_NAME = 64  # characters; templates make names of hundreds


def split_rows(names: Sequence[str], splits: Sequence[Split]) -> list[Row]:
    """One row for each GPU's or step's split of shape (): parts in time and share."""
    kept = [part for part in splits[0].parts() if any(float(each.parts()[part]) > 0 for each in splits)]
    rows = []
    for name, each in zip(names, splits, strict=True):
        whole = float(each.whole_s)
        row = {"of": name, "whole": show_seconds(whole)}
        for part in kept:
            seconds = float(each.parts()[part])
            row[part] = f"{show_seconds(seconds)} ({show_percent(seconds / whole)})" if seconds and whole else "none"
        if any(float(other.communication_s) > 0 for other in splits):
            hidden = float(each.hidden_communication_s)
            row["communication that compute hides"] = show_seconds(hidden) if hidden else "none"
        rows.append(row)
    return rows


def step_split(by_step: Split, at: int) -> Split:
    """One step of a split over steps."""
    return Split(**{name: np.asarray(getattr(by_step, name)[at]) for name in Split.__dataclass_fields__})


def kernel_rows(kernels: Sequence[KernelTotal], count: int = TOP_KERNELS) -> list[Row]:
    """The names that take most time."""
    return [
        {
            "kernel": _fitting(kernel.short),
            "work": kernel.work or kernel.kind.name.lower(),
            "share": show_percent(kernel.share),
            "total": show_seconds(kernel.total_s),
            "runs": f"{kernel.count:,}",
            "mean": show_seconds(kernel.mean_s),
            "longest": show_seconds(kernel.longest_s),
        }
        for kernel in kernels[:count]
    ]


def collective_rows(totals: Sequence[CollectiveTotal], unit: str) -> list[Row]:
    """Collectives, most exposed first."""
    return [
        {
            "collective": total.name,
            "runs": f"{total.count:,}",
            "each": show_bytes(total.message_bytes / total.count, unit)
            if np.isfinite(total.message_bytes)
            else "unknown",
            "total": show_seconds(total.total_s),
            "exposed": show_seconds(total.exposed_s),
            "hidden": show_percent(total.hidden),
        }
        for total in totals
    ]


def launch_rows(ranks: Sequence[int], launches: Sequence[Launches]) -> list[Row]:
    """How far the host runs ahead, by rank."""
    rows = []
    for rank, each in zip(ranks, launches, strict=True):
        none = not each.count
        rows.append(
            {
                "rank": str(rank),
                "launches": f"{each.count:,}",
                "kernels of graphs": f"{each.graph_kernels:,}; graphs launched: {each.graph_launches:,}"
                if each.graph_launches
                else "none",
                "a call, median": "none" if none else show_seconds(each.median_call_s),
                "on the GPU, median": "none" if none else show_seconds(each.median_gpu_s),
                "shorter than its call": "none" if none else show_percent(each.short),
                "call to start, median": "none" if none else show_seconds(each.delay_at(0.5)),
                "call to start, 90%": "none" if none else show_seconds(each.delay_at(0.9)),
                "found nothing queued": "none" if none else show_percent(each.starved),
                "host waits": f"{each.synchronizations:,}, {show_seconds(each.synchronization_s)}",
            }
        )
    return rows


def split_columns(report: TraceReport) -> dict[str, list[object]]:
    """Every GPU and step in seconds; a step of -1 is the whole."""
    columns: dict[str, list[object]] = {"rank": [], "gpu": [], "step": [], "whole_s": []}
    for gpu in report.gpus:
        every = [(-1, gpu.whole), *((int(step), step_split(gpu.by_step, at)) for at, step in enumerate(gpu.steps))]
        for step, one in every:
            values = {"rank": gpu.rank, "gpu": gpu.device, "step": step, "whole_s": float(one.whole_s)}
            values |= {f"{name}_s": float(seconds) for name, seconds in one.parts().items()}
            for name, value in values.items():
                columns.setdefault(name, []).append(value)
    return columns


def _fitting(name: str) -> str:
    """Both ends of a name too long for a table: what it is stands in front, its variant at the end."""
    half = LONGEST_NAME // 2
    return name if len(name) <= LONGEST_NAME else f"{name[:half]} ... {name[-half:]}"
