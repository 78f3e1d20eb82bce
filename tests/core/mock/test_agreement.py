"""Coefficients against published examples and a second way to compute them, and only where they mean something."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from core.mock.agreement import agreement, differences, ordinal_alpha, quadratic_kappa, severity

# Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", section C: four observers, twelve units; section D
# gives 0.815 for ordered levels.
_NONE = np.nan
PUBLISHED = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, _NONE, _NONE, _NONE],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _NONE, 3],
        [_NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _NONE],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _NONE],
    ]
)


def test_alpha_is_that_of_the_published_example():
    assert ordinal_alpha(PUBLISHED) == pytest.approx(0.815, abs=0.0005)


def test_kappa_is_the_covariance_over_what_the_two_spreads_and_means_allow():
    """Fleiss and Cohen 1973: quadratic weights make kappa 2 cov / (var + var + (difference of means)^2)."""
    stream = np.random.default_rng(5)
    for _ in range(20):
        first = stream.integers(1, 5, 40).astype(float)
        second = np.clip(first + stream.integers(-1, 2, 40), 1, 4)
        covariance = np.mean((first - first.mean()) * (second - second.mean()))
        want = 2 * covariance / (first.var() + second.var() + (first.mean() - second.mean()) ** 2)
        assert quadratic_kappa(first, second) == pytest.approx(want, rel=1e-12)


def test_full_agreement_is_one_and_the_reverse_is_below_zero():
    levels = np.array([1.0, 2, 3, 4] * 6)
    assert quadratic_kappa(levels, levels) == 1
    assert ordinal_alpha(np.stack([levels, levels])) == 1
    assert quadratic_kappa(levels, 5 - levels) == pytest.approx(-1)
    assert ordinal_alpha(np.stack([levels, 5 - levels])) < 0


def test_shares_come_from_the_first_pair_on_and_coefficients_from_twenty_units():
    few = agreement([[3, 2, 4], [3, 3, 1]])
    assert (few.units, few.exact, few.within_one) == (3, 1 / 3, 2 / 3)
    assert (few.kappa, few.alpha) == (None, None)
    first = [1, 2, 3, 4] * 5
    almost = agreement([first[:19], first[:19]])
    assert (almost.kappa, almost.alpha) == (None, None)
    enough = agreement([first, [*first[:-1], 1]])
    assert enough.kappa is not None
    assert enough.alpha is not None
    assert enough.kappa.low <= enough.kappa.value <= enough.kappa.high
    assert enough.alpha.low <= enough.alpha.value <= enough.alpha.high


def test_three_raters_have_no_kappa():
    first = [1, 2, 3, 4] * 5
    found = agreement([first, first, first])
    assert found.kappa is None
    assert found.alpha is not None
    assert found.alpha.value == 1


def test_where_all_scores_are_alike_there_is_no_coefficient_and_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = agreement([[3] * 25, [3] * 25])
    assert (found.exact, found.kappa, found.alpha) == (1.0, None, None)


def test_little_variance_makes_alpha_collapse_although_nearly_all_agree():
    first, second = [3] * 30, [3] * 29 + [2]
    found = agreement([first, second])
    assert found.exact == pytest.approx(29 / 30)
    assert found.alpha is not None
    assert abs(found.alpha.value) < 0.05


def test_units_that_one_rater_alone_scored_are_left_out():
    found = agreement([[3, None, 2, None], [3, 4, None, None]])
    assert (found.units, found.exact) == (1, 1.0)
    assert agreement([[None], [3]]).units == 0


def test_the_same_data_give_the_same_interval():
    stream = np.random.default_rng(1)
    table = [stream.integers(1, 5, 30).tolist() for _ in range(2)]
    assert agreement(table) == agreement(table)


def test_one_rater_agrees_with_nobody():
    with pytest.raises(ValueError, match="at least two"):
        agreement([[1, 2]])


def test_items_two_levels_apart_stand_out():
    found = differences({"a": 4, "b": 3, "c": None}, {"a": 2, "b": 4})
    assert [(row.item, row.apart, row.wide) for row in found] == [("a", 2, True), ("b", 1, False), ("c", None, False)]


def test_severity_is_the_mean_offset():
    assert severity([3, 4, 2], [2, 3, 3]) == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="as many of each"):
        severity([], [])
