"""What both see when interviewer and candidate have committed: scores beside the self-rating, evidence, what is next.

Nothing of the rubric's own words is in it, and no private note: the cards stay usable for the next candidate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.cards.library import Bank
from core.cards.models import Competency
from core.mock.events import Overall, SelfRated, Summary
from core.mock.numbers import NumberRow, number_rows
from core.mock.scoring import ItemScore, item_scores, next_drills, weighted_mean
from core.mock.state import RoomState
from core.mock.truth import CardTruth


@dataclass(frozen=True, slots=True)
class CompetencyGap:
    """One competency: the interviewer's weighted mean after hints, and the candidate's own level."""

    competency: Competency
    title: str
    score: float | None
    own: int | None


@dataclass(frozen=True, slots=True)
class Debrief:
    """Both ratings side by side."""

    items: tuple[ItemScore, ...]
    gaps: tuple[CompetencyGap, ...]
    overall: Overall
    mean: float | None
    self_rating: SelfRated
    summary: Summary | None
    numbers: tuple[NumberRow, ...]
    next_drills: tuple[str, ...]


def debrief_of(state: RoomState, cards: Mapping[str, CardTruth], bank: Bank) -> Debrief:
    """The debrief of a room in which both have committed."""
    rating = state.ratings[state.lead]
    assert state.revealed
    assert rating.overall is not None
    assert state.self_rating is not None
    items = item_scores(state, state.lead)
    return Debrief(
        items=items,
        gaps=competency_gaps(state, items, bank),
        overall=rating.overall,
        mean=weighted_mean(items),
        self_rating=state.self_rating,
        summary=state.summary,
        numbers=number_rows(state, cards),
        next_drills=next_drills(items, bank, state.drills),
    )


def competency_gaps(state: RoomState, items: tuple[ItemScore, ...], bank: Bank) -> tuple[CompetencyGap, ...]:
    """Each competency that the pack scores, in the order of its items."""
    own = state.self_rating.competencies if state.self_rating else {}
    return tuple(
        CompetencyGap(
            competency,
            bank.competencies[competency].title if competency in bank.competencies else competency,
            weighted_mean(item for item in items if item.competency == competency),
            own.get(competency),
        )
        for competency in dict.fromkeys(item.competency for item in items)
    )
