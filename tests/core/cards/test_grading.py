"""Answers are graded by the card's tolerance, known slips by name."""

from __future__ import annotations

import pytest

from core.cards.draw import draw
from core.cards.grading import grade_drill, hints_cost, shuffled, weighted_mark
from core.cards.library import read_bank
from core.cards.quantities import UnitError
from tests.core.cards.made import drill, mcq

VARIANT = draw(drill(), 0)  # 52.2388 ms, 3%


@pytest.mark.parametrize("text", ["52.24", "52.24 ms", "0.05224 s", "53.8", "50.7"])
def test_within_the_tolerance_is_right(text):
    grade = grade_drill(VARIANT, text)
    assert grade.correct
    assert grade.slip is None
    assert grade.truth == VARIANT.answer


@pytest.mark.parametrize("text", ["53.9", "50.6", "-52.24", "0", "1e300"])
def test_outside_is_wrong(text):
    assert not grade_drill(VARIANT, text).correct


def test_a_known_slip_is_named():
    full_rate = grade_drill(VARIANT, "41.8")
    assert full_rate.slip is not None
    assert VARIANT.fill(full_rate.slip.say) == "That is at the full rate; 80% of it is reached."
    seconds = grade_drill(VARIANT, "0.0522")
    assert seconds.slip is not None
    assert seconds.slip.say == "Those are seconds."
    assert grade_drill(VARIANT, "47").slip is None


def test_what_is_no_answer_is_refused():
    with pytest.raises(UnitError, match="not a unit of what is asked"):
        grade_drill(VARIANT, "52 GB")


def test_the_estimator_allows_a_factor_of_two():
    assert grade_drill(VARIANT, "104").within_2x
    assert grade_drill(VARIANT, "26.2").within_2x
    assert not grade_drill(VARIANT, "105").within_2x
    assert not grade_drill(VARIANT, "-52").within_2x


def test_options_are_shuffled_by_the_seed():
    orders = {tuple(option.text for option in shuffled(mcq(), seed)) for seed in range(60)}
    assert len(orders) == 6
    assert shuffled(mcq(), 4) == shuffled(mcq(), 4)
    assert set(shuffled(mcq(), 4)) == set(mcq().model.options)


def test_an_open_mark_weighs_its_items_and_hints_cost_what_they_say():
    question = read_bank().cards["q-bottleneck-mfu-35-hfu-62"].model
    scores = {item.id: 1 for item in question.rubric}
    assert weighted_mark(question, scores) == 1
    heavy = max(question.rubric, key=lambda item: item.weight)
    total = sum(item.weight for item in question.rubric)
    assert weighted_mark(question, scores | {heavy.id: 4}) == 1 + 3 * heavy.weight / total
    assert hints_cost(question, 0) == 0
    assert hints_cost(question, 2) == question.hints[0].cost + question.hints[1].cost
