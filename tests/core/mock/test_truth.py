"""A twist's truth is what the core computes for the new numbers."""

from __future__ import annotations

import math

import pytest

from core.cards.draw import draw
from core.cards.expressions import evaluate
from core.mock.state import AppliedTwist, Mark
from core.mock.truth import card_truth, truths, twist_texts
from core.whiteboard import bottleneck
from tests.core.mock.made import CARD, DRILL, at_phase, bank

MARK = Mark(0, 4)


def row(truth, name):
    return next(row for row in truth.rows() if row.name == name)


def test_a_twist_gives_the_truth_of_a_direct_call_of_the_core():
    room = at_phase(4).does("interviewer", "twist_applied", twist="long-context", card=CARD)
    found = row(truths(room.state, bank())[CARD], "attention")
    given = {"num_params": 70e9, "num_layers": 80, "hidden_size": 8192}
    before = bottleneck.causal_attention_over_6n(**given, seq_len=8192)
    after = bottleneck.causal_attention_over_6n(**given, seq_len=32768)
    assert found.base == pytest.approx(100 * before, rel=1e-12)
    assert found.now == pytest.approx(100 * after, rel=1e-12)
    assert found.moved
    assert (found.base_text, found.now_text) == ("7.7%", "31%")


def test_twists_build_on_one_another_in_their_order():
    base = draw(bank().cards[CARD], 0)
    twists = [AppliedTwist("padding", CARD, True, MARK), AppliedTwist("long-context", CARD, True, MARK)]
    truth = card_truth(base, twists)
    assert truth.now.values["mfu"] == pytest.approx(35 / 0.8)
    assert truth.now.values["context"] == 32768
    assert truth.at(0) is truth.base
    assert truth.at(1).values["context"] == 8192
    assert truth.at(99) is truth.now


def test_events_and_twists_of_other_cards_move_no_number_of_this_one():
    room = at_phase(4).does("interviewer", "twist_applied", twist="slow-rail")
    room.does("interviewer", "twist_applied", twist="padding", card=CARD)
    found = truths(room.state, bank())
    assert found[DRILL].now is found[DRILL].base
    assert len(found[CARD].after) == 3
    assert found[CARD].at(1) is found[CARD].base


def test_a_twist_that_the_numbers_refuse_is_named_and_changes_nothing(monkeypatch):
    card = bank().cards[CARD]
    broken = card.model.twists[0].model_copy(update={"set": {"mfu": "mfu/0"}})
    monkeypatch.setitem(card.__dict__, "model", card.model.model_copy(update={"twists": (broken,)}))
    base = draw(card, 0)
    truth = card_truth(base, [AppliedTwist("long-context", CARD, True, MARK)])
    assert (truth.refused, truth.now) == (("long-context",), base)
    assert twist_texts(base, "long-context")[0].startswith("The context is 32,768")


@pytest.mark.parametrize("seed", [0, 1, 417])
def test_the_working_has_the_numbers_put_in_and_gives_the_value(seed):
    for card_id in (CARD, DRILL):
        for found in card_truth(draw(bank().cards[card_id], seed), []).rows():
            assert math.isclose(evaluate(found.working, {}), found.now, rel_tol=1e-5), found


def test_a_twist_is_told_with_the_numbers_before_and_expected_with_those_after():
    said, expected = twist_texts(draw(bank().cards[CARD], 0), "padding")
    assert "a fifth of the executed math is padding" in said
    assert "MFU rises to 43.8%" in expected


def test_a_rooms_seed_draws_other_numbers():
    drawn = {truths(at_phase(1, seed=seed).state, bank())[CARD].base.values["mfu"] for seed in range(1, 9)}
    assert len(drawn) > 1
