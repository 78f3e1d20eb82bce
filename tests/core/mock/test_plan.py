"""The plan says what a pack allows, and changes with any of its texts."""

from __future__ import annotations

import dataclasses

import pytest

from core.mock.plan import PlanError, plan_of
from tests.core.mock.made import CARD, DRILL, ITEMS, bank, pack, plan


def test_it_counts_what_the_cards_have():
    card = plan().cards[CARD]
    assert (card.replies, card.hint_costs, card.twists) == (5, (0.25, 0.5, 1.0), ("long-context", "padding"))
    assert card.nodes == {"start", "waiting", "ceiling", "second-cause"}
    assert {"ratio", "ceiling"} <= card.numbers
    assert plan().drills == (DRILL,)
    assert plan().events == ("slow-rail", "half-budget")
    assert sum(plan().minutes) == 45


def test_items_have_the_weights_of_the_rubric():
    assert {key: item.weight for key, item in plan().items.items()} == dict(zip(ITEMS, (1, 2, 2, 2), strict=True))


def test_the_edition_changes_with_the_pack_and_with_any_of_its_cards():
    other_pack = dataclasses.replace(pack(), content_hash="other")
    card = bank().cards[DRILL]
    other_bank = dataclasses.replace(bank(), cards={**bank().cards, DRILL: dataclasses.replace(card, content_hash="x")})
    hashes = {plan().content_hash, plan_of(other_pack, bank()).content_hash, plan_of(pack(), other_bank).content_hash}
    assert len(hashes) == 3


def test_a_card_that_is_gone_is_named():
    without = dataclasses.replace(bank(), cards={k: v for k, v in bank().cards.items() if k != DRILL})
    with pytest.raises(PlanError, match=f"plays {DRILL}, which the bank does not have"):
        plan_of(pack(), without)


def test_a_card_of_another_kind_or_rubric_is_named():
    swapped = dataclasses.replace(bank(), cards={**bank().cards, CARD: bank().cards[DRILL]})
    with pytest.raises(PlanError, match=f"{CARD} is no open card"):
        plan_of(pack(), swapped)
    card = bank().cards[CARD]
    fewer = dataclasses.replace(card, model=card.model.model_copy(update={"rubric": card.model.rubric[:1]}))
    with pytest.raises(PlanError, match="has no arithmetic"):
        plan_of(pack(), dataclasses.replace(bank(), cards={**bank().cards, CARD: fewer}))
