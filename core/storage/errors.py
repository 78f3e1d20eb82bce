"""What can go wrong with a room, in words that a page shows as they are."""

from __future__ import annotations

import logging
import sqlite3
import threading
import time

from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout


class StorageError(Exception):
    """Base of all; nothing was changed when one is raised."""


class Locked(StorageError):
    """Another writer held the database for longer than we wait."""


class Full(StorageError):
    """No room on the disk."""


class Away(StorageError):
    """The database cannot be reached, opened or read."""


class NotARoom(StorageError):
    """No such room, a room that has expired or was deleted, or a link that does not open it."""


class RoomFull(StorageError):
    """The room holds as much as a room may."""


class TooLarge(StorageError):
    """One event that is larger than events may be."""


class TooManyRooms(StorageError):
    """This address, or this server, has opened as many rooms as it may."""


LOCKED = "The room's database is busy. Nothing was saved; try again in a moment."
FULL = "The disk with the rooms is full. Nothing was saved; what was saved before is still there. Free some space."
AWAY = "The room's database cannot be reached. Nothing was saved; what was saved before is still there. Try again soon."
DAMAGED = "The room's database cannot be read: its file is damaged, or is no database. Move it away and start again."
READ_ONLY = "The room's database cannot be written: its file or folder is read-only."

# PostgreSQL's error codes (its manual, appendix A): lock not available, query canceled, serialization, deadlock.
_LOCKED_STATES = {"55P03", "57014", "40001", "40P01"}
_FULL_STATES = {"53100", "53200"}  # disk full, out of memory
_SQLITE: tuple[tuple[str, type[StorageError], str], ...] = (
    ("locked", Locked, LOCKED),
    ("busy", Locked, LOCKED),
    ("is full", Full, FULL),
    ("readonly", Away, READ_ONLY),
    ("malformed", Away, DAMAGED),
    ("not a database", Away, DAMAGED),
)


LOG_AGAIN_S = 60.0  # one kind of trouble in one operation: every tab of every room meets it once a second

_logger = logging.getLogger(__name__)
_logged: dict[tuple[str, ...], float] = {}
_logging = threading.Lock()


def told(error: SQLAlchemyError, operation: str) -> StorageError:
    """The error in words, and a line for the log of whoever runs the server.

    The line has names of classes and an error code alone: a driver's words may hold an address, or what people wrote.
    """
    words = in_words(error)
    cause = error.orig if isinstance(error, DBAPIError) else error
    code = getattr(cause, "sqlstate", None) or getattr(cause, "sqlite_errorname", None) or "no code"
    line = (type(words).__name__, operation, type(cause).__name__, str(code))
    now = time.monotonic()
    with _logging:
        is_news = now - _logged.get(line, -LOG_AGAIN_S) >= LOG_AGAIN_S
        if is_news:
            _logged[line] = now
    if is_news:
        _logger.warning("Rooms: %s in %s (%s, %s)", *line)
    return words


def in_words(error: SQLAlchemyError) -> StorageError:
    """The error of a database as one of ours; the driver's own words stay off the page."""
    if isinstance(error, PoolTimeout):
        return Locked(LOCKED)
    cause = error.orig if isinstance(error, DBAPIError) else None
    if isinstance(cause, sqlite3.Error):
        for words, kind, sentence in _SQLITE:
            if words in str(cause).lower():
                return kind(sentence)
    state = getattr(cause, "sqlstate", None)
    if state in _LOCKED_STATES:
        return Locked(LOCKED)
    if state in _FULL_STATES:
        return Full(FULL)
    return Away(AWAY)
