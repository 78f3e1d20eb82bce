"""Which kernels the time goes to, and which collectives compute does not hide."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.trace.columns import NONE, Kind, RankTrace
from core.trace.intervals import union
from core.trace.kinds import collective_name, short_name, work_of


@dataclass(frozen=True, slots=True)
class KernelTotal:
    """All events of one name."""

    name: str  # in full, as the profiler wrote it
    short: str
    kind: Kind
    work: str  # what a compute kernel's name suggests, see `kinds.work_of`; empty for others
    count: int
    total_s: float  # added up, overlap counted twice
    longest_s: float
    share: float  # of the added-up time of all GPU events [-]

    @property
    def mean_s(self) -> float:
        """Mean time of one. [s]"""
        return self.total_s / self.count


@dataclass(frozen=True, slots=True)
class CollectiveTotal:
    """All collectives of one name."""

    name: str
    count: int
    total_s: float  # added up
    exposed_s: float  # of that, while no compute ran on the same GPU
    message_bytes: float  # what a rank put in, of those that tell; NaN where none does

    @property
    def hidden(self) -> float:
        """Share of the time that compute hides. [-]"""
        return 1.0 - self.exposed_s / self.total_s if self.total_s else 1.0


def top_kernels(trace: RankTrace, count: int | None = 10) -> tuple[KernelTotal, ...]:
    """GPU events by name, longest total first; all of them where ``count`` is None."""
    rows = np.flatnonzero(trace.on_gpu)
    length = trace.end_s[rows] - trace.start_s[rows]
    # A name may be a kernel's and a copy's at once, in theory; the pair is what is counted.
    keys, first, of_key = np.unique(trace.name[rows] * 8 + trace.kind[rows], return_index=True, return_inverse=True)
    totals = np.bincount(of_key, weights=length)
    counts = np.bincount(of_key)
    longest = np.zeros(keys.size)
    np.maximum.at(longest, of_key, length)
    whole = max(float(np.sum(length)), np.finfo(np.float64).tiny)
    order = np.argsort(-totals, kind="stable")[:count]
    return tuple(
        _kernel(trace, int(rows[first[i]]), int(counts[i]), float(totals[i]), float(longest[i]), whole) for i in order
    )


def _kernel(trace: RankTrace, row: int, count: int, total_s: float, longest_s: float, whole_s: float) -> KernelTotal:
    name, kind = trace.names[trace.name[row]], Kind(int(trace.kind[row]))
    work = work_of(name) if kind is Kind.COMPUTE else ""
    return KernelTotal(name, short_name(name), kind, work, count, total_s, longest_s, total_s / whole_s)


def collectives(trace: RankTrace) -> tuple[CollectiveTotal, ...]:
    """Collectives by their name, most exposed first. The profiler's name is taken, else the one inside the kernel's."""
    rows = np.flatnonzero(trace.kind == Kind.COMMUNICATION)
    names = [
        _title(trace.names[own]) if own != NONE else collective_name(trace.names[kernel])
        for own, kernel in zip(trace.collective[rows], trace.name[rows], strict=True)
    ]
    exposed = _exposed(trace, rows)
    length = trace.end_s[rows] - trace.start_s[rows]
    bytes_each = trace.message_bytes[rows]
    totals = []
    for name in dict.fromkeys(names):
        mine = np.array([each == name for each in names])
        told = bytes_each[mine & np.isfinite(bytes_each)]
        totals.append(
            CollectiveTotal(
                name=name,
                count=int(np.sum(mine)),
                total_s=float(np.sum(length[mine])),
                exposed_s=float(np.sum(exposed[mine])),
                message_bytes=float(np.sum(told)) if told.size else np.nan,
            )
        )
    return tuple(sorted(totals, key=lambda total: -total.exposed_s))


# As torch.distributed names them in a trace (ProcessGroupNCCL.cpp), and as NCCL names its kernels.
_TITLES = {
    "allreduce": "AllReduce",
    "allreduce_coalesced": "AllReduce",
    "all_gather": "AllGather",
    "allgather": "AllGather",
    "_allgather_base": "AllGather",
    "allgather_into_tensor_coalesced": "AllGather",
    "reduce_scatter": "ReduceScatter",
    "_reduce_scatter_base": "ReduceScatter",
    "reduce_scatter_tensor_coalesced": "ReduceScatter",
    "broadcast": "Broadcast",
    "all_to_all": "AllToAll",
    "all_to_allv": "AllToAll",
}


def _title(name: str) -> str:
    return _TITLES.get(name, name)


def _exposed(trace: RankTrace, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Of each collective the time in which no compute runs on its GPU. [s], shape (rows,)"""
    exposed = trace.end_s[rows] - trace.start_s[rows]
    for device in trace.devices:
        compute = (trace.kind == Kind.COMPUTE) & (trace.device == device)
        mine = trace.device[rows] == device
        hidden = union(trace.start_s[compute], trace.end_s[compute]).inside(
            trace.start_s[rows[mine]], trace.end_s[rows[mine]]
        )
        exposed[mine] -= hidden
    return np.maximum(exposed, 0.0)
