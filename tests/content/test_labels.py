"""What a card computes has a name in words: an interviewer who does not know the card reads it beside the number."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from core.cards.draw import Variant, draw, twisted
from core.cards.models import Question
from views._ui import bank

NUMBER = re.compile(r"(?<![A-Za-z0-9.-])\d+(?:\.\d+)?(?![A-Za-z0-9-])")
QUESTIONS = [card for card in bank.shipped().cards.values() if isinstance(card.model, Question)]


@pytest.mark.parametrize("card", QUESTIONS, ids=[card.id for card in QUESTIONS])
def test_each_number_has_a_name_of_its_own_in_words(card):
    labels = {name: computed.label for name, computed in card.model.compute.items()}
    assert [name for name, label in labels.items() if not label] == []
    assert len(set(labels.values())) == len(labels)
    assert [label for label in labels.values() if label != label.strip() or label.endswith(".") or "_" in label] == []


def variants(card) -> Iterator[Variant]:
    for seed in range(20):
        yield (drawn := draw(card, seed))
        for twist in card.model.twists:
            yield twisted(drawn, twist.set)


@pytest.mark.parametrize("card", QUESTIONS, ids=[card.id for card in QUESTIONS])
def test_no_name_holds_a_number_that_is_drawn_or_computed(card):
    """Another seed would make it false, or a twist."""
    for variant in variants(card):
        moving = {
            f"{value:g}"
            for value in (*variant.values.values(), *variant.truth.values())
            if isinstance(value, float | int)
        }
        for name, computed in card.model.compute.items():
            fixed = set(NUMBER.findall(f"{computed.check} {' '.join(computed.args.values())}"))
            words = set(NUMBER.findall(computed.label))
            assert not words & (moving - fixed), (name, computed.label)
