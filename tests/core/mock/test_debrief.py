"""The debrief sets both ratings side by side, and holds no word of the rubric."""

from __future__ import annotations

import pytest

from core.cards.models import Question
from core.mock.debrief import competency_gaps, debrief_of
from core.mock.scoring import item_scores
from core.mock.truth import truths
from tests.core.mock.made import CARD, at_phase, bank, scored, whole
from tests.core.mock.walk import strings


def test_it_shows_scores_self_rating_numbers_and_next_drills():
    state = whole(level=2).state
    debrief = debrief_of(state, truths(state, bank()), bank())
    assert (debrief.overall.judgement, debrief.self_rating.overall) == ("lean hire", "lean no")
    gaps = {gap.competency: (gap.score, gap.own) for gap in debrief.gaps}
    assert gaps["quantitative"] == (1.75, 2)  # level 2 less a hint of 0.25
    assert gaps["measurement"] == (2.0, None)
    assert len(debrief.numbers) == 2
    assert debrief.next_drills[0] == "d-bottleneck-mfu"
    assert debrief.mean == pytest.approx((2 + 2 * 1.75 + 2 * 2 + 2 * 2) / 7)


def test_no_word_of_the_rubric_is_in_it():
    state = whole().state
    shown = "\n".join(strings(debrief_of(state, truths(state, bank()), bank())))
    model = bank().cards[CARD].model
    assert isinstance(model, Question)
    rubric = [text for item in model.rubric for text in (item.observe, *item.levels.values())]
    assert [text for text in rubric if text in shown] == []
    assert "nervous" not in shown  # the private note


def test_before_both_have_committed_there_is_none():
    state = scored(at_phase(7)).state
    with pytest.raises(AssertionError):
        debrief_of(state, truths(state, bank()), bank())
    assert [gap.own for gap in competency_gaps(state, item_scores(state, "interviewer"), bank())] == [None] * 4
