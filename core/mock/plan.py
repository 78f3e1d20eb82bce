"""What a pack allows in a room, as plain ids and numbers: the fold checks events against it and needs no card file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.cards.card import short_hash
from core.cards.library import Bank
from core.cards.models import Competency, Question
from core.mock.check import question_of
from core.mock.reading import Pack


@dataclass(frozen=True, slots=True)
class ItemPlan:
    """A rubric item that is scored: whose it is and what it weighs."""

    card: str
    item: str
    competency: Competency
    weight: float


@dataclass(frozen=True, slots=True)
class CardPlan:
    """An open card: how many replies it has, what its hints cost, its twists on offer, nodes and computed numbers."""

    replies: int
    hint_costs: tuple[float, ...]
    twists: tuple[str, ...]
    nodes: frozenset[str]
    numbers: frozenset[str]


@dataclass(frozen=True, slots=True)
class Plan:
    """A pack's phases, cards and items; ``content_hash`` changes with any text of the pack or of its cards."""

    pack_id: str
    content_hash: str
    minutes: tuple[int, ...]
    phase_cards: tuple[str | None, ...]
    seeds: Mapping[str, int]
    cards: Mapping[str, CardPlan]
    drills: tuple[str, ...]
    events: tuple[str, ...]
    items: Mapping[str, ItemPlan]


class PlanError(ValueError):
    """A pack whose cards are not in the bank."""


def plan_of(pack: Pack, bank: Bank) -> Plan:
    """The plan of a pack.

    Raises:
        PlanError: a card is missing or of another kind; ``python -m core.mock check`` names it.
    """
    model = pack.model
    if missing := [card_id for card_id in model.seeds if card_id not in bank.cards]:
        raise PlanError(f"{pack.id} plays {', '.join(missing)}, which the bank does not have")
    questions: dict[str, Question] = {}
    for row in model.cards:
        if (found := question_of(row.card, bank)) is None:
            raise PlanError(f"{row.card} is no open card")
        questions[row.card] = found[1]
    items = {}
    for scored in model.scored:
        rubric = {item.id: item for item in questions[scored.card].rubric}
        if scored.item not in rubric:
            raise PlanError(f"the rubric of {scored.card} has no {scored.item}")
        item = rubric[scored.item]
        items[scored.key] = ItemPlan(scored.card, item.id, item.competency, item.weight)
    return Plan(
        pack_id=pack.id,
        content_hash=short_hash(pack.content_hash, *(bank.cards[card_id].content_hash for card_id in model.seeds)),
        minutes=tuple(phase.minutes for phase in model.phases),
        phase_cards=tuple(phase.card for phase in model.phases),
        seeds=model.seeds,
        cards={
            row.card: CardPlan(
                replies=len(questions[row.card].clarify),
                hint_costs=tuple(hint.cost for hint in questions[row.card].hints),
                twists=row.twists or tuple(twist.id for twist in questions[row.card].twists),
                nodes=frozenset(node.id for node in row.tree),
                numbers=frozenset(questions[row.card].compute),
            )
            for row in model.cards
        },
        drills=tuple(row.card for row in model.drills),
        events=tuple(event.id for event in model.events),
        items=items,
    )
