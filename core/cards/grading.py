"""Grade an answer: a drill's number against the truth, a multiple-choice pick against its key."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from core.cards.draw import Variant
from core.cards.expressions import ExpressionError
from core.cards.mcq import McqCard, Option
from core.cards.models import Drill, KnownSlip, Question
from core.cards.typed import read_answer
from core.prediction import within_2x


@dataclass(frozen=True, slots=True)
class DrillGrade:
    """A graded number in the unit that was asked."""

    guess: float
    truth: float
    read_as: str
    correct: bool
    within_2x: bool
    slip: KnownSlip | None


def grade_drill(variant: Variant, text: str) -> DrillGrade:
    """Grade what a person typed.

    Raises:
        UnitError: it is no number in a unit of what is asked; the sentence says how to write it.
    """
    model = variant.card.model
    assert isinstance(model, Drill)
    given = read_answer(text, model.answer.unit)
    truth = variant.answer
    allowed = model.answer.rtol * abs(truth) + model.answer.atol
    correct = abs(given.value - truth) <= allowed
    slip = None if correct else _slip(variant, given.value)
    return DrillGrade(given.value, truth, given.read_as, correct, within_2x(given.value, truth), slip)


def _slip(variant: Variant, guess: float) -> KnownSlip | None:
    """The known slip that the guess matches within the drill's own tolerance, the nearest if several do."""
    model = variant.card.model
    assert isinstance(model, Drill)
    near: list[tuple[float, KnownSlip]] = []
    for slip in model.partial:
        try:
            value = variant.value_of(slip.expr)
        except ExpressionError:
            continue
        if abs(guess - value) <= model.answer.rtol * abs(value) + model.answer.atol:
            near.append((abs(guess - value), slip))
    return min(near, key=lambda pair: pair[0])[1] if near else None


def weighted_mark(question: Question, scores: Mapping[str, int]) -> float:
    """The mean of an open card's marks, 1 to 4, by the weights of its rubric.

    Args:
        question: the card.
        scores: a mark for each of its rubric items, by id.
    """
    total = sum(item.weight for item in question.rubric)
    return sum(item.weight * scores[item.id] for item in question.rubric) / total


def hints_cost(question: Question, taken: int) -> float:
    """What the first so many hints cost, in points of the mark."""
    return sum(hint.cost for hint in question.hints[:taken])


def shuffled(card: McqCard, seed: int) -> list[Option]:
    """The options of a question in the order of one showing."""
    options = list(card.model.options)
    random.Random(f"{card.id}:{seed}").shuffle(options)
    return options
