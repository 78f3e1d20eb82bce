"""Bytes on logarithmic axes: ticks in the reader's units, ranges in powers of ten, marks on their lines."""

import numpy as np
import pytest

from core.charts.byte_lines import axis, byte_axis, level, log_figure, reach


def test_ticks_stand_in_the_readers_family_of_units():
    values = np.array([1e6, 5e12])
    assert byte_axis("bytes", values, "GB")["ticktext"][0] == "1 MB"
    binary = byte_axis("bytes", values, "GiB")
    assert "10 GiB" in binary["ticktext"]
    assert binary["tickvals"][binary["ticktext"].index("10 GiB")] == 10 * 2**30


@pytest.mark.parametrize("high", [1e4, 1e9, 1e15, 1e20])
def test_there_are_never_more_than_five_ticks(high):
    made = byte_axis("bytes", np.array([1e3, high]), "GB")
    assert 1 <= len(made["tickvals"]) <= 5
    assert len(made["tickvals"]) == len(made["ticktext"])


@pytest.mark.parametrize("unit", ["GB", "GiB"])
@pytest.mark.parametrize("ends", [(50, 60), (250, 480), (2.1e4, 3.9e4), (3e8, 4e8), (6e20, 9e20)])
def test_values_close_together_or_far_out_still_have_ticks(unit, ends):
    made = byte_axis("bytes", np.array(ends, dtype=float), unit)
    low, high = made["range"]
    assert len(made["tickvals"]) >= 2
    assert all(10**low <= tick <= 10**high for tick in made["tickvals"])


def test_a_logarithmic_range_is_in_powers_of_ten():
    low, high = byte_axis("bytes", np.array([1e6, 1e9]), "GB")["range"]
    assert low < 6 < 9 < high
    left, right = axis("tokens", [1.0], ["1"], np.array([10.0, 1000.0]))["range"]
    assert left < 1 < 3 < right


def test_marks_follow_the_line_they_belong_to():
    x, y = np.array([1.0, 2.0]), np.array([10.0, 40.0])
    figure, dots = log_figure(x, [("a", "accent", y)], "GB")
    assert np.array_equal(dots.x[:, 0], x)
    assert np.array_equal(dots.y[:, 0], y)
    assert [trace["name"] for trace in figure["data"]] == ["a"]


def test_a_level_with_a_name_stands_in_the_key():
    drawn = level(np.array([1.0, 2.0, 3.0]), 5.0, "unfused", "activations")
    assert (drawn["name"], drawn["x"], drawn["y"]) == ("unfused", [1, 3], [5, 5])


def test_an_axis_leaves_room():
    assert reach(np.array([4.0, 10.0])) == (2.0, 20.0)
