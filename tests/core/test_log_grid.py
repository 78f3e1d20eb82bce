"""Interpolation: it hits what was measured where that rises, rises, stays between, and says where it is left."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.log_grid import Axis, LogGrid, Reading, isotonic

TIMES = st.floats(1e-7, 1e2)


@st.composite
def rows(draw, least=2):
    """Rising sizes with a time each."""
    sizes = sorted(draw(st.sets(st.integers(1, 10**6), min_size=least, max_size=9)))
    return sizes, draw(st.lists(TIMES, min_size=len(sizes), max_size=len(sizes)))


def line(sizes, times, **options):
    return LogGrid((Axis("size", tuple(map(float, sizes)), **options),), times)


@given(rows())
def test_times_that_rise_are_hit(measured):
    sizes, times = measured[0], sorted(measured[1])
    reading = line(sizes, times).read(sizes)
    assert reading.seconds == pytest.approx(times)
    assert reading.inside
    assert reading.notes == ()


@given(rows(), st.lists(st.floats(0.01, 10**8), min_size=2, max_size=40))
def test_the_answer_never_falls_with_the_size(measured, asked):
    seconds = line(*measured).read(sorted(asked)).seconds
    assert np.all(np.diff(seconds) >= -1e-12 * seconds[1:])


@given(rows(), st.floats(0, 1))
def test_between_two_cells_it_lies_between_their_times(measured, share):
    sizes, times = measured[0], sorted(measured[1])
    for at in range(len(sizes) - 1):
        size = sizes[at] ** (1 - share) * sizes[at + 1] ** share
        seconds = float(line(sizes, times).read(min(max(size, sizes[at]), sizes[at + 1])).seconds)
        assert times[at] * (1 - 1e-9) <= seconds <= times[at + 1] * (1 + 1e-9)


@given(rows(), st.floats(1.001, 1000))
def test_beyond_either_end_it_is_marked_and_said(measured, factor):
    sizes, _ = measured
    table = line(*measured)
    past, short = table.read(sizes[-1] * factor), table.read(sizes[0] / factor)
    for reading in (past, short):
        assert reading.outside
        assert len(reading.notes) == 1
    assert past.seconds == pytest.approx(table.rising[-1] * factor), "in proportion to the work"
    assert short.seconds == pytest.approx(table.rising[0]), "no quicker than the smallest call"


def test_a_smaller_size_is_told_from_one_past_the_end():
    table = LogGrid((Axis("a", (2.0, 8.0)), Axis("b", (10.0, 20.0))), [[1.0, 2.0], [3.0, 4.0]])
    below = table.read(1, [10, 15])
    assert below.bounds
    assert below.times(3).noted("said").short.tolist() == [True, True]
    assert table.read([1, 16], 15).short.tolist() == [True, False]
    assert not table.read(1, 30).bounds, "too short on one side, too long on the other"
    inside = table.read(4, 15)
    assert inside.inside
    assert inside.bounds


def test_a_missing_cell_is_an_upper_bound_where_a_larger_one_stands_for_it():
    axes = (Axis("a", (2.0, 8.0)), Axis("b", (10.0, 20.0)))
    first = LogGrid(axes, [[1.0, 2.0], [np.nan, 4.0]]).read(8, 10)
    assert (float(first.seconds), first.bounds) == (4.0, True)
    assert first.notes == ("Cells of a and b that were not measured are charged as the next larger: an upper bound.",)
    last = LogGrid(axes, [[1.0, 2.0], [3.0, np.nan]]).read(8, [10, 20])
    assert last.outside.tolist() == [False, True]
    assert not last.bounds, "grown beyond the last"
    assert "continued from the nearest one" in last.notes[0]
    # The line of a = 8 is missing and lies between measured ones, whose first cells larger ones stand for.
    rest = LogGrid((Axis("a", (2.0, 8.0, 32.0)), axes[1]), [[np.nan, 2.0], [np.nan] * 2, [np.nan, 9.0]])
    assert rest.bounded.tolist() == [[True, False], [True, False], [True, False]]
    assert rest.there.tolist() == [[False, True], [False, True], [False, True]]


def test_work_that_grows_with_a_power_is_continued_so():
    table = line([1, 10], [1.0, 2.0], power=2.0)
    assert table.read(30).seconds == pytest.approx(2 * 9)
    assert "with its power 2" in table.read(30).notes[0]


@given(st.integers(2, 5), st.integers(2, 5), st.data())
def test_two_guarded_sizes_both_rise_whatever_was_measured(width, height, data):
    cells = data.draw(st.lists(TIMES, min_size=width * height, max_size=width * height))
    axes = (Axis("a", tuple(2.0**i for i in range(width))), Axis("b", tuple(3.0**i for i in range(height))))
    rising = LogGrid(axes, np.reshape(cells, (width, height))).rising
    assert np.all(np.diff(rising, axis=0) >= -1e-9 * rising[1:])
    assert np.all(np.diff(rising, axis=1) >= -1e-9 * rising[:, 1:])


def test_an_axis_that_is_not_guarded_keeps_its_dips():
    table = line([1, 2, 4], [3.0, 1.0, 2.0], guarded=False)
    assert table.read([1, 2, 4]).seconds == pytest.approx([3, 1, 2])
    assert np.all(table.moved == 1)


def test_one_slow_call_moves_nothing_but_itself():
    table = line([1, 2, 4, 8, 16], [1.0, 1.1, 12.0, 1.2, 1.3])
    assert table.read([1, 2, 16]).seconds == pytest.approx([1.0, 1.1, 1.3])
    assert 1.1 < table.read(4).seconds <= 1.3 + 1e-12
    assert table.moved[2] > 9


@given(st.lists(st.floats(-20, 20), min_size=2, max_size=9))
def test_isotonic_values_rise_and_stay_within_what_was_given(values):
    found = isotonic(np.array(values))
    assert np.all(np.diff(found) >= 0)
    assert min(values) <= found.min()
    assert found.max() <= max(values)
    assert isotonic(found) == pytest.approx(found)


@given(st.lists(st.integers(0, 4), min_size=2, max_size=5))
def test_no_rising_line_is_nearer_than_the_isotonic_one(values):
    # Every rising line of these heights, tried: medians of whole numbers are best among whole ones.
    found = isotonic(np.array(values, dtype=float))
    best = min(
        sum(abs(a - b) for a, b in zip(values, line, strict=True))
        for line in itertools.combinations_with_replacement(range(5), len(values))
    )
    assert np.abs(found - values).sum() == pytest.approx(best)


NAN = np.nan
SIDES = (Axis("a", (1.0, 2.0, 4.0)), Axis("b", (1.0, 10.0, 100.0)))


def test_a_missing_corner_is_continued_along_the_first_spread_axis_and_marked():
    table = LogGrid(SIDES, [[1, 2, 3], [1.5, 2.5, NAN], [2, NAN, NAN]], spread=(0, 1))
    corner = table.read(4, 100)
    assert corner.seconds == pytest.approx(3 * 4), "four times the work of the nearest a at that b"
    assert corner.outside
    assert "not measured" in corner.notes[0]
    assert table.read(2, 10).inside
    assert table.read(3, 10).outside, "one of its corners is continued"


def test_a_gap_between_measured_cells_is_no_end_of_the_table():
    table = LogGrid((Axis("a", (1.0, 10.0, 100.0)),), [1.0, NAN, 100.0])
    reading = table.read(10)
    assert reading.seconds == pytest.approx(10)
    assert reading.inside


def test_arrays_broadcast_against_each_other():
    table = LogGrid(SIDES, [[1, 2, 3], [2, 3, 4], [3, 4, 5]])
    reading = table.read(np.array([1, 2, 4])[:, None], np.array([1, 100]))
    assert reading.seconds == pytest.approx(np.array([[1, 3], [2, 4], [3, 5]]))
    assert reading.outside.shape == (3, 2)


def test_a_single_cell_is_a_table():
    table = line([8], [2.0])
    assert table.read(8).inside
    assert table.read(16).seconds == pytest.approx(4)


@pytest.mark.parametrize(
    ("sizes", "times", "words"),
    [
        ((2.0, 1.0), [1, 2], "must rise"),
        ((1.0, 1.0), [1, 2], "must rise"),
        ((0.0, 1.0), [1, 2], "greater than 0"),
        ((1.0, 2.0), [1, -2], "greater than 0"),
        ((1.0, 2.0), [1, np.inf], "finite"),
        ((1.0, 2.0), [NAN, NAN], "no cell"),
        ((1.0, 2.0), [1, 2, 3], "shape"),
        ((), [], "must rise"),
    ],
)
def test_a_table_that_is_none_is_refused_in_words(sizes, times, words):
    with pytest.raises(ValueError, match=words):
        LogGrid((Axis("size", sizes),), times)


@pytest.mark.parametrize("size", [0, -1, NAN, np.inf])
def test_a_size_that_is_none_is_refused_in_words(size):
    with pytest.raises(ValueError, match="size="):
        line([1, 2], [1, 2]).read(size)


def test_several_calls_take_their_multiple_and_keep_their_marks():
    reading = Reading(np.array([1.0, 2.0]), np.array([False, True]), ("why",))
    assert reading.times(3).seconds.tolist() == [3, 6]
    assert reading.times(3).outside.tolist() == [False, True]
    assert reading.noted("why", "more").notes == ("why", "more")
    assert not reading.inside
