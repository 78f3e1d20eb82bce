"""Rooms: an append-only log of events each, opened by secret links, with limits, expiry and presence.

What an event means is the caller's (:mod:`core.mock`); here it is an actor, a kind and a JSON payload. The sequence
numbers of a room count 1, 2, 3 without a gap: its row is incremented in the transaction that writes the event, so
writers of one room wait for each other, and on PostgreSQL those of different rooms do not.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Engine, bindparam, case, delete, func, insert, or_, select, update

from core.storage.engine import open_database, reading, writing
from core.storage.errors import NotARoom, RoomFull, TooLarge, TooManyRooms
from core.storage.records import Draft, Limits, NewRoom, Seen, StoredEvent
from core.storage.tables import EVENTS, META, ROOMS, SEATS, TOKENS

ROLES = ("interviewer", "rater", "candidate", "observer")
HOSTED_LIFETIME_S = 24 * 3600.0
PURGE_EVERY_S = 3600.0
TOKEN_BYTES = 16  # 128 bits
PRESENCE_KEPT_S = 3600.0

# Asked by every open tab every second, so built once.
_REVISION = select(ROOMS.c.revision).where(
    ROOMS.c.id == bindparam("room"), or_(ROOMS.c.expires.is_(None), ROOMS.c.expires > bindparam("now"))
)

_ROOM = re.compile(r"[a-z2-7]{8}")  # of base 32: 40 bits, to be read aloud; it opens nothing by itself
_CLIENT_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_GONE = "This room does not exist here, or not any more: it was deleted, or its time is over."
_WRONG_LINK = "This link does not open a room: it is incomplete, was replaced by a newer one, or its room is gone."


@dataclass(frozen=True)
class RoomStore:
    """The rooms of one database; one object for the process, used by any thread.

    Args:
        engine: from :func:`core.storage.engine.open_database`.
        lifetime_s: a room's life from its making; None keeps it until it is deleted. [s]
        clock: the server's time. [s since 1970]
    """

    engine: Engine
    lifetime_s: float | None = None
    limits: Limits = field(default_factory=Limits)
    clock: Callable[[], float] = time.time
    _purged: dict[str, float] = field(default_factory=dict, repr=False, compare=False)  # when last, in this process

    @classmethod
    def open(cls, url: str | None = None, *, hosted: bool = False) -> RoomStore:
        """The store at a URL (by default as :func:`core.storage.engine.database_url` says).

        Raises:
            StorageError: it cannot be opened.
        """
        store = cls(open_database(url), HOSTED_LIFETIME_S if hosted else None)
        store.purge()
        return store

    def purge_when_due(self) -> None:
        """Remove the rooms whose time is over, at most once an hour: on a server where nobody makes one they end too.

        Raises:
            StorageError: the database refused; asked again after an hour.
        """
        now = self.now()
        if self.lifetime_s is not None and now - self._purged.get("at", 0.0) >= PURGE_EVERY_S:
            self._purged["at"] = now
            self.purge()

    def now(self) -> float:
        """The server's time, the only one that counts."""
        return self.clock()

    def create_room(self, first: Draft | None = None, *, address: str | None = None) -> NewRoom:
        """Make a room, with its first event if one is given.

        Args:
            address: who asks, as an IP address say; only a salted hash of it is kept, as long as the room.

        Raises:
            TooManyRooms: by this address, or on this server.
            StorageError: the database refused.
        """
        return self.restore_room([first] if first else [], address=address)

    def restore_room(self, drafts: Sequence[Draft], *, address: str | None = None) -> NewRoom:
        """Make a room from the events of another, in their order; links are new.

        Raises:
            TooManyRooms, TooLarge, RoomFull: over a limit.
            StorageError: the database refused.
        """
        payloads = [self._payload(draft.kind, draft.payload) for draft in drafts]
        if len(drafts) > self.limits.events_per_room or sum(map(len, payloads)) > self.limits.bytes_per_room:
            raise RoomFull(self._full(len(drafts)))
        now = self.now()
        room = "".join(secrets.choice("abcdefghijklmnopqrstuvwxyz234567") for _ in range(8))
        tokens = {role: secrets.token_urlsafe(TOKEN_BYTES) for role in ROLES}
        times = _rising((draft.at if draft.at is not None else now for draft in drafts), now)
        with writing(self.engine, "restore_room") as connection:
            self._purge(connection, now)
            hashed = self._refuse_too_many(connection, address, now)
            connection.execute(
                insert(ROOMS).values(
                    id=room,
                    created=now,
                    expires=None if self.lifetime_s is None else now + self.lifetime_s,
                    address=hashed,
                    revision=len(drafts),
                    at=times[-1] if times else now,
                    bytes=sum(map(len, payloads)),
                )
            )
            connection.execute(
                insert(TOKENS), [{"room": room, "role": role, "hash": _hash(token)} for role, token in tokens.items()]
            )
            if drafts:
                rows = [
                    _row(room, seq, at, draft.actor, draft.kind, payload, f"restored:{seq}")
                    for seq, (at, draft, payload) in enumerate(zip(times, drafts, payloads, strict=True), start=1)
                ]
                connection.execute(insert(EVENTS), rows)
        return NewRoom(room, tokens)

    def role_of(self, room: str, token: str) -> str:
        """Whose link this is.

        Raises:
            NotARoom: nobody's: wrong, replaced, of another room, or the room is gone; the sentence does not say which.
        """
        known: dict[str, str] = {}
        if _ROOM.fullmatch(room):
            with reading(self.engine, "role_of") as connection:
                rows = connection.execute(
                    select(TOKENS.c.role, TOKENS.c.hash)
                    .join(ROOMS, ROOMS.c.id == TOKENS.c.room)
                    .where(self._live(room))
                )
                known = {row.role: row.hash for row in rows}
        given, found = _hash(token), None
        for role in ROLES:  # all four, each in constant time
            if hmac.compare_digest(given, known.get(role, "")):
                found = role
        if found is None:
            raise NotARoom(_WRONG_LINK)
        return found

    def rotate(self, room: str, role: str) -> str:
        """A new secret for a role; the old link opens nothing from now on.

        Raises:
            NotARoom: the room is gone.
        """
        token = secrets.token_urlsafe(TOKEN_BYTES)
        with writing(self.engine, "rotate") as connection:
            self._revision(connection, room)
            hit = (TOKENS.c.room == room) & (TOKENS.c.role == role)
            if connection.execute(update(TOKENS).where(hit).values(hash=_hash(token))).rowcount != 1:
                raise ValueError(f"{role!r} is no role; there are {', '.join(ROLES)}")
        return token

    def append(
        self, room: str, actor: str, kind: str, payload: Mapping[str, Any], *, client_id: str, token: str | None = None
    ) -> int:
        """Write one event and return its seq; it is on the disk by then.

        The same ``client_id`` again (a retry after a lost answer) writes nothing and returns the first one's seq.

        Args:
            token: of the actor's link; one that was replaced by then writes nothing. None: the server itself writes.

        Raises:
            NotARoom: the room is gone, or the link was replaced.
            TooLarge, RoomFull: over a limit.
            StorageError: the database refused; nothing was written.
        """
        if not _CLIENT_ID.fullmatch(client_id):
            raise ValueError(f"client_id={client_id[:80]!r}: 1 to 64 letters, digits and _ . : -")
        text = self._payload(kind, payload)
        now = self.now()
        with writing(self.engine, "append") as connection:
            grown = (
                update(ROOMS)
                .where(self._live(room))
                .values(
                    revision=ROOMS.c.revision + 1,
                    bytes=ROOMS.c.bytes + len(text),
                    at=case((ROOMS.c.at > now, ROOMS.c.at), else_=now),
                )
                .returning(ROOMS.c.revision, ROOMS.c.bytes, ROOMS.c.at)
            )
            row = connection.execute(grown).one_or_none()  # holds the room's row from here on
            if row is None:
                raise NotARoom(_GONE)
            if token is not None:
                self._check_link(connection, room, actor, token)
            earlier = select(EVENTS.c.seq).where(EVENTS.c.room == room, EVENTS.c.client_id == client_id)
            if (seq := connection.execute(earlier).scalar()) is not None:
                connection.rollback()
                return int(seq)
            if row.revision > self.limits.events_per_room or row.bytes > self.limits.bytes_per_room:
                raise RoomFull(self._full(row.revision))
            connection.execute(insert(EVENTS), [_row(room, row.revision, row.at, actor, kind, text, client_id)])
        return int(row.revision)

    def events(self, room: str, after_seq: int = 0) -> list[StoredEvent]:
        """The log after a seq, in order.

        Raises:
            NotARoom: the room is gone.
        """
        with reading(self.engine, "events") as connection:
            self._revision(connection, room)
            later = select(EVENTS).where(EVENTS.c.room == room, EVENTS.c.seq > after_seq).order_by(EVENTS.c.seq)
            rows = connection.execute(later).all()
        return [
            StoredEvent(row.seq, row.at, row.actor, row.kind, json.loads(row.payload), row.client_id) for row in rows
        ]

    def revision(self, room: str) -> int:
        """The seq of the last event, by one read of one row.

        Raises:
            NotARoom: the room is gone.
        """
        with reading(self.engine, "revision") as connection:
            return self._revision(connection, room)

    def expires(self, room: str) -> float | None:
        """When the room ends; None for never.

        Raises:
            NotARoom: it is gone.
        """
        with reading(self.engine, "expires") as connection:
            row = connection.execute(select(ROOMS.c.expires).where(self._live(room))).one_or_none()
        if row is None:
            raise NotARoom(_GONE)
        return None if row.expires is None else float(row.expires)

    def delete_room(self, room: str) -> None:
        """Remove a room with its log, links and presence; one that is gone already is no error."""
        with writing(self.engine, "delete_room") as connection:
            _delete(connection, [room])

    def touch(self, room: str, role: str, holder: str) -> None:
        """Note that a tab is there now. It is no event: the log and its revision stay as they are.

        Raises:
            NotARoom: the room is gone.
        """
        if not _CLIENT_ID.fullmatch(holder):
            raise ValueError(f"{holder[:80]=}: 1 to 64 letters, digits and _ . : -")
        now = self.now()
        tab = (SEATS.c.room == room) & (SEATS.c.role == role) & (SEATS.c.holder == holder)
        with writing(self.engine, "touch") as connection:
            self._revision(connection, room)
            if connection.execute(update(SEATS).where(tab).values(seen=now)).rowcount == 0:
                connection.execute(delete(SEATS).where(SEATS.c.room == room, SEATS.c.seen < now - PRESENCE_KEPT_S))
                connection.execute(insert(SEATS).values(room=room, role=role, holder=holder, seen=now))

    def presence(self, room: str) -> list[Seen]:
        """The tabs of the last hour, the latest first."""
        with reading(self.engine, "presence") as connection:
            rows = connection.execute(select(SEATS).where(SEATS.c.room == room).order_by(SEATS.c.seen.desc())).all()
        return [Seen(row.role, row.holder, row.seen) for row in rows]

    def purge(self) -> int:
        """Remove the rooms whose time is over; returns how many. Opening the store and making a room do so as well."""
        with writing(self.engine, "purge") as connection:
            return self._purge(connection, self.now())

    def _live(self, room: str) -> Any:
        """The room's row, if its time is not over."""
        shape = room if _ROOM.fullmatch(room) else ""  # PostgreSQL refuses some texts, a null character say
        return (ROOMS.c.id == shape) & or_(ROOMS.c.expires.is_(None), ROOMS.c.expires > self.now())

    def _revision(self, connection: Connection, room: str) -> int:
        shape = room if _ROOM.fullmatch(room) else ""  # PostgreSQL refuses some texts, a null character say
        revision = connection.execute(_REVISION, {"room": shape, "now": self.now()}).scalar()
        if revision is None:
            raise NotARoom(_GONE)
        return int(revision)

    def _check_link(self, connection: Connection, room: str, role: str, token: str) -> None:
        """In a transaction that writes: whoever replaces the link waits until it is done (SQLite has one writer)."""
        own = select(TOKENS.c.hash).where(TOKENS.c.room == room, TOKENS.c.role == role).with_for_update(read=True)
        if not hmac.compare_digest(_hash(token), connection.execute(own).scalar() or ""):
            raise NotARoom(_WRONG_LINK)

    def _payload(self, kind: str, payload: Mapping[str, Any]) -> str:
        text = json.dumps(payload, separators=(",", ":"), allow_nan=False)
        if len(text) > self.limits.payload_bytes:
            rule = f"at most {self.limits.payload_bytes / 1000:.0f} kB are kept at once"
            raise TooLarge(f"This is too long: {len(text) / 1000:.0f} kB ({kind}), and {rule}. Nothing was saved.")
        return text

    def _full(self, entries: int) -> str:
        """Of a room that would have so many; where these are no more than it may have, its texts are."""
        most = f"{self.limits.events_per_room:,} entries"
        if entries <= self.limits.events_per_room:
            most = f"{self.limits.bytes_per_room / 1e6:g} MB of text"
        return f"This room is full: it holds at most {most}. Export the scorecard and open a new room."

    def _refuse_too_many(self, connection: Connection, address: str | None, now: float) -> str | None:
        count = select(func.count()).select_from(ROOMS)
        if connection.execute(count).scalar_one() >= self.limits.rooms:
            raise TooManyRooms("This server holds as many rooms as it can. Try again later, or run it on your machine.")
        if address is None:
            return None
        salt = connection.execute(select(META.c.value).where(META.c.key == "salt")).scalar_one()
        hashed = _hash(f"{salt}{address}")
        recent = count.where(ROOMS.c.address == hashed, ROOMS.c.created > now - self.limits.address_window_s)
        if connection.execute(recent).scalar_one() >= self.limits.rooms_per_address:
            hours = self.limits.address_window_s / 3600
            raise TooManyRooms(
                f"{self.limits.rooms_per_address} rooms were opened from here within {hours:g} hours, and no more are "
                "allowed. Delete one that you no longer need, or come back later."
            )
        return hashed

    def _purge(self, connection: Connection, now: float) -> int:
        over = [row.id for row in connection.execute(select(ROOMS.c.id).where(ROOMS.c.expires <= now).limit(500))]
        _delete(connection, over)
        return len(over)


def _delete(connection: Connection, rooms: Sequence[str]) -> None:
    named = [room for room in rooms if _ROOM.fullmatch(room)]
    if named:
        for column in (EVENTS.c.room, SEATS.c.room, TOKENS.c.room, ROOMS.c.id):
            connection.execute(delete(column.table).where(column.in_(named)))


def _hash(secret: str) -> str:
    """Of 128 random bits nobody can guess the text from its hash, so no slow hash is needed."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _rising(times: Iterable[float], now: float) -> list[float]:
    """The times of restored events: never falling, and none in the future."""
    rising: list[float] = []
    for at in times:
        rising.append(max(min(at, now), rising[-1] if rising else at if at < now else now))
    return rising


def _row(room: str, seq: int, at: float, actor: str, kind: str, payload: str, client_id: str) -> dict[str, Any]:
    return {
        "room": room,
        "seq": seq,
        "at": at,
        "actor": actor,
        "kind": kind,
        "payload": payload,
        "client_id": client_id,
    }
