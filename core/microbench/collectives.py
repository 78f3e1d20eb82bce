"""Collectives over size among the processes that torchrun started: NCCL on CUDA devices, Gloo on CPUs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from core.microbench.bench import Bench, Tensor, powers
from core.microbench.item import Item, Measured, Point, Unsupported, refuse_wrong
from core.microbench.timing import Call

OPS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all")
GPU_SIZES = powers(4 * 2**10, 2**30)
CPU_SIZES = powers(4 * 2**10, 16 * 2**20, 4)


@dataclass(frozen=True, slots=True)
class Group:
    """The processes that work together, each with a device of its own."""

    rank: int
    size: int
    backend: str

    def largest(self, value: float) -> float:
        """The largest of the values that the ranks come with; every rank has to ask."""
        import torch
        import torch.distributed as dist

        device = "cuda" if self.backend == "nccl" else "cpu"
        shared = torch.tensor([value], dtype=torch.float64, device=device)
        dist.all_reduce(shared, op=dist.ReduceOp.MAX)
        return float(shared)


def ranks_in_environment(environment: Mapping[str, str] = os.environ) -> tuple[int, int, int]:
    """(rank, ranks, rank on this machine) as torchrun sets them; (0, 1, 0) without it."""
    rank, ranks, local = (int(environment.get(name, "0")) for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"))
    return rank, max(ranks, 1), local


def join(kind: str) -> Group:
    """Meet the other processes; the device has to be chosen before.

    Raises:
        Unsupported: this torch has no such backend.
    """
    import torch
    import torch.distributed as dist

    rank, size, local = ranks_in_environment()
    backend = "nccl" if kind == "cuda" else "gloo"
    if not dist.is_available() or not (dist.is_nccl_available() if backend == "nccl" else dist.is_gloo_available()):
        raise Unsupported(f"torch {torch.__version__} has no {backend} for collectives")
    if backend == "nccl":
        dist.init_process_group(backend, device_id=torch.device("cuda", local))
    else:
        dist.init_process_group(backend)
    return Group(rank, size, backend)


def items(bench: Bench, group: Group, sizes: tuple[int, ...]) -> list[Item]:
    """One item an op over rising sizes: launched call by call, then on CUDA replayed from a graph.

    Args:
        bench: the device.
        group: who takes part.
        sizes: of the whole unsharded tensor, as in :func:`core.collectives.bytes_per_rank`. [bytes]
    """
    slices = "MIG slices cannot reach each other through NCCL" if bench.device.is_slice else None
    modes = ("eager", "graph") if group.backend == "nccl" else ("eager",)
    return [
        Item(
            f"{op} over {group.size} ranks, {mode}",
            "collective",
            partial(_points, bench, group, op, mode, sizes),
            len(sizes),
            needs_bytes=3 * sizes[-1],
            lacks=slices,
        )
        for mode in modes
        for op in OPS
    ]


def _points(bench: Bench, group: Group, op: str, mode: str, sizes: tuple[int, ...]) -> Iterator[Point]:
    for size in sizes:
        settings = {
            "op": op,
            "ranks": group.size,
            "backend": group.backend,
            "mode": mode,
            "tensor_bytes": size,
            "dtype": bench.dtype,
        }
        yield Point(settings, partial(_measure, bench, group, op, mode, size))


def _measure(bench: Bench, group: Group, op: str, mode: str, size: int) -> Measured:
    count = size // bench.element_bytes // group.size**2 * group.size**2  # so that shards of shards are whole
    work = _work(bench, group, op, count)
    work.call()
    bench.device.synchronize()
    error = refuse_wrong(group.largest(_off(work)), 0, f"the {op}")
    work.source.normal_()
    return Measured(bench.timer.time_as(mode, [work.call]), error=error)


@dataclass(frozen=True, slots=True)
class _Work:
    source: Tensor
    target: Tensor
    call: Call
    expected: list[float]  # of the target's equal parts, when each rank's source is full of its rank plus one


def _off(work: _Work) -> float:
    """Largest difference between what came and what should have come."""
    parts = work.target.view(len(work.expected), -1)
    return max(float((part - value).abs().max()) for part, value in zip(parts, work.expected, strict=True))


def _work(bench: Bench, group: Group, op: str, count: int) -> _Work:
    """A collective on ``count`` elements in all; its result is poisoned in advance."""
    import torch
    import torch.distributed as dist

    n = group.size

    def tensor(elements: int, value: float) -> Tensor:
        return torch.full((elements,), value, device=bench.device.torch_name, dtype=bench.torch_dtype())

    own, nan = group.rank + 1.0, float("nan")
    ranks, everyones = [rank + 1.0 for rank in range(n)], [n * (n + 1) / 2]
    if op == "all_reduce":  # in place: later calls add up sums, which takes as long
        source = tensor(count, own)
        return _Work(source, source, lambda: dist.all_reduce(source), everyones)
    if op == "all_gather":
        source, target = tensor(count // n, own), tensor(count, nan)
        return _Work(source, target, lambda: dist.all_gather_into_tensor(target, source), ranks)
    if op == "reduce_scatter":
        source, target = tensor(count, own), tensor(count // n, nan)
        return _Work(source, target, lambda: dist.reduce_scatter_tensor(target, source), everyones)
    source, target = tensor(count // n, own), tensor(count // n, nan)
    return _Work(source, target, lambda: dist.all_to_all_single(target, source), ranks)
