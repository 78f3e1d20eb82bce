"""A measured collective: sizes and times that stand in for the model, between the smallest and the largest only."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.checks import Floats, one_of, positive, whole
from core.collectives import OPS


@dataclass(frozen=True, slots=True)
class MeasuredCollective:
    """Times of one op over one group of GPUs inside a node."""

    op: str
    ranks: int
    num_bytes: tuple[float, ...]  # the whole unsharded tensor, rising [bytes]
    seconds: tuple[float, ...]
    source: str = ""

    def __post_init__(self) -> None:
        one_of("op", self.op, OPS)
        whole("ranks", self.ranks, low=2)
        positive("num_bytes", self.num_bytes)
        positive("seconds", self.seconds)
        if len(self.num_bytes) != len(self.seconds) or len(self.num_bytes) < 2:
            raise ValueError(
                f"num_bytes has {len(self.num_bytes)} values and seconds {len(self.seconds)}; "
                "give two or more of each, one time a size"
            )
        if any(small >= large for small, large in pairwise(self.num_bytes)):
            raise ValueError("num_bytes must rise from row to row; sort the rows and keep one a size")

    def covers(self, num_bytes: ArrayLike) -> NDArray[np.bool_]:
        """Which sizes lie between the smallest and the largest that was measured."""
        size = np.asarray(num_bytes, dtype=np.float64)
        return np.asarray((size >= self.num_bytes[0]) & (size <= self.num_bytes[-1]))

    def time_s(self, num_bytes: ArrayLike) -> Floats:
        """Time between measured sizes, straight in logarithms of size and time. [s]

        Never falls with the size: where a larger message was measured quicker, the longer time before it holds on.

        Raises:
            ValueError: a size outside the table; the nearest end says nothing about it.
        """
        size = positive("num_bytes", num_bytes)
        if not np.all(self.covers(size)):
            raise ValueError(
                f"num_bytes={float(size[~self.covers(size)].flat[0]):.12g} lies outside the table, "
                f"{self.num_bytes[0]:.12g} to {self.num_bytes[-1]:.12g}; measure it, or use the model"
            )
        rising = np.maximum.accumulate(np.log(self.seconds))
        return np.asarray(np.exp(np.interp(np.log(size), np.log(self.num_bytes), rising)))
