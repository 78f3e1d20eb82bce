"""What it costs to start a kernel: many tiny ones, launched one by one and replayed from a graph."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from core.microbench.bench import Bench
from core.microbench.item import Item, Measured, Point, refuse_wrong

ELEMENTS = 1024  # a kernel that does next to nothing


def items(bench: Bench) -> list[Item]:
    """One item: eager, and on CUDA also from a graph."""
    modes = ("eager", "graph") if bench.device.kind == "cuda" else ("eager",)
    return [Item("kernel launches", "launch", partial(_points, bench, modes), len(modes))]


def _points(bench: Bench, modes: tuple[str, ...]) -> Iterator[Point]:
    for mode in modes:
        yield Point({"mode": mode}, partial(_measure, bench, mode))


def _measure(bench: Bench, mode: str) -> Measured:
    """Time from one kernel to the next; each adds to the same numbers, so they follow each other."""
    import torch

    values = torch.zeros(ELEMENTS, device=bench.device.torch_name)
    values.add_(1.0)
    error = refuse_wrong(float((values.double() - 1).abs().max()), 0, "an addition")
    return Measured(bench.timer.time_as(mode, [lambda: values.add_(1.0)]), error=error)
