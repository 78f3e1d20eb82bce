"""Everything that is measured on a trace, in one walk over its ranks."""

from __future__ import annotations

from dataclasses import dataclass

from core.trace.columns import Kind, Trace
from core.trace.kernels import CollectiveTotal, KernelTotal, collectives, top_kernels
from core.trace.launches import Launches, launches
from core.trace.split import GpuSplit, split


@dataclass(frozen=True, slots=True)
class TraceReport:
    """What a page shows of a trace. One entry for each rank, in the trace's order; of `gpus` one for each GPU."""

    ranks: tuple[int, ...]
    gpus: tuple[GpuSplit, ...]
    launches: tuple[Launches, ...]
    kernels: tuple[tuple[KernelTotal, ...], ...]  # all names, longest total first
    collectives: tuple[tuple[CollectiveTotal, ...], ...]  # most exposed first
    notes: tuple[str, ...]  # what is missing or doubtful, in sentences

    def work_share(self, work: str) -> float:
        """Share of the compute kernels' added-up time whose names suggest this work, of `kinds.work_of`. [-]"""
        compute = [kernel for rank in self.kernels for kernel in rank if kernel.kind is Kind.COMPUTE]
        total = sum(kernel.total_s for kernel in compute)
        return sum(kernel.total_s for kernel in compute if kernel.work == work) / total if total > 0 else 0.0


def report(trace: Trace) -> TraceReport:
    """Split, launches, kernels and collectives of a trace that was read."""
    return TraceReport(
        ranks=tuple(rank.rank for rank in trace.ranks),
        gpus=tuple(gpu for rank in trace.ranks for gpu in split(rank)),
        launches=tuple(launches(rank) for rank in trace.ranks),
        kernels=tuple(top_kernels(rank, None) for rank in trace.ranks),
        collectives=tuple(collectives(rank) for rank in trace.ranks),
        notes=trace.notes,
    )
