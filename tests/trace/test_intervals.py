"""Unions and differences of time, against counting on a grid."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.trace.intervals import Intervals, both, merged, union, without

GRID = 60
events = st.lists(st.tuples(st.integers(0, GRID - 1), st.integers(0, 12)), max_size=12)


def made(pairs: list[tuple[int, int]]) -> Intervals:
    start = np.array([float(start) for start, _ in pairs])
    return union(start, start + np.array([float(length) for _, length in pairs]))


def cells(pairs: list[tuple[int, int]]) -> set[int]:
    """The same set as unit cells: the second witness."""
    return {cell for start, length in pairs for cell in range(start, start + length)}


@given(events)
def test_a_union_counts_overlap_once_and_is_disjoint(pairs):
    result = made(pairs)
    assert result.total_s == len(cells(pairs))
    assert np.all(result.start_s < result.end_s)
    assert np.all(result.start_s[1:] > result.end_s[:-1])


@given(events, events)
def test_both_without_and_merged_agree_with_sets(first, second):
    a, b = made(first), made(second)
    assert both(a, b).total_s == len(cells(first) & cells(second))
    assert without(a, b).total_s == len(cells(first) - cells(second))
    assert merged(a, b).total_s == len(cells(first) | cells(second))


@given(events, st.lists(st.tuples(st.integers(0, 80), st.integers(0, 20)), min_size=1, max_size=5))
def test_inside_measures_each_window(pairs, windows):
    start = np.array([float(start) for start, _ in windows])
    end = start + np.array([float(length) for _, length in windows])
    counted = [len(cells(pairs) & set(range(start, start + length))) for start, length in windows]
    np.testing.assert_array_equal(made(pairs).inside(start, end), counted)


def test_gaps_lie_between():
    gaps = made([(0, 5), (3, 4), (10, 2), (20, 1)]).gaps
    assert list(zip(gaps.start_s, gaps.end_s, strict=True)) == [(7.0, 10.0), (12.0, 20.0)]


@pytest.mark.parametrize("pairs", [[], [(4, 0)]])
def test_nothing_and_events_of_no_length_are_empty(pairs):
    assert made(pairs).total_s == 0
    assert made(pairs).gaps.start_s.size == 0
    assert made(pairs).inside(0.0, 10.0) == 0
