"""From the call that launches a kernel to the kernel's start: how far the host runs ahead of the GPU."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.checks import Floats
from core.trace.columns import NONE, Kind, RankTrace
from core.trace.steps import launched_by

_GRAPH_LAUNCHES = ("cudaGraphLaunch", "cuGraphLaunch", "hipGraphLaunch")
# Calls that hold the host until the GPU has caught up (CUDA runtime and driver API).
_WAITS = ("Synchronize",)
# A kernel that starts this soon after its call found an empty queue: a launch takes 5 to 10 us.
NOTHING_QUEUED_S = 20e-6


@dataclass(frozen=True, slots=True)
class Launches:
    """Launches one by one, each of shape (launches,), and counts. Kernels of a CUDA graph have no launch of their own.

    Definitions of HolisticTraceAnalysis 0.5.0, `get_cuda_kernel_launch_stats`, over every call that launches.
    """

    call_s: Floats  # the call on the host
    gpu_s: Floats  # the event on the GPU
    delay_s: Floats  # from the call's end to the event's start, never below 0
    start_s: Floats  # of the GPU event
    graph_launches: int
    graph_kernels: int  # GPU events that came from those
    synchronizations: int
    synchronization_s: float  # host time in them

    @property
    def count(self) -> int:
        """Launches of single events."""
        return self.call_s.size

    @property
    def short(self) -> float:
        """Share of launches whose event is shorter than its call: the host cannot keep up. NaN without. [-]"""
        return _mean(self.gpu_s < self.call_s)

    @property
    def starved(self) -> float:
        """Share of launches that found nothing queued before them. NaN without. [-]"""
        return _mean(self.delay_s < NOTHING_QUEUED_S)

    def delay_at(self, share: float) -> float:
        """The delay that this share of launches stays below; NaN without launches. [s]"""
        return float(np.quantile(self.delay_s, share)) if self.count else np.nan

    @property
    def median_call_s(self) -> float:
        """Median time of a launch call; NaN without launches. [s]"""
        return float(np.median(self.call_s)) if self.count else np.nan

    @property
    def median_gpu_s(self) -> float:
        """Median time of a launched event; NaN without launches. [s]"""
        return float(np.median(self.gpu_s)) if self.count else np.nan


def launches(trace: RankTrace) -> Launches:
    """All launches of a rank, in order of the GPU events."""
    launch = launched_by(trace)
    of_graph = np.array([name.startswith(_GRAPH_LAUNCHES) for name in trace.names], dtype=np.bool_)[trace.name]
    rows = np.flatnonzero(launch != NONE)
    in_graph = of_graph[launch[rows]]
    single = rows[~in_graph]
    call = launch[single]
    waits = np.array([name.endswith(_WAITS) for name in trace.names], dtype=np.bool_)[trace.name]
    waits &= trace.kind == Kind.RUNTIME
    return Launches(
        call_s=trace.end_s[call] - trace.start_s[call],
        gpu_s=trace.end_s[single] - trace.start_s[single],
        delay_s=np.maximum(trace.start_s[single] - trace.end_s[call], 0.0),
        start_s=trace.start_s[single],
        graph_launches=int(np.sum(of_graph & (trace.kind == Kind.RUNTIME))),
        graph_kernels=int(np.sum(in_graph)),
        synchronizations=int(np.sum(waits)),
        synchronization_s=float(np.sum((trace.end_s - trace.start_s)[waits])),
    )


def _mean(flags: np.ndarray) -> float:
    return float(np.mean(flags)) if flags.size else np.nan
