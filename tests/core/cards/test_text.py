"""Numbers in a card's text are written as people write them."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.cards.text import TextError, fill, placeholders, significant, with_unit


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (1e-7, 6, "1e-7"),
        (2.5e-8, 3, "2.5e-8"),
        (-3e-6, 2, "-3e-6"),
        (1.2345e17, 3, "1.23e17"),
        (9.9999e-5, 1, "0.0001"),
        (0.00390625, 4, "0.003906"),
        (2344.7, 6, "2,344.7"),
        (140.0, 6, "140"),
        (0.0, 3, "0"),
    ],
)
def test_no_exponent_where_a_reader_can_do_without_and_no_padding_where_not(value, digits, text):
    assert significant(value, digits) == text


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (9.99999994, 8, "9.9999999"),
        (9.99999996, 8, "10"),
        (0.99996, 4, "1"),
        (999_999.6, 6, "1,000,000"),
        (123_456, 2, "120,000"),
        (-0.0, 3, "0"),
        (-1234.5, 6, "-1,234.5"),
    ],
)
def test_rounding_that_carries(value, digits, text):
    assert significant(value, digits) == text


@given(st.floats(1e-9, 1e18), st.integers(1, 9))
def test_a_printed_number_is_near_the_number(value, digits):
    assert float(significant(value, digits).replace(",", "")) == pytest.approx(value, rel=0.51 * 10.0 ** (1 - digits))


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(46.67, "%", "46.67%"), (24.7, "x", "24.7x"), (1.34, "GB", "1.34 GB"), (5, "", "5"), (3, "GPUs", "3 GPUs")],
)
def test_units_stand_as_people_write_them(value, unit, text):
    assert with_unit(value, 4, unit) == text


VALUES = {"size": 140.0, "share": 0.35, "gpu": "NVIDIA H100", "memory": 1.5e9}


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("no placeholder", "no placeholder"),
        ("{{ size }} and {{size}}", "140 and 140"),
        ("{{ size/3 }}", "46.6667"),
        ("{{ size/3 | 3g }}", "46.7"),
        ("{{ size*1000 | int }}", "140,000"),
        ("{{ -share/10 | int }}", "0"),
        ("{{ share | pct }}", "35%"),
        ("{{ memory | MB }}, {{ memory | GB }}, {{ memory*1000 | TB }}", "1,500 MB, 1.5 GB, 1.5 TB"),
        ("on {{ gpu }}", "on NVIDIA H100"),
        ("a {b} c", "a {b} c"),
    ],
)
def test_placeholders_are_filled(text, filled):
    assert fill(text, VALUES) == filled


def test_a_name_alone_has_its_own_digits():
    assert fill("{{ share }} {{ share*1 }}", {"share": 1 / 3}, {"share": 2}) == "0.33 0.333333"


@pytest.mark.parametrize(
    ("text", "says", "placeholder"),
    [
        ("{{ nobody }}", "reads nobody, known are", "{{ nobody }}"),
        ("{{ size | 9f }}", "no filter '9f'; known are", "{{ size | 9f }}"),
        ("{{ size | }}", "no filter ''", "{{ size | }}"),
        ("{{ size.real }}", "holds '.'", "{{ size.real }}"),
        ("{{ size/0 }}", "has no value", "{{ size/0 }}"),
        ("{{ gpu*2 }}", "reads gpu", "{{ gpu*2 }}"),
        ("{{}}", "not an expression", "{{}}"),
        ("a {{ size b", "both pairs", "{{ size b"),
        ("a size }} b", "both pairs", "}}"),
        ("{{ {{ size }}", "both pairs", "{{ "),
    ],
)
def test_what_cannot_be_filled_is_named(text, says, placeholder):
    with pytest.raises(TextError) as refused:
        fill(text, VALUES)
    assert says in str(refused.value)
    assert refused.value.placeholder == placeholder


def test_placeholders_by_expression_and_filter():
    assert placeholders("{{ a }} {{ b/2 | 3g }}") == [("a", ""), ("b/2", "3g")]


@given(st.text(alphabet="{}|ab 1.*/+3g\n", max_size=60))
def test_any_text_is_filled_or_refused(text):
    with contextlib.suppress(TextError):
        assert "{{" not in fill(text, {"a": 1.0, "b": 2.0})
