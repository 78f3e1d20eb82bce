"""The link between host and device over size: to the device and back, from pinned and from pageable memory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from core.microbench.bench import Bench, Tensor, powers
from core.microbench.item import Item, Measured, Point, refuse_wrong

SIZES = powers(64 * 2**10, 256 * 2**20, 16)
DIRECTIONS = ("to_device", "to_host")


def items(bench: Bench, sizes: tuple[int, ...] = SIZES) -> list[Item]:
    """One item for pinned and one for pageable memory; none where host and device are one."""
    if bench.device.kind == "cpu":
        return []
    return [
        Item(
            f"host link, {'pinned' if pinned else 'pageable'}",
            "host_link",
            partial(_points, bench, pinned, sizes),
            len(sizes) * len(DIRECTIONS),
            needs_bytes=sizes[-1],
        )
        for pinned in (True, False)
    ]


def _points(bench: Bench, pinned: bool, sizes: tuple[int, ...]) -> Iterator[Point]:
    import torch

    host = torch.randn(sizes[-1] // 4, pin_memory=pinned)
    device = torch.empty(sizes[-1] // 4, device=bench.device.torch_name)
    for direction in DIRECTIONS:
        source, target = (host, device) if direction == "to_device" else (device, host)
        for size in sizes:
            part = slice(size // 4)
            settings = {"direction": direction, "pinned": pinned, "buffer_bytes": size}
            yield Point(settings, partial(_measure, bench, pinned, source[part], target[part]))


def _measure(bench: Bench, pinned: bool, source: Tensor, target: Tensor) -> Measured:
    import torch

    target.fill_(float("nan"))
    target.copy_(source, non_blocking=pinned)
    bench.device.synchronize()
    error = refuse_wrong(float(not torch.equal(target.cpu(), source.cpu())), 0, "a transfer")
    timing = bench.timer.time([lambda: target.copy_(source, non_blocking=pinned)], graph=False)
    return Measured(timing, num_bytes=source.numel() * source.element_size(), error=error)
