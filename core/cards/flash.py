"""Drills and quiz questions as flash cards: a front and a back in plain text, at the author's default numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.cards.card import AnyCard, Card
from core.cards.draw import draw
from core.cards.grading import shuffled
from core.cards.mcq import McqCard
from core.cards.models import Drill
from core.cards.text import with_unit


@dataclass(frozen=True, slots=True)
class Flash:
    """One flash card."""

    id: str
    front: str
    back: str
    tags: tuple[str, ...]


def flash(card: AnyCard) -> Flash | None:
    """A card's two sides; None for what has no short back: open questions, programs and claims."""
    if isinstance(card, McqCard):
        return _mcq(card)
    return _drill(card) if isinstance(card, Card) and isinstance(card.model, Drill) else None


def _drill(card: Card) -> Flash:
    variant, model = draw(card, 0), card.model
    assert isinstance(model, Drill)
    answer = with_unit(variant.answer, model.answer.digits, model.answer.unit)
    steps = [f"{number}. {plain(variant.fill(step))}" for number, step in enumerate(card.steps, start=1)]
    why = plain(variant.fill(card.sections["Why it matters"]))
    return Flash(
        card.id,
        f"{card.title}\n\n{plain(variant.fill(card.sections['Prompt']))}",
        "\n".join([answer, "", *steps, "", why]),
        (card.topic, model.level, f"step-{card.step}"),
    )


def _mcq(card: McqCard) -> Flash:
    options = shuffled(card, 0)
    right = next(option for option in options if option.correct)
    reasons = [f"- {plain(option.text)}: {plain(option.why)}" for option in options]
    return Flash(
        card.id,
        "\n".join([plain(card.model.stem), "", *(f"- {plain(option.text)}" for option in options)]),
        "\n".join([plain(right.text), "", *reasons]),
        (card.topic, card.model.level, f"step-{card.step}"),
    )


def plain(markdown: str) -> str:
    """Our cards' Markdown as plain text: marks of emphasis and code away, a paragraph on one line."""
    paragraphs = [" ".join(part.split()) for part in markdown.split("\n\n")]
    return re.sub(r"\*\*(.+?)\*\*|`(.+?)`", lambda found: found[1] or found[2], "\n\n".join(paragraphs))
