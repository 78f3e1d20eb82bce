"""What one attention layer computes, moves and takes at least: as a chain of kernels, or as one tiled kernel a pass.

Times are floors: dense peak, pin-rate bandwidth, exponentials and launches left out. The kernels of the unfused chain
wait for each other, so their times add up; a tiled kernel overlaps its loads with its products.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from core.attention_io import PAPER_SRAM_BYTES, hbm_bytes, least_bytes, score_bytes
from core.attention_shapes import AttentionShape
from core.checks import Floats
from core.hardware import Accelerator
from core.token_mixing import visible_tokens

Method = Literal["unfused", "tiled", "tiled, no mask"]
METHODS: tuple[Method, ...] = ("unfused", "tiled", "tiled, no mask")
_ELEMENT_BYTES = 2.0


@dataclass(frozen=True, slots=True)
class Chip:
    """What attention needs to know of an accelerator."""

    bytes_per_s: float
    flops_per_s: float | None  # dense 16-bit peak; None where none is confirmed
    sram_bytes: int  # that a tile may fill
    sram_known: bool  # from the catalog, or else the A100's of the FlashAttention paper
    memory_bytes: int

    @classmethod
    def of(cls, accelerator: Accelerator) -> Chip:
        """One accelerator's numbers."""
        dtype, sram = accelerator.half_dtype, accelerator.shared_memory_per_block_max_bytes
        return cls(
            bytes_per_s=accelerator.hbm_bytes_per_s,
            flops_per_s=accelerator.peak_flops_per_s(dtype) if dtype else None,
            sram_bytes=sram or PAPER_SRAM_BYTES,
            sram_known=sram is not None,
            memory_bytes=accelerator.hbm_bytes,
        )

    def floor_s(self, flops: ArrayLike, num_bytes: ArrayLike) -> Floats:
        """The longer of computing and moving; the memory's time alone without a confirmed peak. [s]"""
        moving = np.asarray(num_bytes) / self.bytes_per_s
        return moving if self.flops_per_s is None else np.maximum(moving, np.asarray(flops) / self.flops_per_s)


@dataclass(frozen=True, slots=True, eq=False)
class Cost:
    """Of one pass of one layer, or of several added up; arrays of one shape."""

    flops: Floats
    moved_bytes: Floats  # caches left out
    least_bytes: Floats  # if caches catch every reread of a tile
    time_s: Floats  # floor

    def __add__(self, other: Cost) -> Cost:
        """One after the other."""
        return Cost(
            self.flops + other.flops,
            self.moved_bytes + other.moved_bytes,
            self.least_bytes + other.least_bytes,
            self.time_s + other.time_s,
        )

    def times(self, count: float) -> Cost:
        """So many of them, one after the other."""
        return Cost(self.flops * count, self.moved_bytes * count, self.least_bytes * count, self.time_s * count)


@dataclass(frozen=True, slots=True, eq=False)
class ChainKernel:
    """One kernel of the unfused chain."""

    label: str
    flops: Floats
    moved_bytes: Floats


def unfused_kernels(
    shape: AttentionShape, seq_len: ArrayLike, *, batch: ArrayLike = 1, backward: bool
) -> tuple[ChainKernel, ...]:
    """The kernels of one pass: algorithm 0, or the backward pass, algorithm 3. Softmax FLOPs are left out.

    Their bytes add up to :func:`core.attention_io.hbm_bytes`.
    Source: Dao et al. 2022, arXiv:2205.14135.
    """
    n = np.asarray(seq_len, dtype=np.float64)
    rows = _ELEMENT_BYTES * np.asarray(batch, dtype=np.float64) * n
    q, k = rows * shape.heads * shape.head_dim, rows * shape.kv_heads * shape.head_dim
    o, v = rows * shape.heads * shape.v_head_dim, rows * shape.kv_heads * shape.v_head_dim
    s = score_bytes(n, heads=shape.heads, batch=batch)
    entries = s / _ELEMENT_BYTES
    with_keys, with_values = 2 * entries * shape.head_dim, 2 * entries * shape.v_head_dim
    nothing = 0.0 * entries
    if not backward:
        return (
            ChainKernel("scores", with_keys, q + k + s),
            ChainKernel("softmax", nothing, 2 * s),
            ChainKernel("weighted values", with_values, s + v + o),
        )
    return (
        ChainKernel("gradient of values", with_values, s + o + v),
        ChainKernel("gradient of weights", with_values, o + v + s),
        ChainKernel("softmax, backward", nothing, 3 * s),
        ChainKernel("gradient of queries", with_keys, s + k + q),
        ChainKernel("gradient of keys", with_keys, s + q + k),
    )


