"""The rooms that this browser has opened, with their links: kept in the browser alone, since the server has hashes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from core.storage.records import NewRoom
from views._ui import store

KEY, SCHEMA, MOST = "mock-rooms", "mock-rooms/1", 40


@dataclass(frozen=True, slots=True)
class OwnRoom:
    """A room and its links' tokens by role; ``at`` is when it was made, in seconds since 1970."""

    room: str
    title: str
    level: str
    at: float
    tokens: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class OwnRooms:
    """The list, the latest first, and the store that it lies in."""

    kept: store.Store

    @property
    def rooms(self) -> tuple[OwnRoom, ...]:
        """All of them; none before the browser has answered."""
        return read(self.kept.text) if self.kept.text else ()

    def add(self, new: NewRoom, title: str, level: str, at: float) -> None:
        """Remember a room that was made now."""
        self.kept.save(written((OwnRoom(new.room, title, level, at, new.tokens), *self.rooms)))

    def remove(self, room: str) -> None:
        """Forget a room."""
        self.kept.save(written(tuple(own for own in self.rooms if own.room != room)))


def mount() -> OwnRooms:
    """Connect a page to the list in the browser."""
    return OwnRooms(store.mount(KEY, merge=_merged, check=read))


def read(text: str) -> tuple[OwnRoom, ...]:
    """The rooms of a stored text.

    Raises:
        ValueError: it is none of ours.
    """
    data = json.loads(text)
    if not isinstance(data, dict) or data.get("schema") != SCHEMA or not isinstance(data.get("rooms"), list):
        raise ValueError("This is no list of rooms.")
    return tuple(_room(row) for row in data["rooms"])


def written(rooms: tuple[OwnRoom, ...]) -> str:
    """The text of a list: each room once, the latest first, the oldest left out."""
    by_id = {own.room: own for own in sorted(rooms, key=lambda own: own.at)}
    rows = [asdict(own) for own in sorted(by_id.values(), key=lambda own: -own.at)[:MOST]]
    return json.dumps({"schema": SCHEMA, "rooms": rows}, ensure_ascii=False)


def _room(row: object) -> OwnRoom:
    if not isinstance(row, dict) or not isinstance(row.get("tokens"), dict):
        raise ValueError("This is no list of rooms.")
    tokens = {str(role): str(token) for role, token in row["tokens"].items()}
    try:
        return OwnRoom(str(row["room"]), str(row["title"]), str(row["level"]), float(row["at"]), tokens)
    except (KeyError, TypeError):
        raise ValueError("This is no list of rooms.") from None


def _merged(one: str, other: str) -> str:
    return written((*read(one), *read(other)))
