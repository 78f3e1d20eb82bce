"""Collectives over size among the processes that torchrun started: NCCL on CUDA devices, Gloo on CPUs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from core.microbench.bench import Bench, Tensor, powers
from core.microbench.item import Item, Measured, Point, Unsupported, refuse_wrong

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
    source, target, call, expected = _work(bench, group, op, count)
    call()
    bench.device.synchronize()
    off = float((target.double() - expected.to(target.device)).abs().max())
    error = refuse_wrong(group.largest(off), 0, f"the {op}")
    source.normal_()
    timing = bench.timer.time([call], graph=mode == "graph")
    if mode == "graph" and timing.method not in ("graph", "wall"):
        raise Unsupported(f"this {op} cannot be recorded into a graph")
    return Measured(timing, error=error)


def _work(bench: Bench, group: Group, op: str, count: int) -> tuple[Tensor, Tensor, Callable[[], object], Tensor]:
    """Input, output, the call, and the output that small whole numbers lead to."""
    import torch
    import torch.distributed as dist

    n, rank = group.size, group.rank
    shard = count // n

    def tensor(elements: int) -> Tensor:
        return torch.full((elements,), rank + 1.0, device=bench.device.torch_name, dtype=bench.torch_dtype())

    everyones = n * (n + 1) / 2
    if op == "all_reduce":  # in place: what follows adds sums to sums, which takes as long
        source = tensor(count)
        return source, source, lambda: dist.all_reduce(source), torch.full((count,), everyones).double()
    each = torch.arange(1, n + 1).double()
    if op == "all_gather":
        source, target = tensor(shard), tensor(count)
        expected = each.repeat_interleave(shard)
        return source, target, lambda: dist.all_gather_into_tensor(target, source), expected
    if op == "reduce_scatter":
        source, target = tensor(count), tensor(shard)
        expected = torch.full((shard,), everyones).double()
        return source, target, lambda: dist.reduce_scatter_tensor(target, source), expected
    source, target = tensor(shard), tensor(shard)
    expected = each.repeat_interleave(shard // n)
    return source, target, lambda: dist.all_to_all_single(target, source), expected
