"""Filters and words."""

from __future__ import annotations

import pytest

from core.cards.find import matching
from tests.core.cards.made import read

CARDS = list(read().cards.values())


@pytest.mark.parametrize(
    ("filters", "ids"),
    [
        ({}, {"d-hardware-read", "q-hardware-bound", "m-hardware-read", "m-hardware-ridge"}),
        ({"kinds": ["drill", "question"]}, {"d-hardware-read", "q-hardware-bound"}),
        ({"levels": ["senior"]}, {"q-hardware-bound", "m-hardware-ridge"}),
        ({"topics": ["serving"]}, set()),
        ({"steps": [2]}, set()),
        ({"steps": [1], "kinds": ["mcq"], "levels": ["mid"]}, {"m-hardware-read"}),
        ({"words": "KERNEL read"}, {"d-hardware-read", "m-hardware-read"}),
        ({"words": "ridge"}, {"m-hardware-ridge"}),
        ({"words": "idge"}, set()),
        ({"words": "milli"}, {"d-hardware-read"}),
        ({"words": "("}, {"d-hardware-read"}),
        ({"words": "  "}, {"d-hardware-read", "q-hardware-bound", "m-hardware-read", "m-hardware-ridge"}),
    ],
)
def test_filters(filters, ids):
    assert {card.id for card in matching(CARDS, **filters)} == ids


def test_the_order_stays():
    assert matching(CARDS[::-1]) == CARDS[::-1]
