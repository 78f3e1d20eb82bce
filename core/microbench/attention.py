"""Causal attention over sequence length: fused against unfused, forward and with its backward pass, and peak memory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from core.microbench import kernels
from core.microbench.bench import Bench, Tensor
from core.microbench.item import Item, Measured, Point
from core.microbench.layer import causal_mask
from core.microbench.shapes import LayerShape

DIRECTIONS = ("forward", "training")  # training: forward and backward
GPU_SEQ_LENS = (512, 1024, 2048, 4096, 8192, 16384)
CPU_SEQ_LENS = (128, 256, 512)
# Products of the same size, forward and backward: unfused keeps the probabilities (2 + 4), fused computes them again
# (2 + 5). Source: Dao 2023, arXiv:2307.08691, section 4.1, which counts a backward pass as 2.5 forward passes.
PRODUCTS = {("forward", True): 2, ("forward", False): 2, ("training", True): 7, ("training", False): 6}
# Score-sized tensors at the peak of the unfused passes: scores, scaled, masked, probabilities; gradients of two more.
SCORES_HELD = {"forward": 4, "training": 6}


def items(
    bench: Bench, shape: LayerShape, seq_lens: tuple[int, ...], variants: tuple[str, ...] = ("fused", "unfused")
) -> list[Item]:
    """One item a variant and direction, over sequence length; one sequence each."""
    return [
        Item(
            f"attention {variant} {direction}, {shape.num_heads}/{shape.num_kv_heads} heads",
            "attention",
            partial(_points, bench, shape, seq_lens, variant, direction),
            len(seq_lens),
            lacks=bench.device.lacks(bench.dtype),
        )
        for variant in variants
        for direction in DIRECTIONS
    ]


def flops(shape: LayerShape, seq_len: int, direction: str, *, fused: bool) -> float:
    """Two products over the half of the scores that is not masked, and those of the backward pass. [FLOP]"""
    one = 2.0 * shape.num_heads * seq_len**2 * shape.head_dim / 2
    return PRODUCTS[direction, fused] * one


def _points(
    bench: Bench, shape: LayerShape, seq_lens: tuple[int, ...], variant: str, direction: str
) -> Iterator[Point]:
    fused = variant == "fused"
    if fused:
        kernels.choose_fused(bench.device, bench.torch_dtype(), shape.head_dim)
    for seq_len in seq_lens:
        scores = bench.element_bytes * shape.num_heads * seq_len**2
        needs = 8 * bench.element_bytes * seq_len * (shape.num_heads + shape.num_kv_heads) * shape.head_dim
        settings = {
            "variant": variant,
            "direction": direction,
            "num_heads": shape.num_heads,
            "num_kv_heads": shape.num_kv_heads,
            "head_dim": shape.head_dim,
            "batch": 1,
            "seq_len": seq_len,
            "dtype": bench.dtype,
        }
        measure = partial(_measure, bench, shape, seq_len, direction, fused)
        yield Point(settings, measure, needs + (0 if fused else scores * SCORES_HELD[direction]))


def _measure(bench: Bench, shape: LayerShape, seq_len: int, direction: str, fused: bool) -> Measured:
    import torch

    def tensor(heads: int) -> Tensor:
        return bench.random(1, heads, seq_len, shape.head_dim)

    queries, keys, values = tensor(shape.num_heads), tensor(shape.num_kv_heads), tensor(shape.num_kv_heads)
    mask = None if fused else causal_mask(seq_len, queries.device)

    def forward() -> Tensor:
        if fused:
            return kernels.attend(queries, keys, values, causal=True)
        return kernels.unfused_attention(queries, keys, values, mask)

    error = kernels.attention_error(bench, forward(), queries, keys, values, causal=True)
    call = forward
    if direction == "training":
        inputs = [tensor.requires_grad_() for tensor in (queries, keys, values)]
        gradient = bench.random(1, shape.num_heads, seq_len, shape.head_dim)

        def call() -> Tensor:
            return torch.autograd.grad(forward(), inputs, gradient)

    peak = bench.peak_bytes(call)
    timing = bench.timer.time([call])
    num_bytes = 2 * bench.element_bytes * seq_len * (shape.num_heads + shape.num_kv_heads) * shape.head_dim
    return Measured(
        timing,
        flops=flops(shape, seq_len, direction, fused=fused),
        num_bytes=num_bytes if direction == "forward" else 2 * num_bytes,  # and the gradient of each
        peak_bytes=peak,
        error=error,
    )
