"""The derivation of attention's memory traffic, unfused or tiled."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from core.attention_io import (
    BACKWARD_PASSES,
    FORWARD_PASSES,
    PAPER_SRAM_BYTES,
    STATISTIC_BYTES,
    hbm_bytes,
    score_bytes,
    tile_sizes,
)
from core.working import Term, Working, number, product, scalar

_PAPER = "Dao et al. 2022, arXiv:2205.14135"
_BYTES = 2  # of an element


def score_working(seq_len: ArrayLike, *, heads: ArrayLike = 1, batch: ArrayLike = 1) -> Working:
    """The derivation of :func:`core.attention_io.score_bytes`, a size that is often taken for the traffic."""
    n, h, b = (scalar(name, given) for name, given in (("seq_len", seq_len), ("heads", heads), ("batch", batch)))
    value = float(score_bytes(n, heads=h, batch=b))
    return Working(
        name="Size of the scores",
        formula="bytes × heads × batch × N²",
        terms=(Term("scores", product(_BYTES, h, b, n, n), value, "bytes"),),
        value=value,
        unit="bytes",
        assumptions=("one matrix a head, in one layer", "the traffic is several passes over it"),
        source=_PAPER,
    )


def hbm_working(
    seq_len: ArrayLike,
    head_dim: ArrayLike,
    *,
    heads: ArrayLike = 1,
    batch: ArrayLike = 1,
    tiled: bool,
    sram_bytes: ArrayLike = PAPER_SRAM_BYTES,
    backward: bool = False,
) -> Working:
    """The derivation of :func:`core.attention_io.hbm_bytes`, 16-bit, without mask and dropout."""
    names = ("seq_len", "head_dim", "heads", "batch", "sram_bytes")
    n, d, h, b, sram = (
        scalar(name, given) for name, given in zip(names, (seq_len, head_dim, heads, batch, sram_bytes), strict=True)
    )
    value = float(hbm_bytes(n, d, heads=h, batch=b, tiled=tiled, sram_bytes=sram, backward=backward))
    count = product(_BYTES, h, b)
    rows = _tiled(n, d, sram, h * b, count, backward) if tiled else _unfused(n, d, h * b, count, backward)
    passes = "forward and backward" if backward else "forward"
    return Working(
        name=f"Memory traffic of attention, {'tiled' if tiled else 'unfused'}, {passes}",
        formula=(
            "keys and values once + each visit of queries and outputs, T times + statistics"
            if tiled
            else "passes × N² + vectors × N d"
        ),
        terms=tuple(rows),
        value=value,
        unit="bytes",
        assumptions=(
            f"tiles for {number(sram)} bytes on the chip"
            if tiled
            else "every step of the chain is a kernel of its own",
            "16-bit elements, no mask, no dropout; what caches save is left out",
        ),
        source=f"{_PAPER}, algorithms {'1 and 4' if tiled else '0 and 3'}",
    )


def _unfused(n: float, d: float, matrices: float, count: str, backward: bool) -> Iterator[Term]:
    passes = FORWARD_PASSES + (BACKWARD_PASSES if backward else 0)
    vectors = 12 if backward else 4
    why = "Q, K, V read and O written" + ("; backward dO twice, Q, K, V read, dQ, dK, dV written" if backward else "")
    square = _BYTES * matrices * passes * n * n
    yield Term("passes over the scores", product(count, passes, n, n), square, "bytes", "written and read back")
    yield Term("vectors", product(count, vectors, n, d), _BYTES * matrices * vectors * n * d, "bytes", why)


def _tiled(n: float, d: float, sram: float, matrices: float, count: str, backward: bool) -> Iterator[Term]:
    key_rows = min(float(tile_sizes(d, sram).key_rows), n)
    tiles = float(np.ceil(n / key_rows))
    keys, visits, statistics = (6, 8, 6) if backward else (2, 3, 4)
    once, each = _BYTES * matrices * keys * n * d, _BYTES * matrices * visits * n * d
    yield Term("keys and values", product(count, keys, n, d), once, "bytes", "once; backward also their gradients")
    why = f"{number(tiles)} tiles of {number(key_rows)} keys, each meets all queries and corrects all outputs"
    yield Term("queries and outputs", product(count, visits, tiles, n, d), each * tiles, "bytes", why)
    rows = STATISTIC_BYTES * matrices * statistics * tiles * n
    expression = product(STATISTIC_BYTES, matrices, statistics, tiles, n)
    yield Term("softmax statistics", expression, rows, "bytes", "maximum and sum of each row, fp32")
