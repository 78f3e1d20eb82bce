"""What pictures of measured profiles show: curves with their raw points, the datasheet's floor, and how two differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats
from core.collectives import bytes_per_rank
from core.display import show_rate, show_seconds
from core.dtypes import bytes_per_element
from core.hardware import Accelerator
from core.links import links_of
from core.log_grid import Mask, Reading
from core.measured_profile import Phase, Profile, product_flops_per_s
from core.roofline import matmul_intensity, time_floor_s

_RING = "a ring at the link's raw rate"  # switches that add up beat it
_PLACES = 48  # along a curve
_FEW_SIZES = 3  # at each end of a collective's sizes
_FEW_ROWS = 8  # so few that a product reads its weights and does little else
_BEYOND_CACHE = 4.0  # times the last-level cache, from where weights come from memory


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


@dataclass(frozen=True, slots=True)
class Fit:
    """A collective as a start and a rate: seconds = latency_s + bytes / bytes_per_s.

    The start is what the smallest messages take, the rate what the largest add: between, protocols change.
    """

    name: str
    latency_s: float
    bytes_per_s: float  # of the whole tensor
    bus_bytes_per_s: float  # what one rank of a ring sends, comparable with a link's rate
    link_bytes_per_s: float | None  # raw one-way rate of the datasheet
    worst: float  # largest relative error of the fit over the measured sizes [-]


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """Products of one profile at the roofline."""

    profile: str
    citation: str
    dtype: str
    labels: tuple[str, ...]  # one for each shape
    rows: Floats  # (shapes, rows)
    intensity: Floats
    flops_per_s: Floats
    outside: Mask  # continued, not between measured cells
    reached: Reached


@dataclass(frozen=True, slots=True)
class Reached:
    """The roof as measured beside that of the datasheet."""

    flops_per_s: float  # best product
    bytes_per_s: float  # best read of weights that no cache holds
    datasheet_flops_per_s: float | None
    datasheet_bytes_per_s: float | None

    @property
    def ridge(self) -> float:
        """Where the ridge really is. [FLOP/byte]"""
        return self.flops_per_s / self.bytes_per_s

    @property
    def datasheet_ridge(self) -> float | None:
        """Where the datasheet puts it; None without a confirmed peak. [FLOP/byte]"""
        if self.datasheet_flops_per_s is None or self.datasheet_bytes_per_s is None:
            return None
        return self.datasheet_flops_per_s / self.datasheet_bytes_per_s


def reached(profile: Profile, dtype: str) -> Reached | None:
    """What products of one format reach at best; None where they were not measured.

    The rate of weights is that of the widest measured matrices at few rows: everything else of such a product is small.
    """
    products = profile.products.get((dtype, "forward"))
    if products is None:
        return None
    table, chip = products.table, profile.accelerator
    n, k, m = np.meshgrid(table.n, table.k, table.m, indexing="ij")
    seconds = products.grid.measured
    size = bytes_per_element(_stored(dtype))
    read = n * k * size
    few = ~np.isnan(seconds) & (m <= max(_FEW_ROWS, table.m[0]))
    cache = (chip.last_level_cache_bytes or chip.l2_bytes or 0) if chip else 0
    wide = few & (read >= min(_BEYOND_CACHE * cache, float(read[few].max())))
    moved = read + 2 * m * (n + k)
    peak = chip.peak_flops_per_s(dtype) if chip and dtype in chip.peak_dtypes else None
    return Reached(
        flops_per_s=float(np.nanmax(2 * m * n * k / seconds)),
        bytes_per_s=float(np.max((moved / seconds)[wide])),
        datasheet_flops_per_s=peak,
        datasheet_bytes_per_s=chip.hbm_bytes_per_s if chip else None,
    )


@dataclass(frozen=True, slots=True)
class Best:
    """The fastest measured product of one format."""

    n: int
    k: int
    m: int
    seconds: float

    @property
    def flops_per_s(self) -> float:
        """What it achieves. [FLOP/s]"""
        return 2.0 * self.m * self.n * self.k / self.seconds

    @property
    def in_words(self) -> str:
        """Its sizes."""
        return f"{self.m:,} rows by {self.n:,} x {self.k:,}"


def best_product(profile: Profile, dtype: str) -> Best | None:
    """The measured cell with most FLOPs a second; None where the format was not measured."""
    products = profile.products.get((dtype, "forward"))
    if products is None:
        return None
    table, seconds = products.table, products.grid.measured
    n, k, m = np.meshgrid(table.n, table.k, table.m, indexing="ij")
    at = np.unravel_index(int(np.nanargmax(n * k * m / seconds)), seconds.shape)
    return Best(int(n[at]), int(k[at]), int(m[at]), float(seconds[at]))


def best_at_the_other(profiles: Sequence[Profile], dtype: str) -> tuple[str, ...]:
    """Each profile's best product as every other one took it, in a sentence: two bests are of different shapes."""
    said = []
    for one, other in permutations(profiles, 2):
        best, reading = best_product(one, dtype), None
        if best is not None:
            reading = other.matmul_s(best.m, best.n, best.k, dtype)
        if best is None or reading is None:
            continue
        rate = show_rate(float(2.0 * best.m * best.n * best.k / reading.seconds), "FLOP")
        how = "reads" if reading.inside else "did not measure that far; continued, it reads"
        took = f"{show_rate(best.flops_per_s, 'FLOP')} at {best.in_words}, a call of {show_seconds(best.seconds)}"
        said.append(f"The best {dtype} product of {one.name} is {took}. There {other.name} {how} {rate}.")
    return tuple(said)


