"""Calibrate an interviewer: score three scripted answers, then see item by item where the scores differ, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.cards.card import Card
from core.cards.draw import draw
from core.cards.library import Bank
from core.cards.models import Question
from core.mock.agreement import ItemDifference, severity
from core.mock.check import question_of
from core.mock.pack import ANSWERS, Judgement
from core.mock.reading import CalibrationAnswers


@dataclass(frozen=True, slots=True)
class ScriptedItem:
    """A rubric item as it is shown for scoring."""

    item: str
    observe: str
    levels: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class ScriptedAnswer:
    """One answer to be scored, with its numbers put in; nothing of its scores is in it."""

    number: int
    prompt: str
    text: str


@dataclass(frozen=True, slots=True)
class AnswerDifference:
    """One answer after it was scored: both scores by item, the author's reasons, and the author's judgement."""

    name: str
    items: tuple[ItemDifference, ...]
    whys: Mapping[str, str]
    overall: Judgement
    why: str


def scripted(answers: CalibrationAnswers, bank: Bank) -> tuple[tuple[ScriptedItem, ...], tuple[ScriptedAnswer, ...]]:
    """The rubric and the answers in their order: weak, mixed, strong; the page may shuffle them by ``number``."""
    card, question = _card(answers, bank)
    variant = draw(card, answers.model.seed)
    items = tuple(
        ScriptedItem(
            item.id, variant.fill(item.observe), {level: variant.fill(text) for level, text in item.levels.items()}
        )
        for item in question.rubric
    )
    prompt = variant.fill(card.sections["Prompt"])
    texts = (variant.fill(answers.sections[name.capitalize()]) for name in ANSWERS)
    return items, tuple(ScriptedAnswer(number, prompt, text) for number, text in enumerate(texts))


def compared(
    answers: CalibrationAnswers, bank: Bank, own: Mapping[int, Mapping[str, int]]
) -> tuple[tuple[AnswerDifference, ...], float | None]:
    """Differences of the answers that were scored, and the mean offset of own scores: above zero is milder.

    Args:
        own: levels by the number of the answer and by item; answers and items that are not there are left out.
    """
    card, _ = _card(answers, bank)
    variant = draw(card, answers.model.seed)
    rows, mine, theirs = [], [], []
    for number, name in enumerate(ANSWERS):
        if number not in own:
            continue
        model = answers.model.answers()[name]
        items = []
        for item, score in model.scores.items():
            items.append(ItemDifference(item, own[number].get(item), score.level))
            if item in own[number]:
                mine.append(own[number][item])
                theirs.append(score.level)
        whys = {item: variant.fill(score.why) for item, score in model.scores.items()}
        rows.append(AnswerDifference(name, tuple(items), whys, model.overall, variant.fill(model.why)))
    return tuple(rows), severity(mine, theirs) if mine else None


def _card(answers: CalibrationAnswers, bank: Bank) -> tuple[Card, Question]:
    found = question_of(answers.model.card, bank)
    if found is None:
        raise KeyError(answers.model.card)
    return found
