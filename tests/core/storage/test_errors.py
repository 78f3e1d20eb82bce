"""Each refusal of a driver becomes one of our errors, in words without the driver's own."""

from __future__ import annotations

import sqlite3

import pytest
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from core.storage.errors import Away, Full, Locked, in_words, told


class ServerError(Exception):
    """An error of PostgreSQL, as its driver hands it on."""

    def __init__(self, sqlstate: str | None) -> None:
        super().__init__("secret detail of the server")
        self.sqlstate = sqlstate


@pytest.mark.parametrize(
    ("cause", "kind"),
    [
        (sqlite3.OperationalError("database is locked"), Locked),
        (sqlite3.OperationalError("database or disk is full"), Full),
        (sqlite3.OperationalError("attempt to write a readonly database"), Away),
        (sqlite3.OperationalError("unable to open database file"), Away),
        (sqlite3.DatabaseError("database disk image is malformed"), Away),
        (ServerError("55P03"), Locked),
        (ServerError("57014"), Locked),
        (ServerError("40P01"), Locked),
        (ServerError("53100"), Full),
        (ServerError("57P01"), Away),
        (ServerError(None), Away),
    ],
)
def test_a_drivers_error_is_told_in_our_words(cause, kind):
    told = in_words(OperationalError("SELECT secret", {}, cause))
    assert type(told) is kind
    assert "secret" not in str(told)
    assert str(told).endswith((".", "again soon."))


def test_waiting_for_a_free_connection_is_told_as_busy():
    assert isinstance(in_words(PoolTimeout("QueuePool limit")), Locked)


def test_trouble_is_logged_once_a_minute_with_names_alone(caplog, monkeypatch):
    now = [1e9]  # of a test long after all others
    monkeypatch.setattr("core.storage.errors.time.monotonic", lambda: now[0])
    locked = OperationalError("SELECT secret", {}, sqlite3.OperationalError("secret is locked"))
    gone = OperationalError("SELECT secret", {}, ServerError("57P01"))
    for second in range(61):
        now[0] = 1e9 + second
        assert isinstance(told(locked, "append"), Locked)
        told(gone, "append")
        told(gone, "events")
    lines = [record.getMessage() for record in caplog.records]
    assert lines == 2 * [
        "Rooms: Locked in append (OperationalError, no code)",
        "Rooms: Away in append (ServerError, 57P01)",
        "Rooms: Away in events (ServerError, 57P01)",
    ]
    assert "secret" not in caplog.text
