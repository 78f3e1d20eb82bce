"""Where a GPU's time went, and what its idle time waited on.

Definitions, equal to those of HolisticTraceAnalysis 0.5.0 (`get_temporal_breakdown`, `get_comm_comp_overlap`,
`get_idle_time_breakdown`; facebookresearch/HolisticTraceAnalysis) so that the two can be compared:

- The whole lasts from the first GPU event's start to the last one's end.
- Events that overlap, on one stream or several, count once: each class is the union of its events.
- Compute: some kernel that is no collective runs. Communication is hidden while compute runs, exposed while none does.
- Copies: a memcpy or memset runs and neither compute nor communication does.
- Idle: no event runs. HTA's idle is the same, its compute the same, its non-compute is exposed communication + copies.

Idle time is a sum of gaps. What a gap waited on is read from the event that ends it, as HTA does for each stream:

- That event's launch call began after the gap did: the GPU had nothing queued and waited for the host (HTA: host wait).
  Of such a gap, time inside the data loader or in the host's call of a copy to the GPU is input; time inside a
  collective that the host carries out is communication; the rest is launch: Python, the framework and the launch calls.
- The call had begun before: the event was queued, and the gap is what the GPU needs from one event to the next, or a
  wait for an event of another stream (HTA: kernel wait and other).
- No launch call in the trace: unknown.

Two things differ on purpose. HTA takes a class from the name alone, here a copy is what the profiler calls one; and
collectives outside NCCL count as communication (`kinds`), where HTA counts them as compute.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.checks import Floats
from core.trace.columns import COPIES, NONE, Kind, RankTrace
from core.trace.intervals import Intervals, both, merged, union, without
from core.trace.steps import launched_by, step_of, step_ranges

IDLE_CAUSES = ("launch", "input", "communication", "queued", "unknown")


@dataclass(frozen=True, slots=True)
class Split:
    """Time of one or more windows; each field has the windows' shape. The parts of `parts()` add up to the whole."""

    whole_s: Floats
    compute_s: Floats
    hidden_communication_s: Floats  # inside compute_s, not beside it
    exposed_communication_s: Floats
    copy_s: Floats  # beside compute and communication
    hidden_copy_s: Floats  # inside one of those
    idle_launch_s: Floats
    idle_input_s: Floats
    idle_communication_s: Floats
    idle_queued_s: Floats
    idle_unknown_s: Floats

    @property
    def idle_s(self) -> Floats:
        """Time without any GPU event. [s]"""
        return self.whole_s - self.compute_s - self.exposed_communication_s - self.copy_s

    @property
    def communication_s(self) -> Floats:
        """Time with some collective on the GPU, hidden or not. [s]"""
        return self.hidden_communication_s + self.exposed_communication_s

    @property
    def overlap(self) -> Floats:
        """Share of the communication that compute hides; NaN without communication. [-]"""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.hidden_communication_s / self.communication_s)

    def parts(self) -> dict[str, Floats]:
        """Disjoint parts that add up to the whole. [s]"""
        return {
            "compute": self.compute_s,
            "exposed communication": self.exposed_communication_s,
            "copies": self.copy_s,
            "idle: launch": self.idle_launch_s,
            "idle: input": self.idle_input_s,
            "idle: communication": self.idle_communication_s,
            "idle: queued": self.idle_queued_s,
            "idle: unknown": self.idle_unknown_s,
        }


@dataclass(frozen=True, slots=True)
class GpuSplit:
    """One GPU of one rank."""

    rank: int
    device: int
    steps: NDArray[np.int64]  # ProfilerStep# numbers, shape (steps,); empty where the trace has none
    step_start_s: Floats  # shape (steps,), as the trace counts
    whole: Split  # shape ()
    by_step: Split  # shape (steps,)


def split(trace: RankTrace) -> tuple[GpuSplit, ...]:
    """The time of each GPU of a rank, as a whole and by profiler step.

    A step lasts from the end of the GPU work of those before it to the end of its own: what it waited for at its start
    is its own, and steps add up to the whole but for GPU work that no step launched.
    """
    launch = launched_by(trace)
    step = step_of(trace, launch)
    return tuple(_split_device(trace, device, launch, step) for device in trace.devices)


