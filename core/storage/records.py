"""What goes into the store of rooms and comes out of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a room and a server hold."""

    payload_bytes: int = 65_536
    events_per_room: int = 20_000  # one a second for five hours
    bytes_per_room: int = 32_000_000
    rooms_per_address: int = 12  # within address_window_s
    address_window_s: float = 24 * 3600.0
    rooms: int = 5_000


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """One line of a room's log; ``at`` is the server's time in seconds since 1970."""

    seq: int
    at: float
    actor: str
    kind: str
    payload: Mapping[str, Any]
    client_id: str


@dataclass(frozen=True, slots=True)
class NewRoom:
    """A room's code and its four secrets by role: the only time that they are seen, as only hashes are kept."""

    room: str
    tokens: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Seen:
    """One open tab of a room, and when it last said so."""

    role: str
    holder: str
    at: float


@dataclass(frozen=True, slots=True)
class Draft:
    """An event to be stored."""

    actor: str
    kind: str
    payload: Mapping[str, Any] = field(default_factory=dict)
    at: float | None = None  # of an event that is restored; else now
