"""Prefixes against their definitions, and numbers as people type them."""

import pytest

from core import units
from core.units import from_units, in_units


# NIST SP 811 and IEC 80000-13: decimal prefixes step by 1,000, binary ones by 1,024.
def test_decimal_and_binary_prefixes_keep_apart():
    assert units.TB == 1000 * units.GB == 1000**2 * units.MB == 1000**3 * units.KB == 1000**4
    assert units.TIB == 1024 * units.GIB == 1024**2 * units.MIB == 1024**3 * units.KIB == 1024**4
    assert round(units.GIB / units.GB, 4) == 1.0737


def test_an_80_gib_card_is_85_9_gb():
    assert in_units(80 * units.GIB, units.GB) == pytest.approx(85.9, abs=0.05)


@pytest.mark.parametrize(
    ("text", "unit", "bytes_"),
    [("80", units.GB, 80e9), ("1,024", units.MB, 1.024e9), (" 3.35 ", units.TB, 3.35e12), ("2.5e1", units.GB, 25e9)],
)
def test_a_typed_number_becomes_base_units(text, unit, bytes_):
    assert from_units(text, unit) == pytest.approx(bytes_)


def test_an_empty_box_is_no_number():
    assert from_units("  ", units.GB) is None


def test_whole_base_units_are_rounded_but_never_to_nothing():
    assert from_units("0.1", units.GB, whole=True) == 100_000_000
    assert isinstance(from_units("0.1", units.GB, whole=True), int)
    assert from_units("1e-12", units.GB, whole=True) == 1


# A comma is a decimal sign in half of the world: 1,5 must not become 15.
@pytest.mark.parametrize("text", ["0", "-80", "nan", "-inf", "eighty", "80 GB", "1,5", "12,34", "1,,000", "0x50"])
def test_anything_but_a_number_above_zero_is_refused_in_words(text):
    with pytest.raises(ValueError, match="is not a number above zero"):
        from_units(text, units.GB)


@pytest.mark.parametrize("text", ["inf", "1e400", "1e300"])
def test_a_number_that_is_too_large_is_not_called_too_small(text):
    with pytest.raises(OverflowError, match="more than a number can be"):
        from_units(text, units.GB)
