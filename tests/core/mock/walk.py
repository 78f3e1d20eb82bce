"""Every text that is reachable from a value, and every text of a pack that a candidate must not get."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from core.cards.check_text import texts as card_texts
from core.cards.draw import draw, twisted
from core.cards.models import Question
from core.mock.check import pack_texts
from core.mock.reading import Pack
from core.mock.state import RoomState
from tests.core.mock.made import bank, pack

PUBLIC_FIELDS = {"title", "about"}


def strings(value: Any) -> Iterator[str]:
    """Texts and numbers inside a view, however deep, as texts."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int | float):
        yield repr(value)
    elif isinstance(value, BaseModel):
        yield from strings(dict(value))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for item in dataclasses.fields(value):
            yield from strings(getattr(value, item.name))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from strings(key)
            yield from strings(item)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from strings(item)
    else:
        raise TypeError(f"a view holds a {type(value).__name__}")


def on_a_candidates_card(state: RoomState) -> set[str]:
    """Which of the private texts a candidate's scorecard has: each item's title, and of its levels the one reached."""
    found = set()
    for key, item in state.plan.items.items():
        level = state.ratings[state.lead].scores.get(key)
        found |= {f"{item.card} rubric.{item.item}.{part}" for part in ("observe", level)}
    return found


def private_texts(state: RoomState, played: Pack | None = None) -> dict[str, str]:
    """Texts of the pack and its cards that are private in this state, by where they stand, with numbers put in."""
    found: dict[str, str] = {}
    model_of_pack = (played or pack()).model
    cards = {card_id: bank().cards[card_id] for card_id in state.seeds}
    variants = {card_id: draw(card, state.seeds[card_id]) for card_id, card in cards.items()}
    begun = {phase for phase, _ in state.time.begun}
    released = {(twist.card, twist.twist) for twist in state.twists if twist.public}
    for field, (card_id, text) in pack_texts(model_of_pack).items():
        parts = field.split(".")
        if field in PUBLIC_FIELDS or (parts[0] == "phases" and parts[2] == "name" and int(parts[1]) in begun):
            continue
        if parts[0] == "events" and parts[2] == "say" and (None, model_of_pack.events[int(parts[1])].id) in released:
            continue
        found[f"pack {field}"] = variants[card_id].fill(text) if card_id else text
    for card_id, card in cards.items():
        variant, model = variants[card_id], card.model
        for field, text in card_texts(card).items():
            parts = field.split(".")
            if field == "## Prompt" and (card_id in state.shown_cards or card_id in state.drills):
                continue
            if parts[0] == "clarify" and (card_id, int(parts[1])) in state.replies:
                continue
            if parts[0] == "hints" and any((h.card, h.hint) == (card_id, int(parts[1]) + 1) for h in state.hints):
                continue
            if parts[0] == "twists" and parts[2] == "say" and (card_id, parts[1]) in released:
                continue
            if parts[0] == "twists" and parts[2] == "expect":
                assert isinstance(model, Question)
                twist = next(twist for twist in model.twists if twist.id == parts[1])
                found[f"{card_id} {field}"] = twisted(variant, twist.set).fill(text)
            else:
                found[f"{card_id} {field}"] = variant.fill(text)
        for name, value in variant.truth.items():
            if value not in variant.values.values():
                found[f"{card_id} truth {name}"] = repr(value)
    return found
