"""Marks by competency: the last ones count, few say nothing, and the bar is the ladder's own."""

from __future__ import annotations

from core.cards.competence import FEWEST_MARKS, LAST_MARKS, standings
from core.cards.library import read_bank

BANK = read_bank()
CARD = BANK.cards["q-bottleneck-mfu-35-hfu-62"]
ITEM = next(item for item in CARD.model.rubric if item.competency == "measurement")


def measured(marks: list[int]):
    found = standings([(CARD.id, {ITEM.id: mark}) for mark in marks], BANK.cards, BANK.competencies)
    return next(standing for standing in found if standing.key == "measurement")


def test_every_competency_stands_in_the_list_even_without_marks():
    found = standings([], BANK.cards, BANK.competencies)
    assert [standing.key for standing in found] == list(BANK.competencies)
    assert all(standing.mean is None and standing.reached is None for standing in found)


def test_few_marks_reach_no_bar():
    assert measured([4] * (FEWEST_MARKS - 1)).reached is None
    assert measured([4] * FEWEST_MARKS).reached == "staff"


def test_the_bar_is_that_of_the_ladder():
    expected = BANK.competencies["measurement"].expected
    assert measured([expected["senior"]] * 4).reached == "senior"
    assert measured([expected["mid"]] * 4).reached == "mid"
    assert measured([1] * 4).reached is None


def test_only_the_last_marks_count():
    standing = measured([1] * 20 + [4] * LAST_MARKS)
    assert (standing.mean, standing.marks) == (4, LAST_MARKS)


def test_cards_and_items_that_are_gone_are_left_out():
    found = standings([("q-gone", {"x": 4}), (CARD.id, {"gone": 4})], BANK.cards, BANK.competencies)
    assert all(standing.marks == 0 for standing in found)