def at_the_roofline(profile: Profile, shapes: Sequence[tuple[int, int]], dtype: str = "bf16") -> Placed | None:
    """Products with weights of (n, k) over rows, each operand moved once; None where the format was not measured.

    Cells that were measured stand as they were, also where the table answers with a rising time beside them.
    """
    best, products = reached(profile, dtype), profile.products.get((dtype, "forward"))
    if best is None or products is None:
        return None
    rows = np.asarray(products.table.m, dtype=np.float64)[None, :]
    n, k = (np.asarray([shape[at] for shape in shapes], dtype=np.float64)[:, None] for at in range(2))
    reading = products.grid.read(n, k, rows)
    cells = np.stack([products.cells(*shape) for shape in shapes])
    seconds = np.where(np.isnan(cells), reading.seconds, cells)
    size = bytes_per_element(_stored(dtype))
    return Placed(
        profile=profile.name,
        citation=profile.citation,
        dtype=dtype,
        labels=tuple(f"{a:,} x {b:,}" for a, b in shapes),
        rows=np.broadcast_to(rows, seconds.shape),
        intensity=matmul_intensity(rows, k, n, weight_bytes=size),
        flops_per_s=product_flops_per_s(rows, n, k, seconds),
        outside=np.broadcast_to(reading.outside, seconds.shape),
        reached=best,
    )


def products_over_rows(profiles: Sequence[Profile], n: int, k: int, dtype: str = "bf16") -> Curves:
    """One product over its rows, as profiles took it."""
    found: list[Curve] = []
    for profile in profiles:
        products = profile.products.get((dtype, "forward"))
        if products is None:
            continue
        found.append(_curve(profile, products.table.m, partial(products.grid.read, n, k), products.cells(n, k)))
    chip, x = _datasheet(profiles), _places(found)
    flops = 2 * x * n * k
    moved = n * k * bytes_per_element(_stored(dtype)) + 2 * x * (n + k)
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

        curve = _curve(profile, tokens, read, cells)
        if not np.isnan(curve.seconds).any():
            found.append(curve)
    chip, x = _datasheet(profiles), _places(found)
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


