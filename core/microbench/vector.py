"""A layer's kernels beside products and attention, over tokens: norms, rotary embedding, SwiGLU, sums, cache writes.

They work on data that the kernel before them has just written, so nothing is flushed between calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from core.microbench import kernels
from core.microbench.bench import Bench, Tensor, powers, relative_error
from core.microbench.item import Item, Measured, Point, refuse_wrong
from core.microbench.shapes import LayerShape
from core.microbench.timing import Call

OPS = ("norm", "heads", "swiglu", "add")  # and "append", of a decode step alone
GPU_TOKENS = (*powers(1, 256, 4), 2048, 8192, 16384)
GPU_TRAINED_TOKENS = (2048, 8192, 16384)
CPU_TOKENS = (1, 16, 256)
LIMITS = {"fp32": 1e-5, "bf16": 1e-2, "fp16": 2e-3}
APPENDED_CONTEXT = 512  # a write's time does not depend on the places that it leaves alone


def items(bench: Bench, shape: LayerShape, tokens: tuple[int, ...], trained: tuple[int, ...]) -> list[Item]:
    """Items over tokens: each kernel forward, writes to the cache, and forward with backward."""
    lists = [(op, "forward", tokens) for op in OPS]
    lists += [("append", "forward", tuple(count for count in tokens if count <= 256))]
    lists += [(op, "training", trained) for op in OPS if trained]
    return [
        Item(
            f"{op} {direction}, {shape.model}",
            "vector",
            partial(_points, bench, shape, op, direction, counts),
            len(counts),
            point_s=0.2,
            lacks=bench.device.lacks(bench.dtype),
        )
        for op, direction, counts in lists
    ]


def widths(shape: LayerShape) -> dict[str, tuple[int, int]]:
    """Elements that each kernel reads and writes for one token, at least."""
    h = shape.hidden_size
    kv = shape.kv_width
    return {
        "norm": (h, h),
        "heads": (shape.qkv_width, shape.qkv_width - kv // 2),  # values are passed on as they lie
        "swiglu": (2 * shape.intermediate_size, shape.intermediate_size),
        "add": (2 * h, h),
        "append": (kv, kv),
    }


def _points(bench: Bench, shape: LayerShape, op: str, direction: str, counts: tuple[int, ...]) -> Iterator[Point]:
    read, written = widths(shape)[op]
    for count in counts:
        settings = {
            "op": op,
            "direction": direction,
            "model": shape.model,
            "tokens": count,
            "dtype": bench.dtype,
        }
        needs = 8 * bench.element_bytes * count * (read + written)
        if op == "append":
            needs += bench.element_bytes * count * shape.kv_width * APPENDED_CONTEXT
        yield Point(settings, partial(_measure, bench, shape, op, direction, count), needs)


def _measure(bench: Bench, shape: LayerShape, op: str, direction: str, tokens: int) -> Measured:
    import torch

    work = _work(bench, shape, op, tokens)
    results = work.kernel(*work.inputs)
    exact = torch.cat([part.flatten() for part in work.exact()])
    off = relative_error(torch.cat([part.flatten() for part in results]), exact)
    error = refuse_wrong(off, LIMITS[bench.dtype], f"the kernel {op}")
    call: Call = partial(work.kernel, *work.inputs)
    if direction == "training":
        trained = [tensor.requires_grad_() for tensor in work.inputs]
        gradients = [torch.randn_like(part) for part in results]
        call = partial(_gradients, work.kernel, trained, gradients)

    read, written = widths(shape)[op]
    passes = 1 if direction == "forward" else 2  # gradients are as wide
    num_bytes = passes * bench.element_bytes * tokens * (read + written)
    return Measured(bench.timer.time([call]), num_bytes=num_bytes, error=error)


def _gradients(kernel: Callable[..., tuple[Tensor, ...]], inputs: list[Tensor], gradients: list[Tensor]) -> Tensor:
    import torch

    return torch.autograd.grad(kernel(*inputs), inputs, gradients)


@dataclass(frozen=True, slots=True)
class _Work:
    inputs: list[Tensor]  # those that have gradients
    kernel: Callable[..., tuple[Tensor, ...]]
    exact: Callable[[], tuple[Tensor, ...]]  # its results in float64


def _work(bench: Bench, shape: LayerShape, op: str, tokens: int) -> _Work:
    h = shape.hidden_size
    if op == "norm":
        return _with_doubles([bench.random(tokens, h), bench.random(h)], lambda x, scale: (kernels.norm(x, scale),))
    if op == "add":
        return _with_doubles([bench.random(tokens, h), bench.random(tokens, h)], lambda x, y: (x + y,))
    if op == "swiglu":
        return _with_doubles([bench.random(tokens, 2 * shape.intermediate_size)], lambda x: (kernels.swiglu(x),))
    return _append(bench, shape, tokens) if op == "append" else _heads(bench, shape, tokens)


def _with_doubles(inputs: list[Tensor], kernel: Callable[..., tuple[Tensor, ...]]) -> _Work:
    return _Work(inputs, kernel, lambda: kernel(*(tensor.detach().double() for tensor in inputs)))


def _append(bench: Bench, shape: LayerShape, tokens: int) -> _Work:
    cache = bench.random(2, tokens, shape.num_kv_heads, APPENDED_CONTEXT, shape.head_dim)
    cache[:, :, :, -1] = float("nan")  # the kernel has to write it
    keys, values = (bench.random(tokens, shape.num_kv_heads, shape.head_dim) for _ in range(2))

    def append() -> tuple[Tensor, ...]:
        kernels.append(cache, keys, values, APPENDED_CONTEXT - 1)
        return cache[0, :, :, -1], cache[1, :, :, -1]

    return _Work([], append, lambda: (keys.double(), values.double()))


def _heads(bench: Bench, shape: LayerShape, tokens: int) -> _Work:
    import torch

    inputs = [bench.random(tokens, shape.qkv_width)]
    if shape.qk_norm:
        inputs += [bench.random(shape.head_dim) for _ in range(2)]
    single, double = (
        kernels.rotations(tokens, shape, bench.device.torch_name, dtype) for dtype in (torch.float32, torch.float64)
    )

    def split(rotation: Tensor, qkv: Tensor, *norms: Tensor) -> tuple[Tensor, ...]:
        return kernels.heads(qkv, shape, rotation, (norms[0], norms[1]) if norms else None)

    def exact() -> tuple[Tensor, ...]:
        return split(double, *(tensor.detach().double() for tensor in inputs))

    return _Work(inputs, partial(split, single), exact)
