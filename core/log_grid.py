"""A table of measured times over sizes: straight lines between logarithms, and a mark wherever it is left.

Kernels and messages take times that rise with their sizes. Measured ones do not quite: a first call was slow, a clock
dropped, a larger call got a better kernel. So along each axis that is guarded the table answers with the rising times
nearest to the measured ones (isotonic regression by medians, which single slow calls do not move); cells that rise as
measured stay as they are.
Source: Robertson, Wright and Dykstra 1988, Order Restricted Statistical Inference, chapter 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.checks import Floats, positive

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Axis:
    """One size that the table runs over."""

    name: str  # as a sentence says it
    values: tuple[float, ...]  # rising
    power: float = 1.0  # of the size in the work: beyond the last value times grow so
    guarded: bool = True  # whether the answer may not fall along it

    def __post_init__(self) -> None:
        positive(self.name, self.values)
        if not self.values or any(np.diff(self.values) <= 0):
            raise ValueError(f"{self.name} must rise from value to value; sort the rows and keep one a size")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a table says; both arrays have the broadcast shape of what was asked."""

    seconds: Floats
    outside: Mask  # not between measured cells: continued
    notes: tuple[str, ...] = ()  # how it was read where not as it stands, in sentences
    short: Mask | None = None  # of those outside, where a larger measured size stands for a smaller; None: nowhere

    @property
    def inside(self) -> bool:
        """Whether every answer lies between measured cells."""
        return not bool(np.any(self.outside))

    @property
    def bounds(self) -> bool:
        """Whether every answer outside is the time of a larger measured size: an upper bound."""
        return self.short is not None and not bool(np.any(self.outside & ~self.short))

    def times(self, factor: ArrayLike) -> Reading:
        """So many of these calls, one after the other."""
        seconds = np.asarray(self.seconds * np.asarray(factor, dtype=np.float64))
        outside, short = (
            mask if mask is None else np.broadcast_to(mask, seconds.shape) for mask in (self.outside, self.short)
        )
        assert outside is not None
        return Reading(seconds, outside, self.notes, short)

    def noted(self, *notes: str) -> Reading:
        """The same with further sentences."""
        return Reading(self.seconds, self.outside, tuple(dict.fromkeys((*self.notes, *notes))), self.short)


