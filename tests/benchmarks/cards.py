"""How long the bank takes to check, and a card to draw and fill, in CPU time of one process."""

from __future__ import annotations

import time

from core.cards.card import Card
from core.cards.check_text import texts
from core.cards.draw import draw
from core.cards.library import read_bank
from core.cards.validate import SEEDS, check_bank

CHECK_LIMIT_S = 60.0  # on two cores; one is used
CARD_LIMIT_MS = 20.0


def check_s(seeds: int = SEEDS) -> float:
    """Seconds to read the bank and to check each card at so many variants."""
    begun = time.process_time()
    check_bank(read_bank(), seeds=seeds)
    return time.process_time() - begun


def slowest_card_ms(seeds: int) -> float:
    """Milliseconds to draw a card and fill all its texts, for the card whose fastest showing takes longest.

    The fastest of some seeds, since whatever else the machine does only adds; caches are warm from the first on.
    """
    cards = [card for card in read_bank().cards.values() if isinstance(card, Card)]
    return max(min(_showing_ms(card, seed) for seed in range(1, 1 + seeds)) for card in cards)


def first_card_ms() -> float:
    """The same for the first card of a process, which loads the catalog and a module of the whiteboard."""
    return _showing_ms(next(card for card in read_bank().cards.values() if isinstance(card, Card)), 1)


def _showing_ms(card: Card, seed: int) -> float:
    begun = time.process_time()
    variant = draw(card, seed)
    for field, text in texts(card).items():
        if not field.endswith(".expect"):  # filled after its twist
            variant.fill(text)
    return 1e3 * (time.process_time() - begun)