def collective_over_bytes(profiles: Sequence[Profile], op: str, ranks: int) -> tuple[Curves, tuple[Fit, ...]]:
    """One collective over the bytes of the whole tensor, and its latency and bandwidth."""
    found: list[Curve] = []
    fits: list[Fit] = []
    for profile in profiles:
        messages = profile.messages.get((op, ranks))
        if messages is None:
            continue
        sizes = messages.row.num_bytes
        found.append(_curve(profile, sizes, messages.grid.read, messages.grid.measured))
        fits.append(fit_collective(profile, op, ranks))
    chip, x = _datasheet(profiles), _places(found)
    sent = bytes_per_rank(op, x, ranks) if x.size else x
    link = links_of(chip).scale_up.bytes_per_s if chip else np.nan
    missing = _missing(profiles, found)
    what = f"{op.replace('_', '-')} among {ranks} GPUs"
    return Curves(what, "bytes", tuple(found), missing, x, sent / link, sent, "B", _RING), tuple(fits)


def fit_collective(profile: Profile, op: str, ranks: int) -> Fit:
    """Latency of the three smallest and rate of the three largest sizes that a profile measured.

    Raises:
        KeyError: the profile has no such collective.
    """
    messages = profile.messages[op, ranks]
    size, seconds = (np.asarray(values, dtype=np.float64) for values in (messages.row.num_bytes, messages.row.seconds))
    latency = float(np.median(seconds[:_FEW_SIZES]))
    per_byte = _slope(size[-_FEW_SIZES:], seconds[-_FEW_SIZES:])
    chip = profile.accelerator
    return Fit(
        name=profile.name,
        latency_s=latency,
        bytes_per_s=1 / per_byte,
        bus_bytes_per_s=float(bytes_per_rank(op, 1.0, ranks)) / per_byte,
        link_bytes_per_s=links_of(chip).scale_up.bytes_per_s if chip else None,
        worst=float(np.max(np.abs((latency + size * per_byte) / seconds - 1))),
    )


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


def _curve(profile: Profile, ends: Sequence[float], read: Callable[[Floats], Reading], cells: Floats | None) -> Curve:
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
    return Curves(what, axis, tuple(found), _missing(profiles, found), x, floor, done, unit)


def _floor(flops: Floats, moved: Floats, peak: float, bytes_per_s: float) -> Floats:
    if np.isinf(peak):  # not confirmed: memory's time alone is still a floor
        return np.asarray(moved / bytes_per_s)
    return time_floor_s(flops, moved, peak_flops_per_s=peak, bytes_per_s=bytes_per_s)


def _places(found: Sequence[Curve]) -> Floats:
    return np.unique(np.concatenate([curve.x for curve in found])) if found else np.zeros(0)


def _missing(profiles: Sequence[Profile], found: Sequence[Curve]) -> tuple[str, ...]:
    names = {curve.name for curve in found}
    return tuple(profile.name for profile in profiles if profile.name not in names)


def _datasheet(profiles: Sequence[Profile]) -> Accelerator | None:
    return next((chip for profile in profiles if (chip := profile.accelerator)), None)


def _stored(dtype: str) -> str:
    """The storage of a multiplication's weights: 4-bit floats with their block scales."""
    return "nvfp4" if dtype == "fp4" else dtype


def _slope(size: Floats, seconds: Floats) -> float:
    """Of the line with the least relative errors; through nothing where that would rise too little. [s/byte]"""
    rows = np.stack([1 / seconds, size / seconds], axis=1)
    start, slope = np.linalg.lstsq(rows, np.ones(size.size), rcond=None)[0]
    if size.size > 1 and start >= 0 and slope > 0:
        return float(slope)
    return float((size / seconds).sum() / ((size / seconds) ** 2).sum())


def _end(curve: Curve, pick: Callable[[ArrayLike], float]) -> float:
    inside = curve.x[~curve.outside]
    return float(pick(inside)) if inside.size else float("nan")


def _log_at(curve: Curve, at: Floats) -> Floats:
    return np.asarray(np.interp(np.log(at), np.log(curve.x), np.log(curve.seconds)))
