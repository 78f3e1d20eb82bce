"""Fold a log into a state: pure, incremental, and total. What cannot be, by its author, its time or its content, is
passed over.

    state = fold(RoomState(plan), store.events(room))
    state = fold(state, store.events(room, state.seq))       # later: only what is new
    payload = prepare(state, "candidate", "pad", now, text=...)   # raises EventError in words, else append it
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from core.mock import fold_board, fold_rating, fold_session
from core.mock.events import KINDS, Event, EventError, Opened, Payload, read, written
from core.mock.moment import Handler, Moment
from core.mock.roles import RATERS
from core.mock.state import RoomState

HANDLERS: dict[type[Payload], Handler] = {**fold_session.HANDLERS, **fold_board.HANDLERS, **fold_rating.HANDLERS}


def fold(state: RoomState, events: Iterable[Event]) -> RoomState:
    """The state after these events; those that it has already seen, by their seq, are left out."""
    for event in events:
        if event.seq <= state.seq:
            continue
        after = _next(state, event)
        state = replace(state if isinstance(after, str) else after, seq=event.seq)
    return state


def passed_over(state: RoomState, event: Event) -> str:
    """Why the fold leaves an event out that comes next; empty where it takes it."""
    after = _next(state, event)
    return after if isinstance(after, str) else ""


def prepare(state: RoomState, actor: str, kind: str, at: float, **fields: Any) -> dict[str, Any]:
    """The payload of an event that this actor may write now, to be appended to the log.

    Args:
        at: the server's time. [s since 1970]

    Raises:
        EventError: too long, not allowed to this role, or not possible in this state; in words.
    """
    payload = written(kind, fields)
    after = _after(state, payload, Moment(actor, at, state.seq + 1))
    if isinstance(after, str):
        raise EventError(after)
    return payload.model_dump(mode="json", exclude_defaults=True)


def _next(state: RoomState, event: Event) -> RoomState | str:
    payload = read(event.kind, event.payload) if math.isfinite(event.at) else None
    if payload is None:
        return "This version of the app cannot read such an event."
    return _after(state, payload, Moment(event.actor, event.at, event.seq))


def _after(state: RoomState, payload: Payload, moment: Moment) -> RoomState | str:
    """The next state, or why it stays as it is."""
    if state.opened is None and not isinstance(payload, Opened):
        return "This room has not been opened yet."
    if moment.actor not in payload.by:
        return f"The link of the {moment.actor} cannot do this."
    if payload.lead and moment.actor in RATERS and moment.actor != state.lead:
        return f"The {state.lead} leads this session: ask for the lead to be handed over."
    if state.time.finished_at is not None and not payload.afterwards:
        return "The session is finished."
    return HANDLERS[type(payload)](state, payload, moment)


assert HANDLERS.keys() == set(KINDS.values())
