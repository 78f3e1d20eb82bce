"""Measured kernels over one size: curves with their raw points, the datasheet's floor, and how two profiles differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats
from core.dtypes import bytes_per_element
from core.hardware import Accelerator
from core.log_grid import Mask, Reading
from core.measured_profile import Phase, Profile
from core.measured_roofline import stored_bytes
from core.roofline import time_floor_s

_PLACES = 48  # along a curve


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """One profile's times along one size."""

    name: str
    citation: str
    x: Floats
    seconds: Floats
    outside: Mask  # where the curve is continued
    points_x: Floats  # measured cells as they are, where this very shape was measured; else empty
    points_s: Floats
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """Profiles over one size, with the floor of the first one's datasheet."""

    what: str  # in words: bf16 products with 8,192 x 8,192 weights
    axis: str  # in words: rows
    curves: tuple[Curve, ...]
    missing: tuple[str, ...]  # profiles that have nothing like it
    floor_x: Floats
    floor_s: Floats  # NaN without a datasheet
    work: Floats  # at floor_x, in ``unit``
    unit: str  # of the work: FLOP or B
    floor_name: str = "the datasheet's floor"

    def reached(self, curve: Curve) -> Floats:
        """What a curve achieves at its places: work over time. [unit/s]"""
        return np.interp(curve.x, self.floor_x, self.work) / curve.seconds

    def share(self, curve: Curve) -> Floats:
        """Share of what the datasheet would allow there; above 1 where a cache helps. [-]"""
        return np.interp(curve.x, self.floor_x, self.floor_s) / curve.seconds

    @property
    def differences(self) -> tuple[Difference, ...]:
        """Every further profile against the first, over the sizes that both were measured at."""
        first, *others = self.curves or (None,)
        found = (difference(first, other) for other in others if first is not None)
        return tuple(one for one in found if one is not None)


@dataclass(frozen=True, slots=True)
class Difference:
    """Two curves over the sizes where neither is continued."""

    first: str
    second: str
    low: float  # of the shared sizes
    high: float
    least: float  # second over first [-]
    middle: float
    most: float

    @property
    def in_words(self) -> str:
        """The difference as a sentence."""
        return (
            f"{self.second} takes {self.middle:.2f} times as long as {self.first} in the middle of the shared sizes "
            f"({self.least:.2f} to {self.most:.2f} from {self.low:,.0f} to {self.high:,.0f})."
        )


def products_over_rows(profiles: Sequence[Profile], n: int, k: int, dtype: str = "bf16") -> Curves:
    """One product over its rows, as profiles took it."""
    found: list[Curve] = []
    for profile in profiles:
        products = profile.products.get((dtype, "forward"))
        if products is None:
            continue
        found.append(curve_of(profile, products.table.m, partial(products.grid.read, n, k), products.cells(n, k)))
    chip, x = first_datasheet(profiles), places_of(found)
    flops = 2 * x * n * k
    moved = n * k * stored_bytes(dtype) + 2 * x * (n + k)
    return _together(
        f"{dtype} products with {n:,} x {k:,} weights", "rows", profiles, found, (x, flops, moved), chip, dtype
    )


def attention_over_tokens(
    profiles: Sequence[Profile],
    phase: Phase,
    *,
    heads: int,
    kv_heads: int,
    head_dim: int = 128,
    batch: int = 1,
    kv_dtype: str = "bf16",
) -> Curves:
    """Attention of one layer over cached tokens, or over those of a prompt."""
    found: list[Curve] = []
    for profile in profiles:
        tables = [
            one
            for one in profile.attention
            if (one.table.phase, one.table.kv_dtype, one.table.heads, one.table.kv_heads, one.table.head_dim)
            == (phase, kv_dtype, heads, kv_heads, head_dim)
        ]
        ends = [one.table.tokens for one in profile.attention if one.table.phase == phase]
        if not ends:
            continue
        exact = tables[0] if tables and batch in tables[0].table.batch else None
        cells = exact.grid.measured[exact.table.batch.index(batch)] if exact else None
        tokens = exact.table.tokens if exact else max(ends, key=lambda values: values[-1])

        def read(x: Floats, profile: Profile = profile) -> Reading:
            reading = profile.attention_s(
                phase, batch, x, heads=heads, kv_heads=kv_heads, head_dim=head_dim, kv_dtype=kv_dtype
            )
            return reading or Reading(np.full(x.shape, np.nan), np.ones(x.shape, dtype=bool))

        curve = curve_of(profile, tokens, read, cells)
        if not np.isnan(curve.seconds).any():
            found.append(curve)
    chip, x = first_datasheet(profiles), places_of(found)
    width = 2 * heads * head_dim  # a score and a value
    kv = 2 * batch * kv_heads * head_dim * bytes_per_element(kv_dtype) * x
    queries = 2 * 2 * batch * heads * head_dim
    if phase == "decode":
        flops, moved = 2 * batch * width * x, kv + queries
    else:
        passes = 3.5 if phase == "training" else 1.0  # a tiled backward pass makes five products for the forward's two
        flops, moved = passes * batch * width * x * (x + 1), passes * (kv + queries * x)
    what = f"{phase} attention, {heads} heads over {kv_heads} of {head_dim}, batch {batch}, {kv_dtype} cache"
    axis = "cached tokens" if phase == "decode" else "tokens of the prompt"
    # Scores and values are multiplied in 16 bits whatever the cache is stored in.
    return _together(what, axis, profiles, found, (x, flops, moved), chip, "bf16", by_bytes=phase == "decode")


