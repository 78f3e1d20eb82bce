"""One decoder layer's decode step over batch and context, launched kernel by kernel and replayed from a graph."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from core.microbench import kernels
from core.microbench.bench import Bench
from core.microbench.item import Item, Measured, Point
from core.microbench.layer import Layer, check, kv_bytes, random_layer, weight_bytes
from core.microbench.shapes import LayerShape

# Between the places where attention is measured alone, so that a prediction has to interpolate.
GPU_BATCHES = (1, 8, 32, 128, 256)
GPU_CONTEXTS = (512, 1024, 4096, 16384, 32768)
EAGER_BATCHES = (1, 32, 256)
EAGER_CONTEXTS = (512, 4096)
CPU_BATCHES = (1, 8)
CPU_CONTEXTS = (256, 1024)


def items(bench: Bench, shape: LayerShape, batches: tuple[int, ...], contexts: tuple[int, ...]) -> list[Item]:
    """One item a model: each batch and context from a graph, some of them also eager."""
    settings = [
        (batch, context, mode)
        for context in contexts
        for batch in batches
        for mode in ("graph", "eager")
        if mode == "graph" or (batch in EAGER_BATCHES and context in EAGER_CONTEXTS)
    ]
    if bench.device.kind != "cuda":  # there are no graphs to replay
        settings = [(batch, context, "eager") for context in contexts for batch in batches]
    weights = weight_bytes(bench, shape)
    return [
        Item(
            f"decode step, {shape.model}",
            "step",
            partial(_points, bench, shape, settings),
            len(settings),
            needs_bytes=weights * bench.copies(weights),
            lacks=bench.device.lacks(bench.dtype),
        )
    ]


def _points(bench: Bench, shape: LayerShape, settings: list[tuple[int, int, str]]) -> Iterator[Point]:
    kernels.choose_fused(bench.device, bench.torch_dtype(), shape.head_dim)
    error = check(bench, shape)
    layers = [random_layer(bench, shape) for _ in range(bench.copies(weight_bytes(bench, shape)))]
    for batch, context, mode in settings:
        described = {
            "phase": "decode",
            "model": shape.model,
            "batch": batch,
            "seq_len": context,
            "mode": mode,
            "dtype": bench.dtype,
        }
        cached = kv_bytes(bench, shape, batch, context)
        needs = cached + 8 * bench.element_bytes * batch * (shape.hidden_size + 3 * shape.intermediate_size)
        yield Point(described, partial(_measure, bench, layers, batch, context, mode, error), needs)


def _measure(bench: Bench, layers: list[Layer], batch: int, context: int, mode: str, error: float) -> Measured:
    import torch

    shape = layers[0].shape
    cache = bench.random(2, batch, shape.num_kv_heads, context, shape.head_dim)
    x = bench.random(batch, shape.hidden_size)
    rotation = kernels.rotations(context, shape, bench.device.torch_name)[-1:].clone()
    with torch.no_grad():
        timing = bench.timer.time_as(mode, [partial(layer.decode, x, cache, rotation) for layer in layers])
    weights = weight_bytes(bench, shape)
    attention = 4.0 * shape.num_heads * context * shape.head_dim
    return Measured(
        timing,
        flops=batch * (2.0 * shape.num_weights + attention),
        num_bytes=weights + kv_bytes(bench, shape, batch, context),
        error=error,
        more={"weight_bytes": weights},
    )
