"""The table of numbers: what was asked, what was said, what is true, how far off, how sure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.cards.draw import Variant, computations
from core.cards.grading import DrillGrade, grade_drill
from core.cards.models import Drill
from core.cards.quantities import UnitError
from core.cards.typed import read_answer
from core.mock.state import RoomState
from core.mock.truth import CardTruth

CLAIM_RTOL = 0.05  # claims are spoken in a few digits; drills have their own tolerance


@dataclass(frozen=True, slots=True)
class NumberRow:
    """``said`` is None where what was typed is no number in a unit of what was asked; ``unit`` is that of both."""

    ask: str
    typed: str
    said: float | None
    truth: float
    unit: str
    rtol: float
    confidence: int | None

    @property
    def right(self) -> bool:
        """Within the tolerance."""
        return self.said is not None and abs(self.said - self.truth) <= self.rtol * abs(self.truth)


def drill_grade(variant: Variant, typed: str) -> DrillGrade | None:
    """A typed answer graded; None where it cannot be read."""
    try:
        return grade_drill(variant, typed)
    except UnitError:
        return None


def number_rows(state: RoomState, cards: Mapping[str, CardTruth]) -> tuple[NumberRow, ...]:
    """Locked answers, then the claims that were set beside a number of a card, at the truth of that moment."""
    rows = []
    for drill_id, answer in state.answers.items():
        variant = cards[drill_id].base
        model = variant.card.model
        assert isinstance(model, Drill)
        grade = drill_grade(variant, answer.text)
        said = None if grade is None else grade.guess
        rows.append(
            NumberRow(
                model.title, answer.text, said, variant.answer, model.answer.unit, model.answer.rtol, answer.confidence
            )
        )
    return (*rows, *checked_rows(state, cards).values())


def checked_rows(state: RoomState, cards: Mapping[str, CardTruth]) -> dict[str, NumberRow]:
    """The claims that were set beside a number of a card, by their row."""
    rows = {}
    for row, checked in state.checked.items():
        claim, variant = state.claims[row], cards[checked.card].at(checked.mark.twists)
        unit = computations(variant.card)[checked.number].unit
        typed = f"{claim.number} {claim.unit}".strip()
        try:
            value = read_answer(typed, unit).value
        except UnitError:
            value = None
        truth = variant.truth[checked.number]
        rows[row] = NumberRow(claim.claim, typed, value, truth, unit, CLAIM_RTOL, claim.confidence)
    return rows
