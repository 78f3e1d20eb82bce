"""What attention moves from and to the main memory, with scores written out or tile by tile, and what it has to hold.

An unfused kernel chain writes the matrix of scores and reads it back several times; a tiled kernel keeps a tile of it
on the chip. Counts are those of Dao et al. 2022, arXiv:2205.14135: algorithms 0 to 4 and theorem 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats, positive, whole

# Times that a score-sized matrix is written or read. Forward: S written and read, P written and read (algorithm 0).
# Backward: P read for dV, dP written, P and dP read and dS written, dS read for dQ and for dK (algorithm 3).
FORWARD_PASSES, BACKWARD_PASSES = 4.0, 7.0
# With an added mask and dropout, as GPT-2 in PyTorch: forward the mask's sum and the dropout read and write once more
# each, and the dropout's mask is half a pass (1 byte for 2); backward dropout reads, writes and needs its mask again.
FORWARD_PASSES_WITH_DROPOUT, BACKWARD_PASSES_WITH_DROPOUT = 8.5, 9.5
STATISTIC_BYTES = 4  # softmax statistics are fp32
PAPER_SRAM_BYTES = 192 * 1024  # of one A100 SM, as section 2.1 has it: shared memory and L1 together


@dataclass(frozen=True, slots=True)
class Tiles:
    """Rows of one tile of queries and of one tile of keys; each field is broadcast. [tokens]"""

    query_rows: Floats
    key_rows: Floats


def tile_sizes(
    head_dim: ArrayLike, sram_bytes: ArrayLike, *, element_bytes: ArrayLike = 2, v_head_dim: ArrayLike | None = None
) -> Tiles:
    """The tiles that fit on the chip: of keys M / (4 d) rows, of queries as many but at most d.

    Args:
        head_dim: d. [elements]
        sram_bytes: on-chip memory of one SM; M in elements. Queries, keys, values and outputs share it. [bytes]
        element_bytes: size of an element. [bytes]
        v_head_dim: of values and outputs, if it is another: 4 d is then twice the sum of both. [elements]

    Source: Dao et al. 2022, arXiv:2205.14135, algorithm 1, line 1.
    """
    d = whole("head_dim", head_dim)
    elements = positive("sram_bytes", sram_bytes) / positive("element_bytes", element_bytes)
    keys = np.ceil(elements / (2 * (d + _value_width(d, v_head_dim))))
    return Tiles(query_rows=np.minimum(keys, d), key_rows=keys)


def _value_width(head_dim: Floats, v_head_dim: ArrayLike | None) -> Floats:
    return head_dim if v_head_dim is None else whole("v_head_dim", v_head_dim)


def score_bytes(
    seq_len: ArrayLike, *, heads: ArrayLike = 1, batch: ArrayLike = 1, element_bytes: ArrayLike = 2
) -> Floats:
    """The SIZE of one matrix of scores for each head, not the traffic: that is several passes over it. [bytes]"""
    n = whole("seq_len", seq_len)
    return np.asarray(positive("element_bytes", element_bytes) * whole("heads", heads) * whole("batch", batch) * n**2)


def hbm_bytes(
    seq_len: ArrayLike,
    head_dim: ArrayLike,
    *,
    heads: ArrayLike = 1,
    batch: ArrayLike = 1,
    tiled: bool,
    sram_bytes: ArrayLike = PAPER_SRAM_BYTES,
    backward: bool = False,
    kv_heads: ArrayLike | None = None,
    v_head_dim: ArrayLike | None = None,
    causal: bool = False,
    window: ArrayLike | None = None,
    dropout: bool = False,
    element_bytes: ArrayLike = 2,
) -> Floats:
    """Bytes that attention of one layer reads and writes in main memory.

    Args:
        seq_len: tokens of queries and of keys, N. [tokens]
        head_dim: d, of queries, keys and values. [elements]
        heads: query heads. [heads]
        batch: sequences. [sequences]
        tiled: one kernel that keeps scores on the chip, or products and softmax as kernels of their own.
        sram_bytes: on-chip memory that sets the tiles; without effect if not tiled. [bytes]
        backward: count the backward pass too, on top of the forward pass.
        kv_heads: heads of keys and values; None: as many as of queries. [heads]
        v_head_dim: of values and outputs; None: as that of queries and keys. [elements]
        causal: a tiled kernel skips tiles that the mask hides. The unfused chain computes and moves them all the same.
        window: a query sees the last so many tokens; a tiled kernel skips the other tiles. On average over where tiles
            lie, a tile of q queries meets (window + q - 2) / tile of keys + 1 tiles. None: all of them. [tokens]
        dropout: an added mask and dropout between softmax and values; in a tiled kernel they move nothing.
        element_bytes: size of an element, scores included. [bytes]

    Returns:
        [bytes], broadcast. Unfused: 4 N^2 + 4 N d elements a head forward, 7 N^2 + 8 N d backward. Tiled, with T tiles
        of keys: 2 N d + T (3 N d) forward, as outputs are corrected with each tile, 4 N d + T (5 N d) backward, and the
        softmax statistics: O(N^2 d^2 / M). Caches are left out: rereads of a tile that hit the L2 do not reach memory.
    """
    n, d, size = whole("seq_len", seq_len), whole("head_dim", head_dim), positive("element_bytes", element_bytes)
    query_heads = whole("heads", heads)
    groups = query_heads if kv_heads is None else whole("kv_heads", kv_heads)
    sequences = whole("batch", batch)
    dv = _value_width(d, v_head_dim)
    # Elements of Q, K, V and O; gradients have as many.
    q, k, v, o = query_heads * n * d, groups * n * d, groups * n * dv, query_heads * n * dv
    if not tiled:
        forward, back = (
            (FORWARD_PASSES_WITH_DROPOUT, BACKWARD_PASSES_WITH_DROPOUT)
            if dropout
            else (FORWARD_PASSES, BACKWARD_PASSES)
        )
        passes = forward + (back if backward else 0.0)
        # Forward reads Q, K, V and writes O. Backward reads dO twice, V, K, Q and writes dV, dQ, dK.
        vectors = (q + k + v + o) * (3.0 if backward else 1.0)
        return np.asarray(sequences * (size * vectors + passes * score_bytes(n, heads=query_heads, element_bytes=size)))
    visits = tile_visits(n, d, sram_bytes=sram_bytes, v_head_dim=dv, causal=causal, window=window, element_bytes=size)
    statistics = STATISTIC_BYTES * query_heads * n
    # Q and O read, O written; maximum and sum, read and written.
    moved = size * (k + v + visits * (q + 2 * o)) + visits * 4 * statistics
    if backward:  # Q, O, dO and dQ read, dQ written; K and V read, dK and dV written
        moved = moved + size * (2 * (k + v) + visits * (3 * q + 2 * o)) + visits * 2 * statistics
    return np.asarray(sequences * moved)


def tile_visits(
    seq_len: ArrayLike,
    head_dim: ArrayLike,
    *,
    sram_bytes: ArrayLike = PAPER_SRAM_BYTES,
    v_head_dim: ArrayLike | None = None,
    causal: bool = False,
    window: ArrayLike | None = None,
    element_bytes: ArrayLike = 2,
) -> Floats:
    """Tiles of keys that a tile of queries meets, on average; arguments as in :func:`hbm_bytes`. [tiles]"""
    n = whole("seq_len", seq_len)
    tiles = tile_sizes(head_dim, sram_bytes, element_bytes=element_bytes, v_head_dim=v_head_dim)
    key_rows = np.minimum(tiles.key_rows, n)
    count = np.ceil(n / key_rows)
    visits = (count + 1) / 2 if causal else count
    if window is not None:
        span = whole("window", window) + np.minimum(tiles.query_rows, n) - 2
        visits = np.minimum(visits, span / key_rows + 1)
    return np.asarray(visits)


def least_bytes(
    seq_len: ArrayLike,
    head_dim: ArrayLike,
    *,
    heads: ArrayLike = 1,
    batch: ArrayLike = 1,
    backward: bool = False,
    kv_heads: ArrayLike | None = None,
    v_head_dim: ArrayLike | None = None,
    element_bytes: ArrayLike = 2,
) -> Floats:
    """What a tiled kernel moves if caches catch every reread: each operand once. Arguments as in :func:`hbm_bytes`.

    Forward reads Q, K, V and writes O and one statistic a row; backward reads those and dO, and writes dQ, dK, dV.
    A kernel's traffic lies between this and :func:`hbm_bytes`. [bytes], broadcast.
    """
    n, d, size = whole("seq_len", seq_len), whole("head_dim", head_dim), positive("element_bytes", element_bytes)
    dv, query_heads = _value_width(d, v_head_dim), whole("heads", heads)
    groups = query_heads if kv_heads is None else whole("kv_heads", kv_heads)
    inputs, outputs = n * (query_heads * d + groups * (d + dv)), n * query_heads * dv
    statistics = STATISTIC_BYTES * query_heads * n
    moved = size * (inputs + outputs) + statistics
    if backward:
        moved = moved + size * (2 * inputs + 2 * outputs) + statistics
    return np.asarray(whole("batch", batch) * moved)


def extra_bytes(
    seq_len: ArrayLike,
    head_dim: ArrayLike,
    *,
    heads: ArrayLike = 1,
    batch: ArrayLike = 1,
    tiled: bool,
    element_bytes: ArrayLike = 2,
) -> Floats:
    """Memory that the forward pass of one layer allocates beside Q, K and V. [bytes], broadcast.

    The output, and unfused the scores and their softmax at the same time, N^2 each; tiled one statistic a row: O(N).
    Source: Dao et al. 2022, arXiv:2205.14135, theorem 1.
    """
    n, d, size = whole("seq_len", seq_len), whole("head_dim", head_dim), positive("element_bytes", element_bytes)
    rows = whole("heads", heads) * whole("batch", batch) * n
    output = size * rows * d
    return np.asarray(output + (STATISTIC_BYTES * rows if tiled else 2 * size * rows * n))
