"""Numbers as a page shows them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.display import (
    digits,
    short,
    show_bytes,
    show_count,
    show_difference,
    show_percent,
    show_rate,
    show_seconds,
)


@pytest.mark.parametrize(
    ("value", "shown"), [(1.0, "1"), (1.5, "1.5"), (31.7, "31.7"), (100.0, "100"), (98_304.0, "98,304"), (0.0, "0")]
)
def test_short_numbers_end_in_no_zero_and_have_no_exponent(value, shown):
    assert short(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (-0.0, "0"),
        (1, "1.00"),
        (17.638, "17.6"),
        (999.4, "999"),
        (99.95, "100"),
        (9.996, "10.0"),
        (0.9996, "1.00"),
        (999.95, "1,000"),
        (1128.859, "1,129"),
        (123_456_789, "123,456,789"),
        (-17.638, "-17.6"),
        (0.00123456, "0.00123"),
        (1e-9, "0.00000000100"),
    ],
)
def test_three_digits_and_no_exponent(value, shown):
    assert digits(value) == shown


def test_more_digits_on_request():
    assert digits(80.994_240_1, 6) == "80.9942"
    assert digits(123_456, 2) == "123,456"  # never an exponent, so whole digits stay


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e15, max_value=1e15))
def test_what_is_shown_is_the_number_to_three_digits(value):
    text = digits(value)
    assert "e" not in text.lower()
    assert float(text.replace(",", "")) == pytest.approx(value, rel=0.00501, abs=1e-300)


# ZeRO paper, table 1 and figure 1, as a page would show them.
@pytest.mark.parametrize(
    ("num_bytes", "unit", "shown"),
    [
        (120e9, "GB", "120 GB"),
        (31.40625e9, "GB", "31.4 GB"),
        (1.875e9, "GB", "1.88 GB"),
        (80 * 2**30, "GiB", "80.0 GiB"),
        (80 * 2**30, "GB", "85.9 GB"),
        (0.1e9, "GB", "0.100 GB"),
        (99.9e6, "GB", "99.9 MB"),
        (327_680, "GB", "0.328 MB"),
        (327_680, "GiB", "0.312 MiB"),
        (576, "GB", "0.576 kB"),
        (72, "GB", "72 B"),
        (1, "GiB", "1 B"),
        (0, "GiB", "0 GiB"),
        (-17.64e9, "GB", "-17.6 GB"),
        (1.129e12, "GB", "1,129 GB"),
    ],
)
def test_bytes_keep_to_the_chosen_family_of_units(num_bytes, unit, shown):
    assert show_bytes(num_bytes, unit) == shown


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (70_553_706_496, "70.6B"),
        (1_008_038_502_400, "1.01T"),
        (999_960_000_000, "1.00T"),
        (137_022_720, "137M"),
        (512, "512"),
        (3072, "3,072"),
        (16_384, "16,384"),
        (999_999, "999,999"),
        (1_000_000, "1.00M"),
        (0, "0"),
        (0.25, "0.250"),
        (math.inf, "∞"),
    ],
)
def test_counts_as_the_field_writes_them(count, shown):
    assert show_count(count) == shown


@pytest.mark.parametrize(
    ("difference", "shown"),
    [(0, "no change"), (0.4, "no change"), (-1.5e9, "-1.50 GB"), (2.5e6, "+2.50 MB"), (1.1e12, "+1,100 GB")],
)
def test_a_difference_has_a_sign_or_says_no_change(difference, shown):
    assert show_difference(difference) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (1.1e-6, "1.10 us"),
        (0.0228, "22.8 ms"),
        (0.9999, "1.00 s"),
        (3.41, "3.41 s"),
        (90, "90.0 s"),
        (150, "2.50 min"),
        (3 * 3600, "3.00 h"),
        (3 * 86_400, "3.00 days"),
        (0, "0 us"),
    ],
)
def test_times_take_the_unit_that_reads_best(seconds, shown):
    assert show_seconds(seconds) == shown


@pytest.mark.parametrize(
    ("rate", "of", "shown"),
    [
        (989.4e12, "FLOP", "989 TFLOP/s"),
        (3.35e12, "B", "3.35 TB/s"),
        (4.5e15, "FLOP", "4,500 TFLOP/s"),
        (20e15, "FLOP", "20.0 PFLOP/s"),
        (900e9, "B", "900 GB/s"),
        (12, "FLOP", "12.0 FLOP/s"),
    ],
)
def test_rates_take_a_decimal_prefix(rate, of, shown):
    assert show_rate(rate, of) == shown


@pytest.mark.parametrize(("share", "shown"), [(0.46667, "46.7%"), (0.0031, "0.310%"), (1.25, "125%"), (0, "0%")])
def test_shares_are_percentages_of_three_digits(share, shown):
    assert show_percent(share) == shown
