"""What progress has to know of a card; the bank of cards makes these, and nothing here reads a card file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

CardKind = Literal["drill", "mcq", "question"]


@dataclass(frozen=True, slots=True)
class CardInfo:
    """One card of the bank as the schedule sees it.

    ``step`` is 1 to 5, or None for a card that cuts across all steps. ``content_hash`` changes with any edit of the
    card, ``answer_hash`` only with an edit that makes an old answer meaningless (its schema or its answer).
    """

    id: str
    kind: CardKind
    topic: str
    step: int | None
    level: str
    content_hash: str
    answer_hash: str
    target_seconds: float
