"""One decoder layer's training step, forward and backward without the optimizer: its time and its memory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from core.microbench import kernels
from core.microbench.bench import Bench, Tensor
from core.microbench.item import Item, Measured, Point
from core.microbench.layer import Layer, check, random_layer, weight_bytes
from core.microbench.prefill import forward_flops, kept_width, settings
from core.microbench.shapes import LayerShape

GPU_SIZES = ((1, 2048), (1, 4096), (2, 4096), (1, 8192))  # (sequences, tokens of each)
CPU_SIZES = ((1, 128), (1, 256))


def items(bench: Bench, shape: LayerShape, sizes: tuple[tuple[int, int], ...]) -> list[Item]:
    """One item a model."""
    return [
        Item(
            f"training step, {shape.model}",
            "step",
            partial(_points, bench, shape, sizes),
            len(sizes),
            needs_bytes=2 * weight_bytes(bench, shape),
            lacks=bench.device.lacks(bench.dtype),
        )
    ]


def _points(bench: Bench, shape: LayerShape, sizes: tuple[tuple[int, int], ...]) -> Iterator[Point]:
    kernels.choose_fused(bench.device, bench.torch_dtype(), shape.head_dim)
    error = check(bench, shape)
    layer = random_layer(bench, shape, trains=True)
    for batch, seq_len in sizes:
        kept = bench.element_bytes * 2 * kept_width(shape) * batch * seq_len
        described = settings(bench, shape, "training", batch, seq_len)
        yield Point(
            described, partial(_measure, bench, layer, batch, seq_len, error), kept + 2 * weight_bytes(bench, shape)
        )


def _measure(bench: Bench, layer: Layer, batch: int, seq_len: int, error: float) -> Measured:
    import torch

    shape = layer.shape
    x = bench.random(batch * seq_len, shape.hidden_size).requires_grad_()
    gradient = bench.random(batch * seq_len, shape.hidden_size)
    rotation = kernels.rotations(seq_len, shape, bench.device.torch_name).repeat(batch, 1, 1)
    wanted = [*layer.weights, x]

    def step() -> Tensor:
        return torch.autograd.grad(layer.forward(x, batch, rotation), wanted, gradient)

    peak = bench.peak_bytes(step)
    kept = _kept_bytes(bench, partial(layer.forward, x, batch, rotation))
    timing = bench.timer.time([step], graph=False)
    weights = weight_bytes(bench, shape)
    # The backward pass makes two products for each of the forward pass's: gradients of inputs and of weights. Of
    # attention it makes 2.5 times as many (see attention.PRODUCTS).
    linear = 2.0 * shape.num_weights * batch * seq_len
    mixing = forward_flops(shape, batch, seq_len) - linear
    return Measured(
        timing,
        flops=3 * linear + 3.5 * mixing,
        num_bytes=3 * weights + 4 * bench.element_bytes * x.numel(),
        peak_bytes=peak,
        error=error,
        more={"weight_bytes": weights} | ({} if kept is None else {"kept_bytes": kept}),
    )


def _kept_bytes(bench: Bench, forward: Tensor) -> int | None:
    """Memory that the forward pass leaves for the backward pass, its output included, its input not. [bytes]"""
    if bench.device.kind != "cuda":
        return None
    before = bench.device.own_bytes()
    output = forward()
    bench.device.synchronize()
    kept = bench.device.own_bytes() - before
    del output
    return kept
