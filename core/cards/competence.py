"""How an open card's marks stand by competency, against what each seniority is expected to show."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean

from core.cards.card import AnyCard, Card
from core.cards.models import CompetencyEntry, Level, Question

FEWEST_MARKS = 3  # fewer say nothing about a competency
LAST_MARKS = 8  # of a competency: what one did long ago no longer counts


@dataclass(frozen=True, slots=True)
class Standing:
    """One competency: its last marks, their mean on the ladder of four, and the seniority whose bar that reaches."""

    key: str
    title: str
    marks: int
    mean: float | None
    reached: Level | None


def standings(
    marked: Iterable[tuple[str, Mapping[str, int]]],
    cards: Mapping[str, AnyCard],
    ladders: Mapping[str, CompetencyEntry],
) -> list[Standing]:
    """Each competency in the order of the ladders.

    Args:
        marked: card id and marks by rubric item, oldest first; cards and items that are gone are left out.
        cards: the bank.
        ladders: the competencies.
    """
    marks: dict[str, list[int]] = defaultdict(list)
    for card_id, scores in marked:
        card = cards.get(card_id)
        if isinstance(card, Card) and isinstance(card.model, Question):
            for item in card.model.rubric:
                if item.id in scores:
                    marks[item.competency].append(scores[item.id])
    return [_standing(key, entry, marks[key][-LAST_MARKS:]) for key, entry in ladders.items()]


def _standing(key: str, entry: CompetencyEntry, marks: list[int]) -> Standing:
    mean = fmean(marks) if marks else None
    reached: Level | None = None
    if mean is not None and len(marks) >= FEWEST_MARKS:
        reached = next((level for level in ("staff", "senior", "mid") if mean >= entry.expected[level]), None)
    return Standing(key, entry.title, len(marks), mean, reached)
