"""Measured products at the roofline: the roof as it was reached beside the datasheet's, and the best product."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from core.checks import Floats
from core.display import digits, show_rate, show_seconds
from core.dtypes import bytes_per_element
from core.log_grid import Mask
from core.measured_profile import Profile, product_flops_per_s
from core.roofline import matmul_intensity

_FEW_ROWS = 8  # so few that a product reads its weights and does little else
_BEYOND_CACHE = 4.0  # times the last-level cache, from where weights come from memory


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

    product_flops_per_s: float  # best product
    plain_flops_per_s: float | None  # best plain call of the same run
    bytes_per_s: float  # best read of weights that no cache holds
    datasheet_flops_per_s: float | None
    datasheet_bytes_per_s: float | None
    measured_weights: int  # with which some product was measured
    planned_weights: int  # with which products were to be measured
    row_counts: int  # at which products were measured

    @property
    def flops_per_s(self) -> float:
        """The best of products and plain calls: a roof lies above everything that was measured. [FLOP/s]"""
        return max(self.product_flops_per_s, self.plain_flops_per_s or 0.0)

    @property
    def tells_ridge(self) -> bool:
        """Whether half of the planned weights or more were measured, at more than one count of rows.

        With fewer the best product may be yet to come, and one count of rows shows one side of a ridge alone.
        """
        return 2 * self.measured_weights >= self.planned_weights and self.row_counts > 1

    @property
    def ridge(self) -> float:
        """Where the ridge really is, if :attr:`tells_ridge`. [FLOP/byte]"""
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
    size = stored_bytes(dtype)
    read = n * k * size
    few = ~np.isnan(seconds) & (m <= max(_FEW_ROWS, table.m[0]))
    cache = (chip.last_level_cache_bytes or chip.l2_bytes or 0) if chip else 0
    wide = few & (read >= min(_BEYOND_CACHE * cache, float(read[few].max())))
    moved = read + 2 * m * (n + k)
    peak = chip.peak_flops_per_s(dtype) if chip and dtype in chip.peak_dtypes else None
    measured = len(products.measured_shapes)
    return Reached(
        product_flops_per_s=float(np.nanmax(2 * m * n * k / seconds)),
        plain_flops_per_s=profile.file.plain_flops_per_s.get(dtype),
        bytes_per_s=float(np.max((moved / seconds)[wide])),
        datasheet_flops_per_s=peak,
        datasheet_bytes_per_s=chip.hbm_bytes_per_s if chip else None,
        measured_weights=measured,
        planned_weights=max(measured, profile.file.planned_weights.get(dtype, 0)),
        row_counts=len(table.m),
    )


def ridge_beside_datasheet(profile: Profile, dtype: str) -> str:
    """Where the measured ridge lies beside the datasheet's, in a sentence; empty where either is not known."""
    best = reached(profile, dtype)
    if best is None or best.datasheet_ridge is None or not best.tells_ridge:
        return ""
    return (
        f"The roof is the datasheet's, with its {dtype} ridge at {digits(best.datasheet_ridge)} FLOP/byte; by what "
        f"{profile.name} reaches, {show_rate(best.flops_per_s, 'FLOP')} and {show_rate(best.bytes_per_s, 'B')}, it "
        f"lies at {digits(best.ridge)}."
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
    size = stored_bytes(dtype)
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


def stored_bytes(dtype: str) -> float:
    """What a weight of a multiplication in this format occupies: 4-bit floats with their block scales. [bytes]"""
    return bytes_per_element("nvfp4" if dtype == "fp4" else dtype)
