"""Attention of one new token over a cache, by batch and context: a kernel that calibrates decode steps."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from core.microbench import kernels
from core.microbench.bench import Bench, Tensor
from core.microbench.item import Item, Measured, Point
from core.microbench.layer import kv_bytes
from core.microbench.shapes import LayerShape

GPU_BATCHES = (1, 4, 16, 64, 256)
GPU_CONTEXTS = (512, 2048, 8192, 32768)
CPU_BATCHES = (1, 4)
CPU_CONTEXTS = (256, 1024)


def items(bench: Bench, shape: LayerShape, batches: tuple[int, ...], contexts: tuple[int, ...]) -> list[Item]:
    """One item a context, over batch."""
    return [
        Item(
            f"decode attention {shape.num_heads}/{shape.num_kv_heads} heads, context {context}",
            "attention_decode",
            partial(_points, bench, shape, batches, context),
            len(batches),
            lacks=bench.device.lacks(bench.dtype),
        )
        for context in contexts
    ]


def _points(bench: Bench, shape: LayerShape, batches: tuple[int, ...], context: int) -> Iterator[Point]:
    kernels.choose_fused(bench.device, bench.torch_dtype(), shape.head_dim)
    for batch in batches:
        settings = {
            "num_heads": shape.num_heads,
            "num_kv_heads": shape.num_kv_heads,
            "head_dim": shape.head_dim,
            "batch": batch,
            "context": context,
            "dtype": bench.dtype,
        }
        one = kv_bytes(bench, shape, batch, context)
        yield Point(settings, partial(_measure, bench, shape, batch, context), one * bench.copies(one))


def _measure(bench: Bench, shape: LayerShape, batch: int, context: int) -> Measured:
    one = kv_bytes(bench, shape, batch, context)
    copies = bench.copies(one)
    caches = [bench.random(2, batch, shape.num_kv_heads, context, shape.head_dim) for _ in range(copies)]
    queries = bench.random(batch, shape.num_heads, 1, shape.head_dim)

    def attend(cache: Tensor) -> Tensor:
        return kernels.attend(queries, cache[0], cache[1], causal=False)

    error = kernels.attention_error(bench, attend(caches[0]), queries, caches[0][0], caches[0][1], causal=False)
    timing = bench.timer.time([partial(attend, cache) for cache in caches])
    token = 2 * bench.element_bytes * shape.num_heads * shape.head_dim * batch  # a query read, a result written
    return Measured(
        timing,
        flops=4.0 * batch * shape.num_heads * context * shape.head_dim,
        num_bytes=one + token,
        error=error,
    )
