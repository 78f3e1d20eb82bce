"""What scores add up to: weights, hints, the bar of a seniority, and drills for what is weak."""

from __future__ import annotations

import pytest

from core.mock.scoring import (
    JUDGEMENTS,
    ItemScore,
    item_scores,
    judgement_gap,
    nearest_judgement,
    next_drills,
    weighted_mean,
)
from tests.core.mock.made import CARD, DRILL, at_phase, bank, opened


def score(key="a", level=3, weight=1.0, cost=0.0, competency="quantitative", card=CARD) -> ItemScore:
    return ItemScore(key, card, key, competency, weight, level, True, cost, ())


def test_the_mean_goes_by_weight():
    assert weighted_mean([score(level=4, weight=2), score(level=1, weight=1)]) == 3.0


def test_what_was_not_observed_is_left_out():
    assert weighted_mean([score(level=4), score(level=None)]) == 4.0
    assert weighted_mean([score(level=None)]) is None
    assert weighted_mean([]) is None


def test_hints_cost_their_item_down_to_level_one():
    assert score(level=3, cost=0.75).after_hints == 2.25
    assert score(level=1, cost=0.75).after_hints == 1.0
    assert score(level=None, cost=1).after_hints is None


def test_hints_are_added_up_by_the_item_they_touch():
    room = at_phase(2)
    room.does("interviewer", "hint_released", card=CARD, hint=1, item="arithmetic")
    room.does("interviewer", "hint_released", card=CARD, hint=2, item="arithmetic")
    room.does("interviewer", "hint_released", card=CARD, hint=3)
    costs = {item.key: item.hint_cost for item in item_scores(room.state, "interviewer")}
    assert costs == {"define": 0, "arithmetic": 0.75, "causes": 0, "plan": 0}


def test_not_observed_and_not_scored_are_told_apart():
    room = opened().does("interviewer", "score_drafted", item="plan", level=0)
    found = {item.key: (item.level, item.scored) for item in item_scores(room.state, "interviewer")}
    assert found["plan"] == (None, True)
    assert found["define"] == (None, False)


@pytest.mark.parametrize(
    ("seniority", "level", "judgement"),
    [
        # competencies.yaml expects 2, 3 and 4 for numbers at the three seniorities.
        *[("mid", 1, "lean no"), ("mid", 2, "lean hire"), ("mid", 3, "strong hire")],
        *[("senior", 1, "no hire"), ("senior", 2, "lean no"), ("senior", 3, "lean hire"), ("senior", 4, "strong hire")],
        *[("staff", 2, "no hire"), ("staff", 3, "lean no"), ("staff", 4, "lean hire")],
    ],
)
def test_the_same_level_reads_otherwise_at_another_seniority(seniority, level, judgement):
    assert nearest_judgement([score(level=level)], seniority, bank().competencies) == judgement


def test_nothing_observed_reads_as_nothing():
    assert nearest_judgement([score(level=None)], "mid", bank().competencies) is None


def test_judgements_lie_in_steps():
    assert judgement_gap("no hire", "strong hire") == 3
    assert judgement_gap("lean hire", "lean no") == judgement_gap("lean no", "lean hire") == 1
    assert len(JUDGEMENTS) == 4


def test_drills_come_for_items_at_level_two_or_below_the_weakest_first():
    drills = next_drills([score("a", level=2), score("b", level=1, card="q-serving-serve-175b")], bank())
    assert len(drills) == 5
    assert drills[0] == bank().cards["q-serving-serve-175b"].model.prerequisites[0]
    assert drills[1] == "d-bottleneck-mfu"
    assert all(drill in bank().cards for drill in drills)
    assert len(set(drills)) == 5


def test_no_drill_of_the_session_comes_again_and_none_for_strong_items():
    assert next_drills([score(level=3)], bank()) == ()
    assert "d-bottleneck-mfu" not in next_drills([score(level=1)], bank(), done=["d-bottleneck-mfu", DRILL])


def test_a_hint_can_make_an_item_weak():
    assert next_drills([score(level=3, cost=1.0)], bank()) != ()
