"""Whether the times of one rank can be believed. Small faults are marked, large ones refused."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.display import show_seconds
from core.trace.columns import NONE, Kind, RankTrace, TraceError
from core.trace.steps import launched_by

_MOST_BAD = 0.01  # of a trace's events; above, the rest is not to be trusted either
_LONGEST_S = 3600.0  # of one event, and of a pause between two
_LEAST_JUMP_S = 1e-3  # two host threads may well swap places by less
_MOST_JUMP = 0.1  # of the trace's whole time


def sound(trace: RankTrace, negative: int, notes: list[str]) -> RankTrace:
    """The same trace, if its clock ran well enough; doubts are added to the notes.

    Args:
        trace: columns of one rank, with at least one GPU event.
        negative: events that ended before they began, left out of the columns.

    Raises:
        TraceError: the clock jumped so far that no split would mean anything.
    """
    file = trace.file
    if negative > _MOST_BAD * (negative + trace.kind.size):
        raise TraceError(
            f"{file}: {negative:,} of {negative + trace.kind.size:,} events end before they begin. The clock jumped "
            "during the recording; record again."
        )
    if negative:
        notes.append(f"{file}: events that end before they begin: {negative:,}, left out.")
    start, end = trace.start_s[trace.on_gpu], trace.end_s[trace.on_gpu]
    longest = float(np.max(end - start))
    pause = float(np.max(start[1:] - np.maximum.accumulate(end)[:-1], initial=0.0))
    if max(longest, pause) > _LONGEST_S:
        what = "lasts" if longest >= pause else "comes after a pause of"
        raise TraceError(
            f"{file}: one GPU event {what} {show_seconds(max(longest, pause))}. The clock jumped during the recording, "
            "or two recordings were joined; record again."
        )
    whole = float(np.max(end) - np.min(start))
    jump = _backward_s(trace, trace.on_gpu, trace.stream)
    if jump > max(_LEAST_JUMP_S, _MOST_JUMP * whole):
        raise TraceError(
            f"{file}: time runs backwards by {show_seconds(jump)} within a recording of {show_seconds(whole)}. The "
            "clock was set during the recording; record again."
        )
    jump = max(jump, _backward_s(trace, trace.kind == Kind.RUNTIME, trace.stream))
    if jump > _LEAST_JUMP_S:
        notes.append(
            f"{file}: time runs backwards by up to {show_seconds(jump)}; what idle time waited on is doubtful."
        )
    early = _launched_late(trace)
    if early > _MOST_BAD:
        notes.append(
            f"{file}: {early:.0%} of the kernels start before the call that launched them. The clocks of host and GPU "
            "disagree, so what idle time waited on is doubtful."
        )
    return trace


def _backward_s(trace: RankTrace, rows: NDArray[np.bool_], stream: NDArray[np.int64]) -> float:
    """Largest step back in time along one stream, in the order in which the driver counted the events. [s]"""
    chosen = np.flatnonzero(rows & (trace.correlation != NONE))
    if chosen.size < 2:
        return 0.0
    device, lane, start = trace.device[chosen], stream[chosen], trace.start_s[chosen]
    order = np.lexsort((start, trace.correlation[chosen], lane, device))
    device, lane, start = device[order], lane[order], start[order]
    same = (device[1:] == device[:-1]) & (lane[1:] == lane[:-1])
    return float(np.max(np.where(same, start[:-1] - start[1:], 0.0), initial=0.0))


def _launched_late(trace: RankTrace) -> float:
    """Share of the launched GPU events that start before their call does. [-]"""
    launch = launched_by(trace)
    rows = np.flatnonzero(launch != NONE)
    if not rows.size:
        return 0.0
    return float(np.mean(trace.start_s[rows] < trace.start_s[launch[rows]] - 1e-6))
