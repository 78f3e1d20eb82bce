"""A scaffold is a good card at once."""

from __future__ import annotations

import pytest

from core.cards.library import read_bank, read_texts
from core.cards.scaffold import SCAFFOLDS, scaffold
from core.cards.validate import check_bank

BANK = read_bank()


@pytest.mark.parametrize("kind", SCAFFOLDS)
def test_it_checks_without_a_finding(kind):
    place, text = scaffold(kind, "serving", "made-today", set(BANK.topics))
    bank = read_texts({place: text.encode()})
    bank.sources, bank.topics = BANK.sources, BANK.topics
    bank.places = BANK.places
    assert check_bank(bank, seeds=20) == []
    assert len(bank.cards) == 1


@pytest.mark.parametrize(
    ("topic", "slug", "says"),
    [
        ("serving", "Upper", "no slug"),
        ("serving", "../up", "no slug"),
        ("serving", "", "no slug"),
        ("nowhere", "a", "no topic; there are"),
        ("../up", "a", "no topic: lower case"),
    ],
)
def test_names_are_refused_in_words(topic, slug, says):
    with pytest.raises(ValueError, match=says):
        scaffold("drill", topic, slug, {"serving"})


def test_without_topics_a_path_is_still_refused():
    with pytest.raises(ValueError, match="no topic"):
        scaffold("drill", "../../etc", "a", set())
