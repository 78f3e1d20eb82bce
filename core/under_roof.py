"""Operators under a roofline: where each lies, which limit it meets there, and how long it takes at the least."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from core.checks import Floats
from core.hardware import Accelerator
from core.serving_rates import multiply_dtype
from core.work import Phase

MATRICES = "matrices"
GROUPS = (MATRICES, "token mixing", "elementwise", "optimizer")
NEAR = 0.1  # within a tenth of the ridge, neither limit is the longer one in practice


@dataclass(frozen=True, slots=True)
class Roof:
    """What bounds operators: a slope of bandwidth, and a peak unless none is confirmed."""

    name: str  # format, or "vector units"
    bytes_per_s: float
    flops_per_s: float | None

    @property
    def ridge(self) -> float | None:
        """Where slope and peak meet. [FLOP/byte]"""
        return None if self.flops_per_s is None else self.flops_per_s / self.bytes_per_s


@dataclass(frozen=True, slots=True)
class Spot:
    """One operator at one position."""

    label: str
    flops: float
    num_bytes: float
    weight_bytes: float
    intensity: float
    ridge: float  # NaN where no peak is confirmed
    bound: str
    share: float  # of the pass's floor
    seconds: float

    @property
    def from_ridge(self) -> float:
        """Intensity over the ridge: below 1 bandwidth is the limit. [-]"""
        return self.intensity / self.ridge


@dataclass(frozen=True, slots=True)
class Headline:
    """The numbers that a person compares before and after a change."""

    phase: Phase
    label: str  # of the largest matrix product
    intensity: float  # of it [FLOP/byte]
    floor_s: float  # of the pass
    compute_share: float  # of that floor, in operators that compute bounds; NaN where no peak is confirmed


@dataclass(frozen=True, eq=False)
class Placed:
    """Every operator of a pass at every position of the slider; arrays are (positions, operators)."""

    phase: Phase
    positions: tuple[int, ...]
    labels: tuple[str, ...]
    groups: tuple[str, ...]
    roofs: tuple[Roof, ...]  # of each operator
    flops: Floats
    bytes: Floats
    weight_bytes: Floats  # of these bytes

    @cached_property
    def peaks(self) -> Floats:
        """Peak of the units that each operator runs on; NaN where none is confirmed. [FLOP/s]"""
        return np.array([np.nan if roof.flops_per_s is None else roof.flops_per_s for roof in self.roofs])

    @cached_property
    def ridges(self) -> Floats:
        """Ridge of each operator's roof. [FLOP/byte]"""
        return np.asarray(self.peaks / self.roofs[0].bytes_per_s)

    @cached_property
    def intensity(self) -> Floats:
        """[FLOP/byte]"""
        return np.asarray(self.flops / self.bytes)

    @cached_property
    def seconds(self) -> Floats:
        """The longer of computing and moving; moving alone where no peak is confirmed. [s]"""
        return np.asarray(np.fmax(self.flops / self.peaks, self.bytes / self.roofs[0].bytes_per_s))

    @cached_property
    def attained(self) -> Floats:
        """Height under the roof. [FLOP/s]"""
        return np.asarray(self.flops / self.seconds)

    @cached_property
    def share(self) -> Floats:
        """Of the pass's floor. [-]"""
        return np.asarray(self.seconds / self.seconds.sum(axis=-1, keepdims=True))

    @cached_property
    def floor_s(self) -> Floats:
        """One operator after another; (positions,). [s]"""
        return np.asarray(self.seconds.sum(axis=-1))

    @cached_property
    def computing(self) -> NDArray[np.bool_]:
        """Whether compute is the longer of the two."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.intensity > self.ridges)

    @cached_property
    def has_peak(self) -> bool:
        """Whether the catalog confirms a peak to compare with."""
        return bool(np.isfinite(self.peaks).all())

    @cached_property
    def compute_share(self) -> Floats:
        """Of the floor, in operators that compute bounds; NaN without a peak; (positions,). [-]"""
        share = (self.share * self.computing).sum(axis=-1)
        return np.asarray(share if self.has_peak else np.full_like(share, np.nan))

    @cached_property
    def largest(self) -> int:
        """The matrix product with the most FLOPs; the same one at every position."""
        counted = np.where([group == MATRICES for group in self.groups], self.flops[-1], -1.0)
        return int(np.argmax(counted))

    @cached_property
    def crossing(self) -> int | None:
        """The first position from which the largest product is bound by compute; None where it never is."""
        at = np.flatnonzero(self.computing[:, self.largest])
        return self.positions[int(at[0])] if at.size else None

    def spot(self, index: int, operator: int) -> Spot:
        """One operator at one position."""
        intensity, ridge = float(self.intensity[index, operator]), float(self.ridges[operator])
        return Spot(
            label=self.labels[operator],
            flops=float(self.flops[index, operator]),
            num_bytes=float(self.bytes[index, operator]),
            weight_bytes=float(self.weight_bytes[index, operator]),
            intensity=intensity,
            ridge=ridge,
            bound=side(intensity, ridge),
            share=float(self.share[index, operator]),
            seconds=float(self.seconds[index, operator]),
        )

    def spots(self, index: int) -> list[Spot]:
        """All operators at one position, those that take longest first."""
        order = np.argsort(-self.share[index], kind="stable")
        return [self.spot(index, operator) for operator in order.tolist()]

    def headline(self, index: int) -> Headline:
        """One position in three numbers."""
        return Headline(
            phase=self.phase,
            label=self.labels[self.largest],
            intensity=float(self.intensity[index, self.largest]),
            floor_s=float(self.floor_s[index]),
            compute_share=float(self.compute_share[index]),
        )


def side(intensity: float, ridge: float) -> str:
    """Which limit an intensity meets under a roof."""
    if not np.isfinite(ridge):
        return "unknown"
    if abs(intensity / ridge - 1) <= NEAR:
        return "at the ridge"
    return "compute" if intensity > ridge else "bandwidth"


def matrix_roof(accelerator: Accelerator, stored: str) -> Roof:
    """The roof of products with operands stored in a format: the format they are multiplied in, and its dense peak."""
    dtype = multiply_dtype(accelerator, stored)
    peak = None if dtype is None else accelerator.peak_flops_per_s(dtype)
    return Roof(dtype or "no peak", accelerator.hbm_bytes_per_s, peak)


def vector_roof(accelerator: Accelerator) -> Roof:
    """The roof of elementwise work: the fp32 rate of the vector units, or the matrix units' where it is not known."""
    if accelerator.fp32_flops_per_s is None:
        return matrix_roof(accelerator, "bf16")
    return Roof("vector units", accelerator.hbm_bytes_per_s, accelerator.fp32_flops_per_s)


def other_formats(accelerator: Accelerator) -> tuple[str, ...]:
    """Formats with a peak of their own, beside the 16-bit one and the vector units'."""
    known = {accelerator.fp32_flops_per_s}
    if accelerator.half_dtype:
        known.add(accelerator.peak_flops_per_s(accelerator.half_dtype))
    found = []
    for dtype in accelerator.peak_dtypes:
        peak = accelerator.peak_flops_per_s(dtype)
        if peak not in known:
            known.add(peak)
            found.append(dtype)
    return tuple(found)


def format_roofs(accelerator: Accelerator, formats: tuple[str, ...]) -> tuple[Roof, ...]:
    """Roofs of an accelerator in formats that it has a peak for."""
    peaks = [(dtype, accelerator.peak_flops_per_s(dtype)) for dtype in formats if dtype in accelerator.peak_dtypes]
    return tuple(Roof(dtype, accelerator.hbm_bytes_per_s, peak) for dtype, peak in peaks)


def half_roof(accelerator: Accelerator) -> Roof:
    """The roof of 16-bit products."""
    return matrix_roof(accelerator, "bf16")
