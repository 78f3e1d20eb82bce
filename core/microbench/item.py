"""What a run is made of: items, each a series of points, each one measurement or the reason why there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from core.microbench.timing import Timing, Unsupported

__all__ = ["Item", "Measured", "Point", "Settings", "Unsupported", "Wrong", "refuse_wrong"]

Settings = dict[str, Any]  # what was measured, in the field names of core.microbench.result


class Wrong(Exception):
    """A result that differs from its float64 reference by more than rounding: its time counts for nothing."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One measurement."""

    timing: Timing
    flops: float | None = None  # of one call, as the algorithm needs them
    num_bytes: float | None = None  # that one call must move, each operand once
    peak_bytes: int | None = None  # most memory beyond what was there before the call
    error: float | None = None  # |result - reference| / |reference|, in float64
    more: Settings = field(default_factory=dict)  # further fields of the kind

    def as_dict(self) -> Settings:
        """As it stands in a result; what was not measured is left out."""
        timing = {
            "median_s": self.timing.median_s,
            "p10_s": self.timing.p10_s,
            "p90_s": self.timing.p90_s,
            "samples": self.timing.samples,
            "calls": self.timing.calls,
            "method": self.timing.method,
        }
        rest = {"flops": self.flops, "bytes": self.num_bytes, "peak_bytes": self.peak_bytes, "error": self.error}
        return {**self.more, "time": timing, **{name: value for name, value in rest.items() if value is not None}}


@dataclass(frozen=True, slots=True)
class Point:
    """One measurement to make."""

    settings: Settings
    measure: Callable[[], Measured]
    needs_bytes: int = 0  # device memory on top of what its item holds already


@dataclass(frozen=True, slots=True)
class Item:
    """Points that share what they work on, of one kind."""

    name: str
    kind: str
    points: Callable[[], Iterator[Point]]  # allocates while it is walked, frees when it is dropped
    num_points: int
    point_s: float = 0.3  # a first guess, for the time left
    needs_bytes: int = 0  # device memory that it holds throughout
    lacks: str | None = None  # why the device cannot do it at all


def refuse_wrong(error: float, limit: float, what: str) -> float:
    """The error, if it is within the limit.

    Raises:
        Wrong: it is not, or it is NaN.
    """
    if not error <= limit:
        raise Wrong(f"{what} differs from float64 by {error:.2g}, more than {limit:g}: its time is not kept")
    return error
