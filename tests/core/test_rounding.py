"""Counts from quotients."""

import math

import pytest

from core.rounding import rounded_down, rounded_up


# What floats make of quotients that are whole on paper: below in the first, above in the second.
@pytest.mark.parametrize(
    ("quotient", "whole"), [(0.3 / 0.1, 3), ((0.1 + 0.2) / 0.1, 3), (1e6 / 1e-3 * 1e-3, 1_000_000)]
)
def test_a_quotient_that_is_whole_on_paper_stays(quotient, whole):
    assert rounded_up(quotient) == rounded_down(quotient) == whole


def test_plain_rounding_gets_both_wrong():
    assert math.floor(0.3 / 0.1) == 2
    assert math.ceil((0.1 + 0.2) / 0.1) == 4


@pytest.mark.parametrize("quotient", [2.000001, 2.5, 2.999999])
def test_a_part_of_a_thing_is_a_part(quotient):
    assert (rounded_down(quotient), rounded_up(quotient)) == (2, 3)


def test_below_zero_down_is_away_from_zero():
    assert (rounded_down(-0.5), rounded_up(-0.5)) == (-1, 0)