def difference(first: Curve, second: Curve) -> Difference | None:
    """How long the second takes beside the first; None where they share no measured sizes."""
    low = float(np.maximum(_end(first, np.min), _end(second, np.min)))  # NaN where a curve has none
    high = float(np.minimum(_end(first, np.max), _end(second, np.max)))
    if not low < high:
        return None
    at = np.geomspace(low, high, _PLACES)
    ratio = np.exp(_log_at(second, at) - _log_at(first, at))
    return Difference(
        first.name, second.name, low, high, float(ratio.min()), float(np.median(ratio)), float(ratio.max())
    )


def curve_of(profile: Profile, ends: Sequence[float], read: Callable[[Floats], Reading], cells: Floats | None) -> Curve:
    x = np.unique(np.concatenate([np.geomspace(ends[0], ends[-1], _PLACES), np.asarray(ends, dtype=np.float64)]))
    reading = read(x)
    there = np.zeros(0, dtype=np.int64) if cells is None else np.flatnonzero(~np.isnan(cells))
    return Curve(
        name=profile.name,
        citation=profile.citation,
        x=x,
        seconds=reading.seconds,
        outside=np.broadcast_to(reading.outside, x.shape),
        points_x=np.asarray(ends, dtype=np.float64)[there],
        points_s=np.zeros(0) if cells is None else cells[there],
        notes=reading.notes,
    )


def places_of(found: Sequence[Curve]) -> Floats:
    return np.unique(np.concatenate([curve.x for curve in found])) if found else np.zeros(0)


def missing_names(profiles: Sequence[Profile], found: Sequence[Curve]) -> tuple[str, ...]:
    names = {curve.name for curve in found}
    return tuple(profile.name for profile in profiles if profile.name not in names)


def first_datasheet(profiles: Sequence[Profile]) -> Accelerator | None:
    return next((chip for profile in profiles if (chip := profile.accelerator)), None)


def _together(
    what: str,
    axis: str,
    profiles: Sequence[Profile],
    found: Sequence[Curve],
    work: tuple[Floats, Floats, Floats],  # places, FLOP, bytes
    chip: Accelerator | None,
    dtype: str,
    *,
    by_bytes: bool = False,
) -> Curves:
    x, flops, moved = work
    floor = np.full(x.shape, np.nan)
    if chip is not None and x.size:
        peak = chip.peak_flops_per_s(dtype) if dtype in chip.peak_dtypes else np.inf
        floor = _floor(flops, moved, peak, chip.hbm_bytes_per_s)
    unit, done = ("B", moved) if by_bytes else ("FLOP", flops)
    return Curves(what, axis, tuple(found), missing_names(profiles, found), x, floor, done, unit)


def _floor(flops: Floats, moved: Floats, peak: float, bytes_per_s: float) -> Floats:
    if np.isinf(peak):  # not confirmed: memory's time alone is still a floor
        return np.asarray(moved / bytes_per_s)
    return time_floor_s(flops, moved, peak_flops_per_s=peak, bytes_per_s=bytes_per_s)


def _end(curve: Curve, pick: Callable[[ArrayLike], float]) -> float:
    inside = curve.x[~curve.outside]
    return float(pick(inside)) if inside.size else float("nan")


def _log_at(curve: Curve, at: Floats) -> Floats:
    return np.asarray(np.interp(np.log(at), np.log(curve.x), np.log(curve.seconds)))
