"""Errors put together: sizes, and which way they lean."""

import statistics

import pytest

from core.prediction_error import errors_of


def test_sizes_and_bias_are_those_of_the_standard_library():
    errors = [-0.3, 0.1, -0.05, 0.2, 0.0, -0.12, 0.4]
    found = errors_of(errors)
    sizes = list(map(abs, errors))
    assert (found.count, found.worst) == (7, 0.4)
    assert found.median == pytest.approx(statistics.median(sizes))
    assert found.bias == pytest.approx(statistics.median(errors))
    assert found.p90 == pytest.approx(statistics.quantiles(sizes, n=10, method="inclusive")[8])


def test_no_error_is_no_score():
    assert errors_of([]) is None
