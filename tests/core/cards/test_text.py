"""Numbers in a card's text are written as people write them."""

from __future__ import annotations

import pytest

from core.cards.text import significant


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
