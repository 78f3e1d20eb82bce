"""Memory bandwidth over size, from the cache to memory: copied, read alone, written alone.

Buffers are used again and again on purpose: the small ones stay in the cache, and the curve shows where it ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from core.microbench.bench import Bench, Tensor, powers
from core.microbench.item import Item, Measured, Point, refuse_wrong

HELD = {"copy": 2, "read": 1, "write": 1}  # buffers
MOVED = {"copy": 2, "read": 1, "write": 1}  # times the buffer's bytes
GPU_SIZES = tuple(sorted((*powers(64 * 2**10, 4 * 2**30, 4), *powers(8 * 2**20, 128 * 2**20, 4))))
CPU_SIZES = powers(64 * 2**10, 256 * 2**20, 4)  # the last ones beyond the caches of most processors
CHECKED = 2**24  # elements that a sum is checked on


def items(bench: Bench, sizes: tuple[int, ...], ops: tuple[str, ...] = tuple(HELD)) -> list[Item]:
    """One item an op, over the rising sizes of one buffer. [bytes]"""
    return [
        Item(
            f"{op} over size", "copy", partial(_points, bench, op, sizes), len(sizes), needs_bytes=HELD[op] * sizes[-1]
        )
        for op in ops
    ]


def _points(bench: Bench, op: str, sizes: tuple[int, ...]) -> Iterator[Point]:
    import torch

    source = bench.random(sizes[-1] // 4, dtype=torch.float32)
    target = torch.empty_like(source) if HELD[op] == 2 else source
    for size in sizes:
        part = slice(size // 4)
        yield Point({"op": op, "buffer_bytes": size}, partial(_measure, bench, op, source[part], target[part]))


def _measure(bench: Bench, op: str, source: Tensor, target: Tensor) -> Measured:
    import torch

    # Not target.copy_(source): in a graph that becomes a memory node for the copy engines, which reach 2.8 of the
    # 4.3 TB/s that a kernel reaches on an H200.
    work = {
        "copy": lambda: torch.mul(source, 1.0, out=target),
        "read": lambda: torch.sum(source),
        "write": lambda: target.fill_(1.0),
    }[op]
    error = refuse_wrong(_error(op, source, target), 1e-5, f"a {op}")
    num_bytes = MOVED[op] * source.numel() * source.element_size()
    return Measured(bench.timer.time([work]), num_bytes=num_bytes, error=error)


def _error(op: str, source: Tensor, target: Tensor) -> float:
    """Share of what came out wrong; for a sum, what it is off by, over the sum of magnitudes."""
    import torch

    if op == "read":
        some = source[:CHECKED]
        exact = some.double()
        return float((torch.sum(some).double() - exact.sum()).abs() / exact.abs().sum())
    target.fill_(float("nan"))
    if op == "copy":
        return float(not torch.equal(torch.mul(source, 1.0, out=target), source))
    return float(not bool((target.fill_(1.0) == 1).all()))
