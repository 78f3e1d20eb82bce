"""One decoder layer's pass over whole prompts, as in prefill: a step that a calibrated prediction is judged by."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from core.microbench import attention, kernels
from core.microbench.bench import Bench
from core.microbench.item import Item, Measured, Point
from core.microbench.layer import Layer, check, random_layer, weight_bytes
from core.microbench.shapes import LayerShape

GPU_SIZES = ((1, 1024), (1, 2048), (4, 2048), (1, 4096), (1, 8192), (1, 16384))  # (sequences, tokens of each)
CPU_SIZES = ((1, 128), (1, 256))


def items(bench: Bench, shape: LayerShape, sizes: tuple[tuple[int, int], ...]) -> list[Item]:
    """One item a model."""
    return [
        Item(
            f"prefill step, {shape.model}",
            "step",
            partial(_points, bench, shape, sizes),
            len(sizes),
            needs_bytes=2 * weight_bytes(bench, shape),
            lacks=bench.device.lacks(bench.dtype),
        )
    ]


def settings(bench: Bench, shape: LayerShape, phase: str, batch: int, seq_len: int) -> dict[str, object]:
    """What a step over whole sequences is, in the field names of a result."""
    return {
        "phase": phase,
        "model": shape.model,
        "batch": batch,
        "seq_len": seq_len,
        "mode": "eager",
        "dtype": bench.dtype,
    }


def forward_flops(shape: LayerShape, batch: int, seq_len: int) -> float:
    """Products with weights, and attention without its masked half. [FLOP]"""
    mixing = attention.flops(shape, seq_len, "forward", fused=True)
    return batch * (2.0 * shape.num_weights * seq_len + mixing)


def kept_width(shape: LayerShape) -> int:
    """Elements a token that are alive at once, at most; generously, to see beforehand whether a step fits."""
    return 8 * shape.hidden_size + 6 * shape.qkv_width + 5 * shape.intermediate_size


def _points(bench: Bench, shape: LayerShape, sizes: tuple[tuple[int, int], ...]) -> Iterator[Point]:
    kernels.choose_fused(bench.device, bench.torch_dtype(), shape.head_dim)
    error = check(bench, shape)
    layer = random_layer(bench, shape)
    for batch, seq_len in sizes:
        needs = bench.element_bytes * kept_width(shape) * batch * seq_len
        described = settings(bench, shape, "prefill", batch, seq_len)
        yield Point(described, partial(_measure, bench, layer, batch, seq_len, error), needs)


def _measure(bench: Bench, layer: Layer, batch: int, seq_len: int, error: float) -> Measured:
    import torch

    shape = layer.shape
    x = bench.random(batch * seq_len, shape.hidden_size)
    rotation = kernels.rotations(seq_len, shape, bench.device.torch_name).repeat(batch, 1, 1)
    call = partial(layer.forward, x, batch, rotation)
    with torch.no_grad():
        peak = bench.peak_bytes(call)
        timing = bench.timer.time([call], graph=False)
    weights = weight_bytes(bench, shape)
    return Measured(
        timing,
        flops=forward_flops(shape, batch, seq_len),
        num_bytes=weights + 2 * bench.element_bytes * x.numel(),
        peak_bytes=peak,
        error=error,
        more={"weight_bytes": weights},
    )
