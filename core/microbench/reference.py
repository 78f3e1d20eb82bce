"""What the best plain PyTorch calls reach, each in a plain loop between two events: the mark for our own curves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from core.microbench.bench import Bench, Tensor, relative_error
from core.microbench.copy import CHECKED
from core.microbench.item import Item, Measured, Point, refuse_wrong
from core.microbench.matmul import CHECKED_ROWS, LIMITS

COPIES: dict[str, Callable[[Tensor], Tensor]] = {
    "x.clone()": lambda x: x.clone(),
    "x + 0.0": lambda x: x + 0.0,
    "x * 1.0": lambda x: x * 1.0,
}


def items(bench: Bench, buffer_bytes: int, product: tuple[int, int, int]) -> list[Item]:
    """Copies of one buffer, and products of one size (m, n, k) in the layers' dtype."""
    m, n, k = product
    held = bench.element_bytes * (m * k + n * k + 2 * m * n)
    return [
        Item(
            "plain copies",
            "reference",
            partial(_copies, bench, buffer_bytes),
            len(COPIES),
            needs_bytes=2 * buffer_bytes,
        ),
        Item(
            "plain products",
            "reference",
            partial(_products, bench, product),
            3,
            needs_bytes=held,
            lacks=bench.device.lacks(bench.dtype),
        ),
    ]


def _copies(bench: Bench, buffer_bytes: int) -> Iterator[Point]:
    import torch

    x = bench.random(buffer_bytes // 4, dtype=torch.float32)
    for name, call in COPIES.items():
        yield Point({"call": name, "buffer_bytes": buffer_bytes}, partial(_copy, bench, x, call))


def _copy(bench: Bench, x: Tensor, call: Callable[[Tensor], Tensor]) -> Measured:
    error = refuse_wrong(relative_error(call(x)[:CHECKED], x[:CHECKED]), 0, "a copy")
    timing = bench.timer.time([lambda: call(x)], graph=False)
    return Measured(timing, num_bytes=2 * x.numel() * x.element_size(), error=error)


def _products(bench: Bench, product: tuple[int, int, int]) -> Iterator[Point]:
    import torch

    m, n, k = product
    x, w = bench.random(m, k), bench.random(n, k)
    w_t = w.t().contiguous()
    calls: dict[str, Callable[[], Tensor]] = {
        "x @ w.t()": lambda: x @ w.t(),
        "x @ w": lambda: x @ w_t,
        "linear(x, w)": lambda: torch.nn.functional.linear(x, w),
    }
    for name, call in calls.items():
        settings = {"call": name, "m": m, "n": n, "k": k, "dtype": bench.dtype}
        yield Point(settings, partial(_product, bench, x, w, call))


def _product(bench: Bench, x: Tensor, w: Tensor, call: Callable[[], Tensor]) -> Measured:
    exact = x[:CHECKED_ROWS].double() @ w[:CHECKED_ROWS].double().t()
    off = relative_error(call()[:CHECKED_ROWS, :CHECKED_ROWS], exact)
    error = refuse_wrong(off, LIMITS[bench.dtype], "the product")
    timing = bench.timer.time([call], graph=False)
    return Measured(timing, flops=2.0 * x.shape[0] * w.shape[0] * w.shape[1], error=error)