class LogGrid:
    """Times over a grid of sizes.

    Args:
        axes: one for each dimension of ``seconds``.
        seconds: measured times; NaN where a cell was not measured. [s]
        spread: axes along which missing cells are filled, in this order: between two measured ones as any size between
            them, beyond them from the nearest one, which counts as outside. None: all axes, the last first.

    Raises:
        ValueError: a time is not positive, shapes do not match, or nothing was measured.
    """

    def __init__(self, axes: tuple[Axis, ...], seconds: ArrayLike, *, spread: tuple[int, ...] | None = None) -> None:
        self.axes = axes
        self.measured: Floats = np.asarray(seconds, dtype=np.float64)
        shape = tuple(len(axis.values) for axis in axes)
        if self.measured.shape != shape:
            raise ValueError(f"seconds has the shape {self.measured.shape}; the axes ask for {shape}")
        self.there: Mask = ~np.isnan(self.measured)  # later also what lies between measured cells
        self.bounded: Mask = np.zeros(shape, dtype=bool)  # missing ones that a larger cell's time stands for
        if not self.there.any():
            raise ValueError("no cell of the table was measured")
        positive("seconds", self.measured[self.there])
        order = tuple(range(len(axes)))[::-1] if spread is None else spread
        self.rising: Floats = self._rising(self._filled(order))

    def read(self, *sizes: ArrayLike) -> Reading:
        """The time at these sizes, one array an axis; they broadcast.

        Between cells: linear in the logarithms of sizes and time, so it lies between its neighbours' times. Beyond the
        last cell it grows in proportion to the work, below the first it stays: both, and cells that were not measured,
        are marked ``outside`` and said in ``notes``.
        """
        asked = np.broadcast_arrays(*(positive(a.name, size) for a, size in zip(self.axes, sizes, strict=True)))
        beyond, below = (np.zeros(asked[0].shape, dtype=bool) for _ in range(2))
        notes: list[str] = []
        logs = np.zeros(asked[0].shape)
        places: list[tuple[NDArray[np.int64], Floats]] = []
        for axis, size in zip(self.axes, asked, strict=True):
            values = np.asarray(axis.values)
            held = np.clip(size, values[0], values[-1])
            past, short = size > values[-1], size < values[0]
            if past.any() or short.any():
                beyond, below = beyond | past, below | short
                notes += _beyond(axis, size, past, short)
            logs = logs + axis.power * np.log(np.maximum(size / values[-1], 1.0))
            lower = np.clip(np.searchsorted(values, held, side="right") - 1, 0, max(len(values) - 2, 0))
            upper = np.minimum(lower + 1, len(values) - 1)
            width = np.log(values[upper] / values[lower])
            share = np.where(width > 0, np.log(held / values[lower]) / np.where(width > 0, width, 1.0), 0.0)
            places.append((lower, np.asarray(share)))
        gaps, bounds = (np.zeros(asked[0].shape, dtype=bool) for _ in range(2))  # corners to be filled, and by what
        for corner in product((0, 1), repeat=len(self.axes)):
            weight = np.ones(asked[0].shape)
            index = []
            for step, (lower, share), axis in zip(corner, places, self.axes, strict=True):
                weight = weight * (share if step else 1.0 - share)
                index.append(np.minimum(lower + step, len(axis.values) - 1))
            logs = logs + weight * np.log(self.rising[tuple(index)])
            at = tuple(index)
            gaps = gaps | ((weight > 0) & ~self.there[at] & ~self.bounded[at])
            bounds = bounds | ((weight > 0) & self.bounded[at])
        if bounds.any():
            notes.append(
                f"Cells of {_list(self.axes)} that were not measured are charged as the next larger: an upper bound."
            )
        if gaps.any():
            notes.append(f"Cells of {_list(self.axes)} that were not measured are continued from the nearest one.")
        sure = beyond | gaps
        return Reading(np.exp(logs), sure | below | bounds, tuple(notes), (below | bounds) & ~sure)

    @property
    def moved(self) -> Floats:
        """How many times longer each cell was measured than the table answers; 1 where it stands as measured. [-]"""
        return np.where(np.isnan(self.measured), 1.0, self.measured / self.rising)

    def _filled(self, order: tuple[int, ...]) -> Floats:
        """Missing cells along each axis in turn. Beyond the last one times grow with the work; below the first they

        stay: whoever asks for a smaller call pays at most as much.
        """
        filled, there = self.measured.copy(), self.there.copy()
        for dim in order:
            axis = self.axes[dim]
            places = np.log(axis.values)
            times, known, bounded = (np.moveaxis(cells, dim, -1) for cells in (filled, there, self.bounded))
            for place in np.argwhere(np.isnan(times).any(axis=-1) & ~np.isnan(times).all(axis=-1)):
                line, ours = times[tuple(place)], known[tuple(place)]
                have = np.flatnonzero(~np.isnan(line))
                gaps = np.isnan(line)
                past = axis.power * np.maximum(places - places[have[-1]], 0.0)
                # An upper bound where a larger cell's time stands for it, unless that was itself filled otherwise.
                larger = (ours | bounded[tuple(place)])[have]
                bounds = (np.interp(places, places[have], larger) == 1) & (places < places[have[-1]])
                bounded[tuple(place)][gaps] = bounds[gaps]
                line[gaps] = np.exp(np.interp(places, places[have], np.log(line[have])) + past)[gaps]
                sure = np.flatnonzero(ours)
                if sure.size:
                    ours[sure[0] : sure[-1] + 1] = True
        self.there = there
        self.bounded &= ~there
        return filled

    def _rising(self, seconds: Floats) -> Floats:
        """Rising along every guarded axis: the second pass keeps what the first made, for it never reorders lines."""
        logs = np.log(seconds)
        for dim, axis in enumerate(self.axes):
            if axis.guarded:
                logs = np.moveaxis(isotonic(np.moveaxis(logs, dim, -1)), -1, dim)
        return np.where(np.abs(logs - np.log(seconds)) < 1e-12, seconds, np.exp(logs))


def isotonic(values: Floats) -> Floats:
    """The rising values nearest to given ones in absolute differences, along the last axis.

    At each place the largest, over starts before it, of the smallest, over ends behind it, median between the two.
    """
    rising = np.full_like(values, -np.inf)
    size = values.shape[-1]
    falls = (np.diff(values, axis=-1) < 0).any(axis=-1)
    lines = values[falls]
    found = np.full_like(lines, -np.inf)
    for start in range(size):
        medians = np.stack([np.median(lines[:, start : end + 1], axis=-1) for end in range(start, size)], axis=-1)
        least = np.flip(np.minimum.accumulate(np.flip(medians, -1), -1), -1)
        found[:, start:] = np.maximum(found[:, start:], least)
    rising[falls], rising[~falls] = found, values[~falls]
    return rising


def _beyond(axis: Axis, size: Floats, past: Mask, short: Mask) -> list[str]:
    growth = "in proportion" if axis.power == 1 else f"with its power {axis.power:g}"
    found = []
    if past.any():
        most = float(size[past].max())
        found.append(
            f"{axis.name}: {_count(most)} lies past the table's {_count(axis.values[-1])}; continued {growth}."
        )
    if short.any():
        least = float(size[short].min())
        found.append(
            f"{axis.name}: {_count(least)} lies below the table's first size, {_count(axis.values[0])}; "
            "charged as that: an upper bound."
        )
    return found


def _list(axes: tuple[Axis, ...]) -> str:
    return " and ".join((", ".join(a.name for a in axes[:-1]), axes[-1].name)) if len(axes) > 1 else axes[0].name


def _count(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"
