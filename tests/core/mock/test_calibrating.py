"""Scripted answers are shown without their scores, then compared item by item."""

from __future__ import annotations

import pytest

from core.mock.calibrating import compared, scripted
from core.mock.reading import read_mocks
from tests.core.mock.made import ITEMS, PACK, bank
from tests.core.mock.walk import strings

ANSWERS = read_mocks().calibrations[PACK]


def test_an_answer_comes_with_the_rubric_and_without_its_scores():
    items, answers = scripted(ANSWERS, bank())
    assert tuple(item.item for item in items) == ITEMS
    assert [answer.number for answer in answers] == [0, 1, 2]
    assert answers[1].text.count("46.7%") == 1
    shown = "\n".join(strings((items, answers)))
    reasons = [score.why for answer in ANSWERS.model.answers().values() for score in answer.scores.values()]
    assert [why for why in reasons if why in shown] == []
    assert "{{" not in shown


def test_scores_are_compared_with_reasons_and_an_offset():
    own = {0: dict.fromkeys(ITEMS, 2), 2: {"define": 4, "plan": 1}}
    rows, offset = compared(ANSWERS, bank(), own)
    assert [row.name for row in rows] == ["weak", "strong"]
    assert [difference.apart for difference in rows[0].items] == [1, 1, 1, 1]
    assert [(row.item, row.apart) for row in rows[1].items] == [
        ("define", 0),
        ("arithmetic", None),
        ("causes", None),
        ("plan", 2),
    ]
    assert offset == pytest.approx((4 * 1 + 0 - 2) / 6)
    assert rows[0].overall == "no hire"


def test_nothing_scored_is_nothing_compared():
    assert compared(ANSWERS, bank(), {}) == ((), None)
