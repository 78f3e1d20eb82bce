"""The validator on whole cards. Its findings are tested in test_planted_faults.py."""

from __future__ import annotations

from core.cards.library import Bank
from core.cards.validate import check_card, check_one
from tests.core.cards.made import drill, mcq, question, read

BANK = read()


def test_good_cards_have_no_finding():
    assert check_card(drill(), BANK, seeds=20) == check_card(question(), BANK, seeds=20) == check_one(mcq(), BANK) == []


def test_each_kind_of_card_is_checked_against_the_bank():
    nothing = Bank(topics=BANK.topics)  # without sources and cards
    for card in (drill(), question(), mcq()):
        assert "sources" in {problem.field for problem in check_one(card, nothing, seeds=1)}
