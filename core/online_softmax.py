"""The online softmax, one tile at a time: why attention never needs a whole row of scores at once.

Each tile brings its own maximum. When the running maximum rises, everything summed so far is scaled down to it, so the
end is the softmax over the whole row. Sources: Milakov and Gimelshein 2018, arXiv:1805.02867, algorithm 3; Dao et al.
2022, arXiv:2205.14135, section 3.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats, numbers, whole

MOST_CELLS = 1_000_000  # it is for watching, not for work


@dataclass(frozen=True, slots=True)
class Step:
    """What is known after one tile; arrays have one entry a query row."""

    start: int  # first key of the tile
    stop: int  # one past its last
    tile_max: Floats
    running_max: Floats
    rescale: Floats  # factor on everything summed before: exp(old maximum - new maximum)
    weights: Floats  # exp(score - running maximum) of this tile, shape (rows, tile)
    running_sum: Floats
    accumulated: Floats  # not divided yet, shape (rows, value width)

    @property
    def output(self) -> Floats:
        """Attention over the keys seen so far; after the last tile the result. Rows that saw none are zero."""
        seen = self.running_sum > 0
        return self.accumulated / np.where(seen, self.running_sum, 1.0)[:, None]


def online_softmax(scores: ArrayLike, values: ArrayLike, *, tile: int) -> Iterator[Step]:
    """Softmax of each row of scores times the values, tile by tile.

    Args:
        scores: shape (rows, keys), or (keys,) for one row; minus infinity hides a key.
        values: shape (keys, width), or (keys,) for values of width one.
        tile: keys of one tile; the last may have fewer. [keys]

    Yields:
        one :class:`Step` a tile.

    Raises:
        ValueError: shapes do not fit, or a number is no use; at the call, before the first step.
    """
    rows = np.atleast_2d(np.asarray(scores, dtype=np.float64))
    columns = numbers("values", values)
    columns = columns[:, None] if columns.ndim == 1 else columns
    width = int(whole("tile", tile))
    if rows.ndim != 2 or columns.ndim != 2 or rows.shape[1] != columns.shape[0] or not rows.size:
        raise ValueError(f"scores of shape {rows.shape} need one value a key; values have shape {columns.shape}")
    if rows.size > MOST_CELLS:
        raise ValueError(f"{rows.size} scores are too many to step through; give at most {MOST_CELLS}")
    if np.any(np.isnan(rows) | (rows == np.inf)):
        raise ValueError("scores must be finite numbers, or minus infinity where a mask hides a key")
    return _steps(rows, columns, width)


def _steps(rows: Floats, values: Floats, tile: int) -> Iterator[Step]:
    running_max = np.full(rows.shape[0], -np.inf)
    running_sum = np.zeros(rows.shape[0])
    accumulated = np.zeros((rows.shape[0], values.shape[1]))
    for start in range(0, rows.shape[1], tile):
        stop = min(start + tile, rows.shape[1])
        block = rows[:, start:stop]
        tile_max = block.max(axis=1)
        new_max = np.maximum(running_max, tile_max)
        anchor = np.where(np.isneginf(new_max), 0.0, new_max)  # a row that has seen only hidden keys
        rescale = np.exp(running_max - anchor)
        weights = np.exp(block - anchor[:, None])
        running_sum = rescale * running_sum + weights.sum(axis=1)
        accumulated = rescale[:, None] * accumulated + weights @ values[start:stop]
        running_max = new_max
        yield Step(start, stop, tile_max, running_max, rescale, weights, running_sum, accumulated)


def softmax_attention(scores: ArrayLike, values: ArrayLike) -> Floats:
    """The same with whole rows, as a reference: shape (rows, value width). Every row needs a key that is not hidden."""
    rows = np.atleast_2d(np.asarray(scores, dtype=np.float64))
    columns = numbers("values", values)
    columns = columns[:, None] if columns.ndim == 1 else columns
    weights = np.exp(rows - rows.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True) @ columns)
