"""A measured table: exact at its rows, straight in logarithms between them, silent nowhere."""

import numpy as np
import pytest

from core.collective_table import MeasuredCollective

TABLE = MeasuredCollective("all_reduce", 8, (1e3, 1e5, 1e7), (1e-5, 1e-4, 1e-2), source="made up")


def test_rows_come_back_as_they_were_measured():
    assert TABLE.time_s([1e3, 1e5, 1e7]) == pytest.approx([1e-5, 1e-4, 1e-2])


def test_between_rows_a_line_in_logarithms():
    assert TABLE.time_s(1e4) == pytest.approx((1e-5 * 1e-4) ** 0.5)
    assert TABLE.time_s(1e6) == pytest.approx((1e-4 * 1e-2) ** 0.5)


def test_a_dip_is_no_gain():
    dip = MeasuredCollective("all_reduce", 8, (1e3, 1e4, 1e5), (2e-5, 1e-5, 4e-5))
    times = dip.time_s(np.geomspace(1e3, 1e5, 50))
    assert np.all(np.diff(times) >= 0)
    assert times[0] == pytest.approx(2e-5)


@pytest.mark.parametrize("size", [999, 1.01e7])
def test_outside_it_refuses(size):
    assert not TABLE.covers(size)
    with pytest.raises(ValueError, match="lies outside the table, 1000 to 10000000; measure it, or use the model"):
        TABLE.time_s([1e4, size])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("all_sum", 8, (1, 2), (1, 2)), "op='all_sum' is not known"),
        (("all_reduce", 1, (1, 2), (1, 2)), "ranks=1 must be a whole number, 2 or more"),
        (("all_reduce", 8, (1, 2), (1,)), "num_bytes has 2 values and seconds 1"),
        (("all_reduce", 8, (2, 1), (1, 2)), "num_bytes must rise"),
        (("all_reduce", 8, (1, 2), (0, 2)), "seconds=0 must be greater than 0"),
    ],
)
def test_a_bad_table_is_refused_in_words(arguments, message):
    with pytest.raises(ValueError, match=message):
        MeasuredCollective(*arguments)
