"""What a card computes has a name in words: an interviewer who does not know the card reads it beside the number."""

from __future__ import annotations

import re

import pytest

from core.cards.draw import draw
from core.cards.models import Question
from views._ui import bank

QUESTIONS = [card for card in bank.shipped().cards.values() if isinstance(card.model, Question)]


@pytest.mark.parametrize("card", QUESTIONS, ids=[card.id for card in QUESTIONS])
def test_each_number_has_a_name_of_its_own_in_words(card):
    labels = {name: computed.label for name, computed in card.model.compute.items()}
    assert [name for name, label in labels.items() if not label] == []
    assert len(set(labels.values())) == len(labels)
    assert [label for label in labels.values() if label != label.strip() or label.endswith(".") or "_" in label] == []


@pytest.mark.parametrize("card", QUESTIONS, ids=[card.id for card in QUESTIONS])
def test_no_name_holds_a_number_that_is_drawn_or_computed(card):
    """Another seed or a twist would make it false."""
    for seed in range(20):
        variant = draw(card, seed)
        moving = {
            f"{value:g}"
            for value in (*variant.values.values(), *variant.truth.values())
            if isinstance(value, float | int)
        }
        for name, computed in card.model.compute.items():
            words = set(re.findall(r"(?<![A-Za-z0-9.-])\d+(?:\.\d+)?(?![A-Za-z0-9-])", computed.label))
            assert not words & (moving - {"1", "2"}), (name, computed.label)