def _split_device(trace: RankTrace, device: int, launch: NDArray[np.int64], step: NDArray[np.int64]) -> GpuSplit:
    mine = trace.on_gpu & (trace.device == device) & (trace.end_s > trace.start_s)

    def busy(*kinds: Kind) -> Intervals:
        rows = mine & trace.is_kind(*kinds)
        return union(trace.start_s[rows], trace.end_s[rows])

    compute, communication, copies = busy(Kind.COMPUTE), busy(Kind.COMMUNICATION), busy(*COPIES)
    kernels = merged(compute, communication)
    everything = merged(kernels, copies)
    idle = _idle(trace, np.flatnonzero(mine), launch, everything.gaps)

    def measure(start: Floats, end: Floats) -> Split:
        some = {name: time.inside(start, end) for name, time in idle.items()}
        all_kernels = kernels.inside(start, end)
        of_compute, of_copies = compute.inside(start, end), copies.inside(start, end)
        exposed = all_kernels - of_compute
        beside = everything.inside(start, end) - all_kernels
        return Split(
            whole_s=end - start,
            compute_s=of_compute,
            hidden_communication_s=np.maximum(communication.inside(start, end) - exposed, 0.0),
            exposed_communication_s=exposed,
            copy_s=beside,
            hidden_copy_s=np.maximum(of_copies - beside, 0.0),
            **{f"idle_{name}_s": time for name, time in some.items()},
        )

    first, last = (everything.start_s[0], everything.end_s[-1]) if everything.start_s.size else (0.0, 0.0)
    numbers, edges = _step_edges(trace, mine, step)
    return GpuSplit(
        rank=trace.rank,
        device=device,
        steps=numbers,
        step_start_s=edges[:-1],
        whole=measure(np.asarray(first), np.asarray(last)),
        by_step=measure(edges[:-1], edges[1:]),
    )


def _step_edges(trace: RankTrace, mine: NDArray[np.bool_], step: NDArray[np.int64]) -> tuple[NDArray[np.int64], Floats]:
    """Steps that launched something on this GPU, and the (steps + 1,) times between which they lie."""
    numbers = np.array([number for number in step_ranges(trace)[0] if np.any(mine & (step == number))], dtype=np.int64)
    ends = [np.max(trace.end_s[mine & (step == number)]) for number in numbers]
    begins = [np.min(trace.start_s[mine & (step == numbers[0])])] if numbers.size else [0.0]
    return numbers, np.maximum.accumulate(np.array(begins + ends))


def _idle(
    trace: RankTrace, rows: NDArray[np.int64], launch: NDArray[np.int64], gaps: Intervals
) -> dict[str, Intervals]:
    """The gaps by what they waited on, as disjoint sets of time: one for each of IDLE_CAUSES."""
    ending = rows[np.searchsorted(trace.start_s[rows], gaps.end_s)]
    call = launch[ending]
    known = call != NONE
    late = known & (trace.start_s[call] > gaps.start_s)
    host = Intervals(gaps.start_s[late], gaps.end_s[late])

    communication = _host_time(trace, trace.kind == Kind.HOST_COMMUNICATION)
    loading = _host_time(trace, (trace.kind == Kind.INPUT) | _calls_of_input(trace, launch))
    of_input = both(host, loading)
    of_communication = without(both(host, communication), of_input)
    return {
        "launch": without(host, merged(of_input, of_communication)),
        "input": of_input,
        "communication": of_communication,
        "queued": Intervals(gaps.start_s[known & ~late], gaps.end_s[known & ~late]),
        "unknown": Intervals(gaps.start_s[~known], gaps.end_s[~known]),
    }


def _host_time(trace: RankTrace, rows: NDArray[np.bool_]) -> Intervals:
    return union(trace.start_s[rows], trace.end_s[rows])


def _calls_of_input(trace: RankTrace, launch: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Calls that copy to a GPU: from pageable memory the call itself moves the data, and holds the host."""
    to_gpu = np.array(["HtoD" in name for name in trace.names], dtype=np.bool_)
    copies = np.flatnonzero((trace.kind == Kind.MEMCPY) & to_gpu[trace.name] & (launch != NONE))
    result = np.zeros(trace.kind.shape, dtype=np.bool_)
    result[launch[copies]] = True
    return result
