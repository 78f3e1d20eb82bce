"""The numbers behind a limit, as sentences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from core.display import show_bytes, show_seconds
from core.trace.columns import COPIES, Kind
from core.trace.report import TraceReport


def evidence(limit: str, report: TraceReport) -> tuple[str, ...]:
    """What to show for one of `verdict.LIMITS`, then how long the steps were."""
    return (*_OF[limit](report), _steps(report))


def _steps(report: TraceReport) -> str:
    times = np.concatenate([gpu.by_step.whole_s for gpu in report.gpus])
    if not times.size:
        return "The trace has no ProfilerStep#, so it is judged as a whole."
    steps = sorted({int(step) for gpu in report.gpus for step in gpu.steps})
    named = f"steps ProfilerStep#{steps[0]} to {steps[-1]}" if len(steps) > 1 else f"step ProfilerStep#{steps[0]}"
    return (
        f"{len(steps)} {named}: median {show_seconds(float(np.median(times)))}, "
        f"from {show_seconds(float(np.min(times)))} to {show_seconds(float(np.max(times)))}."
    )


def _kernels(report: TraceReport) -> list[str]:
    works = ("matrix products", "attention", "element-wise and other")
    parts = ", ".join(f"{work} {report.work_share(work):.0%}" for work in works)
    compute = [kernel for rank in report.kernels for kernel in rank if kernel.kind is Kind.COMPUTE]
    if not compute:
        return []
    top = max(compute, key=lambda kernel: kernel.total_s)
    return [
        f"By their names, the kernels' time is {parts}. "
        f"The longest is {top.short}: {show_seconds(top.mean_s)} on average, run {_times(top.count)}."
    ]


def _communication(report: TraceReport) -> list[str]:
    sentences = []
    total = sum(float(gpu.whole.communication_s) for gpu in report.gpus)
    hidden = sum(float(gpu.whole.hidden_communication_s) for gpu in report.gpus)
    if total > 0:
        summed = f", {len(report.gpus)} GPUs together" if len(report.gpus) > 1 else ""
        sentences.append(f"Of {show_seconds(total)} of communication{summed}, compute hides {hidden / total:.0%}.")
    every = [(rank, group) for rank, groups in zip(report.ranks, report.collectives, strict=True) for group in groups]
    if every:
        rank, top = max(every, key=lambda one: one[1].exposed_s)
        size = ""
        if np.isfinite(top.message_bytes):
            mean = " on average" if top.count > 1 else ""
            size = f", {show_bytes(top.message_bytes / top.count)}{mean}"
        sentences.append(
            f"Most exposed: {top.name} on rank {rank}, {_times(top.count)}{size}, {show_seconds(top.exposed_s)} of "
            f"{show_seconds(top.total_s)} exposed there. Its time includes waiting for the slowest rank."
        )
    on_host = sum(float(gpu.whole.idle_communication_s) for gpu in report.gpus)
    if on_host > 0:
        sentences.append(f"For {show_seconds(on_host)} the GPU idled while the host itself communicated.")
    return sentences


def _launch(report: TraceReport) -> list[str]:
    late = sum(float(gpu.whole.idle_launch_s) for gpu in report.gpus)
    queued = sum(float(gpu.whole.idle_queued_s) for gpu in report.gpus)
    sentences = [
        f"The GPU had nothing queued for {show_seconds(late)}, "
        f"and paused between queued events for {show_seconds(queued)}."
    ]
    busiest = max(report.launches, key=lambda each: each.count)
    if busiest.count:
        sentences.append(
            f"Launches on one rank: {busiest.count:,}. The median call takes {show_seconds(busiest.median_call_s)}, "
            f"its event on the GPU {show_seconds(busiest.median_gpu_s)}; "
            f"{busiest.short:.0%} of the events are shorter than their call."
        )
    waits = sum(each.synchronizations for each in report.launches)
    if waits:
        time = sum(each.synchronization_s for each in report.launches)
        sentences.append(f"The host stopped {_times(waits)} to wait for the GPU, {show_seconds(time)} in all.")
    return sentences


def _input(report: TraceReport) -> list[str]:
    time = sum(float(gpu.whole.idle_input_s) for gpu in report.gpus)
    return [f"For {show_seconds(time)} a GPU idled while the host was in the data loader or in a copy to the GPU."]


def _copies(report: TraceReport) -> list[str]:
    copies = [kernel for rank in report.kernels for kernel in rank if kernel.kind in COPIES]
    if not copies:
        return []
    top = max(copies, key=lambda kernel: kernel.total_s)
    return [f"Longest in all: {top.name}, {show_seconds(top.mean_s)} on average, {_times(top.count)}."]


def _unknown(report: TraceReport) -> list[str]:
    launched = sum(each.count + each.graph_kernels for each in report.launches)
    return [f"Of {launched:,} GPU events the trace holds the launch call; the gaps end in others."]


_OF: dict[str, Callable[[TraceReport], list[str]]] = {
    "kernels": _kernels,
    "communication": _communication,
    "launch": _launch,
    "input": _input,
    "copies": _copies,
    "unknown": _unknown,
}


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"
