"""Open a room: the fields of its first event, which pin what the room plays and what the core computes for it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from core.cards.card import Card, short_hash
from core.cards.draw import draw
from core.cards.library import Bank
from core.cards.models import Level
from core.mock.events import Opened
from core.mock.plan import plan_of
from core.mock.reading import Pack
from core.mock.state import RoomState

_DIGITS = 9  # two machines may differ in the last bits of a float, not in these


def opening(pack: Pack, bank: Bank, *, level: Level, seed: int | None = None, solo: bool = False) -> dict[str, Any]:
    """The fields of the ``opened`` event, for :func:`core.mock.fold.prepare`.

    Args:
        seed: of all cards' numbers; None takes those that the pack names.

    Raises:
        DrawError: a card has no variant for this seed.
        PlanError: a card is not in the bank.
    """
    plan = plan_of(pack, bank)
    seeds = plan.seeds if seed is None else dict.fromkeys(plan.seeds, seed)
    return {
        "pack": pack.id,
        "content_hash": plan.content_hash,
        "truth_hash": truth_hash(seeds, bank),
        "seed": seed,
        "level": level,
        "solo": solo,
    }


def session_name(opened_at: float, opened: Opened) -> str:
    """Twelve hexadecimal digits that name a session wherever it is restored.

    Args:
        opened_at: of the log's first event. [s since 1970]
    """
    return short_hash(repr(opened_at), opened.model_dump_json())


def holder_of(browser: str, session: str) -> str:
    """A browser's name in one session: its own would tell who sat in which rooms, also in what is exported."""
    return f"h{hashlib.sha256(f'{session} {browser}'.encode()).hexdigest()[:21]}"


def truth_hash(seeds: Mapping[str, int], bank: Bank) -> str:
    """Twelve hexadecimal digits over every number that the core computes for these cards and seeds.

    Raises:
        DrawError: a card has no variant for its seed.
    """
    parts = []
    for card_id, seed in sorted(seeds.items()):
        card = bank.cards[card_id]
        assert isinstance(card, Card)
        parts += [f"{card_id}.{name}={value:.{_DIGITS}g}" for name, value in draw(card, seed).truth.items()]
    return short_hash(*parts)


def changes(state: RoomState, bank: Bank) -> tuple[str, ...]:
    """What has changed since the room was opened, in words: the pack or a card, or what the core computes."""
    found = []
    if state.content_changed:
        found.append("The pack or one of its cards has been edited since this room was opened: texts may differ.")
    if state.opened is not None and state.opened.truth_hash not in ("", truth_hash(state.seeds, bank)):
        found.append("The core computes other numbers for these cards than when this room was opened.")
    return tuple(found)
