"""Which call launched a GPU event, and which profiler step it belongs to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.checks import Floats
from core.trace.columns import NONE, Kind, RankTrace
from core.trace.kinds import step_number


def launched_by(trace: RankTrace) -> NDArray[np.int64]:
    """For each event the row of the call that launched it; NONE where the trace holds none. Shape (events,).

    Kernels of a CUDA graph all carry the correlation of the one call that launched the graph.
    """
    calls = np.flatnonzero((trace.kind == Kind.RUNTIME) & (trace.correlation != NONE))
    result = np.full(trace.kind.shape, NONE, dtype=np.int64)
    if not calls.size:
        return result
    calls = calls[np.argsort(trace.correlation[calls], kind="stable")]  # of equal ones the earliest comes first
    wanted = np.flatnonzero(trace.on_gpu & (trace.correlation != NONE))
    found = np.searchsorted(trace.correlation[calls], trace.correlation[wanted])
    found = np.minimum(found, calls.size - 1)
    hit = trace.correlation[calls[found]] == trace.correlation[wanted]
    result[wanted[hit]] = calls[found[hit]]
    return result


def step_ranges(trace: RankTrace) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Numbers of the steps, and when each began and ended on the host. Three of shape (steps,), in order of time."""
    rows = np.flatnonzero(trace.kind == Kind.STEP)
    numbers = np.array([step_number(trace.names[index]) for index in trace.name[rows]], dtype=np.int64)
    _, first = np.unique(numbers, return_index=True)
    kept = np.sort(first)  # rows are sorted by start
    return numbers[kept], trace.start_s[rows[kept]], trace.end_s[rows[kept]]


def step_of(trace: RankTrace, launch: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each event the number of the step whose range holds the launch; NONE outside. Shape (events,).

    As HolisticTraceAnalysis does: the GPU runs behind the host, so a kernel's own time does not tell its step.
    """
    numbers, start, end = step_ranges(trace)
    result = np.full(trace.kind.shape, NONE, dtype=np.int64)
    if not numbers.size:
        return result
    rows = np.flatnonzero(launch != NONE)
    time = trace.start_s[launch[rows]]
    step = np.searchsorted(start, time, side="right") - 1
    inside = (step >= 0) & (time < end[step])
    result[rows[inside]] = numbers[step[inside]]
    return result


def only_steps(trace: RankTrace, numbers: set[int]) -> RankTrace:
    """The rank with only these steps: their ranges, what was launched in them, and the host's other events."""
    wanted = sorted(numbers)
    mine = np.isin(step_of(trace, launched_by(trace)), wanted)
    ranges = np.array([step_number(trace.names[index]) in numbers for index in trace.name[trace.kind == Kind.STEP]])
    keep = np.where(trace.on_gpu, mine, True)
    keep[np.flatnonzero(trace.kind == Kind.STEP)] = ranges
    return trace.only(keep)
