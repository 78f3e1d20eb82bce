"""What a rater's scores add up to, and what to drill next. For display: nothing here decides anything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.cards.card import Card
from core.cards.library import Bank
from core.cards.models import Competency, CompetencyEntry, Level
from core.mock.events import NOT_OBSERVED
from core.mock.pack import Judgement
from core.mock.roles import Rater
from core.mock.state import EvidenceLine, RoomState

JUDGEMENTS: tuple[Judgement, ...] = ("no hire", "lean no", "lean hire", "strong hire")
# Weighted mean of (level after hints - level expected at the seniority) from which each judgement begins. Ours: meeting
# the bar is a hire, a quarter above it a strong one, a whole level below it a clear no.
_STEPS = ((0.25, "strong hire"), (-0.25, "lean hire"), (-1.0, "lean no"))
LOWEST_LEVEL = 1.0
NEXT_DRILLS, WEAK_LEVEL = 5, 2


@dataclass(frozen=True, slots=True)
class ItemScore:
    """One item of a scorecard. ``level`` is None where it was not observed, or not scored yet."""

    key: str
    card: str
    item: str
    competency: Competency
    weight: float
    level: int | None
    scored: bool
    hint_cost: float
    evidence: tuple[EvidenceLine, ...]

    @property
    def after_hints(self) -> float | None:
        """The level less what hints cost, at least 1."""
        return None if self.level is None else max(LOWEST_LEVEL, self.level - self.hint_cost)


def item_scores(state: RoomState, rater: Rater) -> tuple[ItemScore, ...]:
    """A rater's items in the order of the pack."""
    rating = state.ratings[rater]
    return tuple(
        ItemScore(
            key=key,
            card=item.card,
            item=item.item,
            competency=item.competency,
            weight=item.weight,
            level=rating.scores.get(key) or None,
            scored=key in rating.scores,
            hint_cost=sum(hint.cost for hint in state.hints if hint.item == key),
            evidence=tuple(line for line in rating.evidence if line.item == key),
        )
        for key, item in state.plan.items.items()
    )


def weighted_mean(scores: Iterable[ItemScore]) -> float | None:
    """The mean of levels after hints, by the items' weights; what was not observed is left out, None if all was."""
    pairs = [(score.weight, score.after_hints) for score in scores if score.after_hints is not None]
    total = sum(weight for weight, _ in pairs)
    return sum(weight * value for weight, value in pairs) / total if pairs else None


def nearest_judgement(
    scores: Iterable[ItemScore], level: Level, ladders: Mapping[str, CompetencyEntry]
) -> Judgement | None:
    """What the items alone would say at this seniority, to be set beside the rater's own judgement; no verdict."""
    over = 0.0
    total = 0.0
    for score in scores:
        if score.after_hints is not None and score.competency in ladders:
            over += score.weight * (score.after_hints - ladders[score.competency].expected[level])
            total += score.weight
    if not total:
        return None
    return next((JUDGEMENTS[JUDGEMENTS.index(name)] for least, name in _STEPS if over / total >= least), "no hire")


def judgement_gap(one: Judgement, other: Judgement) -> int:
    """How many steps lie between two judgements, 0 to 3."""
    return abs(JUDGEMENTS.index(one) - JUDGEMENTS.index(other))


def next_drills(scores: Sequence[ItemScore], bank: Bank, done: Iterable[str] = ()) -> tuple[str, ...]:
    """Up to five drills for the items at level 2 or below, the weakest first.

    For each item in turn: the drills that its card builds on, then others of the card's topic, by id.

    Args:
        done: drills that were part of the session.
    """
    weak = [score for score in scores if score.after_hints is not None and score.after_hints <= WEAK_LEVEL]
    weak.sort(key=lambda score: (score.after_hints, -score.weight, score.key))
    lists = [[drill for drill in _drills_for(score.card, bank) if drill not in set(done)] for score in weak]
    chosen: dict[str, None] = {}
    while len(chosen) < NEXT_DRILLS and any(lists):
        for waiting in lists:
            fresh = [drill for drill in waiting if drill not in chosen]
            waiting[:] = fresh[1:]
            if fresh and len(chosen) < NEXT_DRILLS:
                chosen[fresh[0]] = None
    return tuple(chosen)


def _drills_for(card_id: str, bank: Bank) -> list[str]:
    card = bank.cards[card_id]
    if not isinstance(card, Card):
        return []
    drills = {other.id: other for other in bank.of_kind("drill")}
    needed = [other for other in card.model.prerequisites if other in drills]
    return [*needed, *(other for other, drill in drills.items() if drill.topic == card.topic and other not in needed)]


assert NOT_OBSERVED == 0  # `or None` above reads it as no level
