"""How far raters agree: shares from the first pair on, coefficients only where there is enough to compute them from.

With few units, or where nearly all scores are alike, a coefficient says little and may fall to zero although the raters
agree: hence the least number of units, the bootstrap interval, and the shares beside it, always.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FEWEST_UNITS = 20
LEVELS = 4
RESAMPLES = 2_000
WIDE_GAP = 2  # levels between two raters from which an item is worth talking about
Scores = Mapping[str, int | None]


@dataclass(frozen=True, slots=True)
class ItemDifference:
    """Two raters' levels on one item; None where one of them did not observe it."""

    item: str
    first: int | None
    second: int | None

    @property
    def apart(self) -> int | None:
        """Levels between the two."""
        return None if self.first is None or self.second is None else abs(self.first - self.second)

    @property
    def wide(self) -> bool:
        """Whether the two should look at their evidence side by side."""
        return self.apart is not None and self.apart >= WIDE_GAP


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient of agreement and the interval that holds 95% of its bootstrap values."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """Over all units that at least two raters scored. ``kappa`` is for two raters; both are None below 20 units, and
    where every score is the same."""

    units: int
    exact: float | None
    within_one: float | None
    kappa: Coefficient | None
    alpha: Coefficient | None


def differences(first: Scores, second: Scores) -> tuple[ItemDifference, ...]:
    """Item by item, in the order of the first rater."""
    return tuple(ItemDifference(item, first[item], second.get(item)) for item in first)


def agreement(ratings: Sequence[Sequence[float | None]], *, seed: int = 0) -> Agreement:
    """How far raters agree.

    Args:
        ratings: one row per rater, one column per unit (an item of an answer), levels 1 to 4, None where there is none.
        seed: of the bootstrap.
    """
    table = np.array([[np.nan if level is None else level for level in row] for row in ratings], dtype=np.float64)
    if table.ndim != 2 or table.shape[0] < 2:
        raise ValueError(f"{len(ratings)} raters: agreement needs at least two, with as many units each")
    table = table[:, (~np.isnan(table)).sum(axis=0) >= 2]
    units = table.shape[1]
    if not units:
        return Agreement(0, None, None, None, None)
    gaps = _pair_gaps(table)
    enough = units >= FEWEST_UNITS
    return Agreement(
        units=units,
        exact=float(np.mean(gaps == 0)),
        within_one=float(np.mean(gaps <= 1)),
        kappa=_with_interval(lambda x: quadratic_kappa(x[0], x[1]), table, seed)
        if enough and len(table) == 2
        else None,
        alpha=_with_interval(ordinal_alpha, table, seed) if enough else None,
    )


def quadratic_kappa(first: NDArray[np.float64], second: NDArray[np.float64], levels: int = LEVELS) -> float:
    """Cohen's kappa of two raters with disagreement weighted by the square of its distance; NaN where all is alike.

    Args:
        first, second: levels 1 to ``levels`` of the same units, shape (units,).

    Source: Cohen 1968, Psychological Bulletin 70(4), 213-220.
    """
    seen = np.zeros((levels, levels))
    np.add.at(seen, (first.astype(int) - 1, second.astype(int) - 1), 1.0 / len(first))
    chance = np.outer(seen.sum(axis=1), seen.sum(axis=0))
    weights = np.subtract.outer(np.arange(levels), np.arange(levels)) ** 2.0
    expected = float((weights * chance).sum())
    return float("nan") if expected == 0 else 1.0 - float((weights * seen).sum()) / expected


def ordinal_alpha(table: NDArray[np.float64]) -> float:
    """Krippendorff's alpha for ordered levels; copes with gaps and any number of raters; NaN where all is alike.

    Args:
        table: shape (raters, units), NaN where a rater gave none.

    Source: Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, sections C and D.
    """
    present = ~np.isnan(table)
    table = table[:, present.sum(axis=0) >= 2]
    values = np.unique(table[~np.isnan(table)])
    counts = np.stack([(table == value).sum(axis=0) for value in values]).astype(np.float64)  # (values, units)
    per_unit = counts.sum(axis=0)
    pairs = (counts / (per_unit - 1)) @ counts.T - np.diag((counts / (per_unit - 1)).sum(axis=1))
    totals = pairs.sum(axis=1)
    below = np.cumsum(totals) - totals / 2
    distance = np.subtract.outer(below, below) ** 2.0
    expected = float((np.outer(totals, totals) * distance).sum()) / (totals.sum() - 1)
    return float("nan") if expected == 0 else 1.0 - float((pairs * distance).sum()) / expected


def severity(own: Sequence[int], reference: Sequence[int]) -> float:
    """Mean of own levels less the reference's on the same items: above zero is milder. For that rater's eyes alone."""
    if len(own) != len(reference) or not own:
        raise ValueError(
            f"{len(own)} own levels and {len(reference)} of the reference: give as many of each, at least one"
        )
    return float(np.mean(np.subtract(own, reference)))


def _pair_gaps(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Levels between the raters of every pair in every unit that both scored."""
    rows, columns = np.triu_indices(table.shape[0], k=1)
    gaps = np.abs(table[rows] - table[columns])
    kept: NDArray[np.float64] = gaps[~np.isnan(gaps)]
    return kept


def _with_interval(
    measure: Callable[[NDArray[np.float64]], float], table: NDArray[np.float64], seed: int
) -> Coefficient | None:
    """A coefficient with its percentile bootstrap over units; None where it has no value."""
    value = measure(table)
    if np.isnan(value):
        return None
    stream = np.random.default_rng(seed)
    picks = stream.integers(table.shape[1], size=(RESAMPLES, table.shape[1]))
    drawn = np.array([measure(table[:, pick]) for pick in picks])
    low, high = np.nanpercentile(drawn, [2.5, 97.5])
    return Coefficient(float(value), float(low), float(high))
