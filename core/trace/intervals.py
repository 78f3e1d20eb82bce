"""Sets of time as sorted, disjoint intervals: unions of overlapping events, and how much lies inside a window."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.checks import Floats


@dataclass(frozen=True, slots=True)
class Intervals:
    """Sorted, disjoint and not touching; both columns have the shape (intervals,)."""

    start_s: Floats
    end_s: Floats

    @property
    def total_s(self) -> float:
        """Length of all of them. [s]"""
        return float(np.sum(self.end_s - self.start_s))

    @property
    def gaps(self) -> Intervals:
        """What lies between them."""
        return Intervals(self.end_s[:-1], self.start_s[1:])

    def before(self, time_s: ArrayLike) -> Floats:
        """How much of the set lies before each moment. [s], with the shape of ``time_s``"""
        time = np.asarray(time_s, dtype=np.float64)
        if not self.start_s.size:
            return np.zeros_like(time)
        lengths = np.concatenate([[0.0], np.cumsum(self.end_s - self.start_s)])
        begun = np.searchsorted(self.start_s, time, side="right")
        over = np.where(begun > 0, np.maximum(self.end_s[begun - 1] - time, 0.0), 0.0)
        return np.asarray(lengths[begun] - over)

    def inside(self, start_s: ArrayLike, end_s: ArrayLike) -> Floats:
        """How much of the set lies in each window. [s], with the windows' shape"""
        return np.maximum(self.before(end_s) - self.before(start_s), 0.0)


def union(start_s: Floats, end_s: Floats) -> Intervals:
    """The time that at least one event covers; events of no length cover none."""
    real = end_s > start_s
    start, end = start_s[real], end_s[real]
    if not start.size:
        return Intervals(start, end)
    order = np.argsort(start, kind="stable")
    start, end = start[order], np.maximum.accumulate(end[order])
    first: NDArray[np.bool_] = np.concatenate([[True], start[1:] > end[:-1]])
    last = np.concatenate([first[1:], [True]])
    return Intervals(start[first], end[last])


def merged(*sets: Intervals) -> Intervals:
    """The time that at least one of the sets covers."""
    return union(np.concatenate([each.start_s for each in sets]), np.concatenate([each.end_s for each in sets]))


def both(a: Intervals, b: Intervals) -> Intervals:
    """The time in both sets."""
    return _pieces(a, b, wanted_in_b=True)


def without(a: Intervals, b: Intervals) -> Intervals:
    """The time in the first set and not in the second."""
    return _pieces(a, b, wanted_in_b=False)


def _pieces(a: Intervals, b: Intervals, *, wanted_in_b: bool) -> Intervals:
    """Between two neighbouring edges of either set nothing changes, so the middle speaks for the piece."""
    edges = np.unique(np.concatenate([a.start_s, a.end_s, b.start_s, b.end_s]))
    middle = (edges[:-1] + edges[1:]) / 2
    inside = _holds(a, middle) & (_holds(b, middle) == wanted_in_b)
    return union(edges[:-1][inside], edges[1:][inside])


def _holds(times: Intervals, moment_s: Floats) -> NDArray[np.bool_]:
    if not times.start_s.size:
        return np.zeros(moment_s.shape, dtype=np.bool_)
    last = np.searchsorted(times.start_s, moment_s, side="right") - 1
    return np.asarray((last >= 0) & (moment_s < times.end_s[last]))
