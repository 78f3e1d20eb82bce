"""Finding cards: by kind, topic, step, level and words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import TypeVar

from core.cards.card import AnyCard

CardT = TypeVar("CardT", bound=AnyCard)


def matching(
    cards: Iterable[CardT],
    *,
    kinds: Collection[str] = (),
    topics: Collection[str] = (),
    steps: Collection[int] = (),
    levels: Collection[str] = (),
    words: str = "",
) -> list[CardT]:
    """Cards that fit every filter, in the given order; an empty filter lets all pass. Words match by beginning."""
    wanted = words.lower().split()
    return [
        card
        for card in cards
        if (not kinds or card.kind in kinds)
        and (not topics or card.topic in topics)
        and (not steps or card.step in steps)
        and (not levels or card.model.level in levels)
        and _holds(card, wanted)
    ]


def _holds(card: AnyCard, wanted: list[str]) -> bool:
    if not wanted:
        return True
    present = f"{card.id} {card.title} {card.asked}".lower()
    return all(re.search(rf"(?<![a-z0-9]){re.escape(want)}", present) for want in wanted)
