"""What a handler of the fold gets beside the state: who wrote the event, when, and as which line of the log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar

from core.mock.roles import Role, is_rater
from core.mock.state import Mark, RoomState

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Moment:
    """The frame of one event; ``at`` is the server's time in seconds since 1970."""

    actor: str
    at: float
    seq: int

    def mark(self, state: RoomState) -> Mark:
        """The same in the session's own time."""
        return Mark(state.time.running_s(self.at), state.time.phase, len(state.twists))


Handler = Callable[[RoomState, Any, Moment], RoomState | str]


def seat_of(moment: Moment) -> Role:
    """The actor as a seat that writes; the fold has checked by then that it may write the event."""
    if is_rater(moment.actor):
        return moment.actor
    assert moment.actor == "candidate"
    return "candidate"


def put(table: Mapping[K, V], key: K, value: V) -> Mapping[K, V]:
    """A table with one row set; the old one stays as it is."""
    return MappingProxyType({**table, key: value})


def without(table: Mapping[K, V], key: K) -> Mapping[K, V]:
    """A table with one row less."""
    return MappingProxyType({other: value for other, value in table.items() if other != key})