def pass_cost(
    shape: AttentionShape, seq_len: ArrayLike, *, batch: int, chip: Chip, method: Method, backward: bool
) -> Cost:
    """One pass of one layer.

    Args:
        shape: heads and widths on one GPU.
        seq_len: tokens. [tokens]
        batch: sequences of a micro-batch. [sequences]
        chip: rates, and what a tile may fill.
        method: the unfused chain, which computes and moves what the mask hides all the same; a tiled kernel that skips
            masked tiles; or a tiled kernel without a mask. Backward, a tiled kernel makes the scores once more.
        backward: that pass alone; else the forward pass.
    """
    n = np.asarray(seq_len, dtype=np.float64)
    if method == "unfused":
        kernels = unfused_kernels(shape, n, batch=batch, backward=backward)
        zero = np.zeros_like(n)
        moved = sum((kernel.moved_bytes for kernel in kernels), zero)
        return Cost(
            flops=sum((kernel.flops for kernel in kernels), zero),
            moved_bytes=moved,
            least_bytes=moved,  # matrices of scores overflow every cache, but for the shortest sequences
            time_s=sum((chip.floor_s(kernel.flops, kernel.moved_bytes) for kernel in kernels), zero),
        )
    masked = method == "tiled"
    flops = tiled_flops(shape, n, batch=batch, backward=backward, causal=masked)
    least = _one_pass(least_traffic(shape, n, batch=batch, backward=False), backward, shape, n, batch)
    forward = tiled_bytes(shape, n, batch=batch, sram_bytes=chip.sram_bytes, causal=masked, backward=False)
    both = tiled_bytes(shape, n, batch=batch, sram_bytes=chip.sram_bytes, causal=masked, backward=True)
    moved = both - forward if backward else forward
    return Cost(flops, moved, least, chip.floor_s(flops, least))


def _one_pass(forward: Floats, backward: bool, shape: AttentionShape, n: Floats, batch: int) -> Floats:
    return least_traffic(shape, n, batch=batch, backward=True) - forward if backward else forward


def tiled_flops(shape: AttentionShape, seq_len: ArrayLike, *, batch: int, backward: bool, causal: bool) -> Floats:
    """Products of a tiled kernel: 2 forward, 5 backward, of which one makes the scores again. [FLOP]"""
    n = np.asarray(seq_len, dtype=np.float64)
    seen = visible_tokens(n, "causal", limit=shape.window, chunked=shape.chunked) if causal else n
    keys, values = (3, 2) if backward else (1, 1)
    return np.asarray(2 * batch * shape.heads * n * seen * (keys * shape.head_dim + values * shape.v_head_dim))


def tiled_bytes(
    shape: AttentionShape,
    seq_len: ArrayLike,
    *,
    batch: int,
    sram_bytes: ArrayLike,
    causal: bool,
    backward: bool,
) -> Floats:
    """:func:`core.attention_io.hbm_bytes` of a shape; each chunk of chunked attention is a sequence of its own."""
    n = np.asarray(seq_len, dtype=np.float64)
    chunks: Floats = np.ones_like(n)
    window = shape.window if causal else None
    if shape.chunked and causal and shape.window is not None:
        length = np.minimum(n, shape.window)
        n, chunks, window = length, n / length, None
    return chunks * hbm_bytes(
        n,
        shape.head_dim,
        heads=shape.heads,
        kv_heads=shape.kv_heads,
        v_head_dim=shape.v_head_dim,
        batch=batch,
        tiled=True,
        sram_bytes=sram_bytes,
        causal=causal,
        window=window,
        backward=backward,
    )


def least_traffic(shape: AttentionShape, seq_len: ArrayLike, *, batch: int, backward: bool) -> Floats:
    """:func:`core.attention_io.least_bytes` of a shape."""
    return least_bytes(
        seq_len,
        shape.head_dim,
        heads=shape.heads,
        kv_heads=shape.kv_heads,
        v_head_dim=shape.v_head_dim,
        batch=batch,
        backward=backward,
    )
