"""Open the database: which one, how threads share it, and its schema brought up to date.

SQLite runs with a write-ahead log, so that readers never wait; each commit reaches the disk before it is acknowledged.
A writing transaction takes the write lock when it begins: two that read first and write later would fail each other.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, insert, inspect, make_url, select, text, update
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from core.storage.errors import Away, StorageError, told
from core.storage.tables import META, MIGRATIONS

URL_VARIABLE, FOLDER_VARIABLE = "RIDGEPOINT_DATABASE", "RIDGEPOINT_DATA"
FILE_NAME = "rooms.db"
WAIT_S = 5.0  # for another writer, and for a server that does not answer
POOL_SIZE = 16  # more threads than that wait for a connection; a transaction takes about a millisecond
_READS = "ridgepoint_reads"


def database_url(given: str | None = None, *, folder: Path | None = None) -> URL:
    """Where the rooms are: the given URL, else RIDGEPOINT_DATABASE, else a SQLite file in a data folder.

    Args:
        given: ``postgresql://user:password@host/name`` or ``sqlite:////path/to/rooms.db``.
        folder: of the SQLite file; else RIDGEPOINT_DATA, else ``ridgepoint`` in the user's data folder.

    Raises:
        Away: it is no URL of one of the two databases.
    """
    if url_text := given or os.environ.get(URL_VARIABLE):
        try:
            url = make_url(url_text)
        except ArgumentError:
            raise Away(_refusal(URL_VARIABLE)) from None
        if url.drivername in ("postgres", "postgresql"):  # hosts print both
            return url.set(drivername="postgresql+psycopg")
        if url.drivername not in ("sqlite", "postgresql+psycopg") or (
            url.drivername == "sqlite" and url.database in (None, "", ":memory:")
        ):
            raise Away(_refusal(URL_VARIABLE))
        return url
    own = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "ridgepoint"
    chosen = folder or (Path(set_folder) if (set_folder := os.environ.get(FOLDER_VARIABLE)) else own)
    return URL.create("sqlite", database=str(chosen / FILE_NAME))


def _refusal(variable: str) -> str:
    return (
        f"{variable} is not the address of a database: write postgresql://user:password@host/name, "
        "or sqlite:////path/to/rooms.db, or leave it out."
    )


def open_database(given: str | None = None, *, folder: Path | None = None, wait_s: float = WAIT_S) -> Engine:
    """An engine for one process, to be kept: any thread may use it. The schema is created or migrated first.

    Args:
        given, folder: as for :func:`database_url`.
        wait_s: how long to wait for another writer, and for a server to answer. [s]

    Raises:
        StorageError: it cannot be opened, or was written by a newer version.
    """
    url = database_url(given, folder=folder)
    try:
        engine = _sqlite(url, wait_s) if url.drivername == "sqlite" else _postgresql(url, wait_s)
    except OSError as error:
        raise Away(f"The folder of the rooms cannot be made: {error.strerror}. Set {FOLDER_VARIABLE}.") from None
    try:
        with writing(engine, "open") as connection:
            migrate(connection)
    except StorageError:
        engine.dispose()
        raise
    return engine


@contextmanager
def writing(engine: Engine, operation: str = "a write") -> Iterator[Connection]:
    """A transaction that holds the write lock from its beginning (SQLite) and is committed at its end.

    Args:
        operation: what it is for, in the server's log if it fails.

    Raises:
        StorageError: what the database refused, in words; nothing is changed then.
    """
    try:
        with engine.begin() as connection:
            yield connection
    except SQLAlchemyError as error:
        raise told(error, operation) from error


@contextmanager
def reading(engine: Engine, operation: str = "a read") -> Iterator[Connection]:
    """A connection for single SELECTs, each with a view of its own; they wait for no writer.

    Args:
        operation: as for :func:`writing`.

    Raises:
        StorageError: what the database refused, in words.
    """
    try:
        with engine.connect() as plain:
            option: dict[str, Any] = {_READS: True}
            if engine.dialect.name == "postgresql":
                option["isolation_level"] = "AUTOCOMMIT"  # no round trips around the SELECT
            yield plain.execution_options(**option)
    except SQLAlchemyError as error:
        raise told(error, operation) from error


def _sqlite(url: URL, wait_s: float) -> Engine:
    assert url.database is not None
    Path(url.database).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(url, connect_args={"timeout": wait_s}, **_common(wait_s))

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # the driver begins no transactions of its own
        cursor = connection.cursor()
        for pragma in ("journal_mode = WAL", "synchronous = FULL", f"busy_timeout = {int(wait_s * 1000)}"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A read is one SELECT: it needs no transaction around it.
        if not connection.get_execution_options().get(_READS):
            connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _postgresql(url: URL, wait_s: float) -> Engine:
    milliseconds = int(wait_s * 1000)
    limits = f"-c lock_timeout={milliseconds} -c statement_timeout={2 * milliseconds}"
    given = url.query.get("options")
    options = f"{given if isinstance(given, str) else ''} {limits}".strip()
    return create_engine(
        url.difference_update_query(["options"]),
        connect_args={"connect_timeout": max(2, int(wait_s)), "options": options},
        pool_pre_ping=True,  # a server that was restarted is reached again without an error
        **_common(wait_s),
    )


def _common(wait_s: float) -> dict[str, Any]:
    """Of both databases: how many connections, and no values in errors, since notes and scores would end in a log."""
    return {"pool_size": POOL_SIZE, "max_overflow": 0, "pool_timeout": wait_s, "hide_parameters": True}


def migrate(connection: Connection, *, to: int = len(MIGRATIONS)) -> int:
    """Bring the schema forward within the caller's transaction; returns its version.

    Raises:
        StorageError: a newer version of the app has written this database.
    """
    if connection.dialect.name == "postgresql":  # two servers that start at once; the number is any constant of ours
        connection.execute(text("SELECT pg_advisory_xact_lock(5241985)"))
    if not inspect(connection).has_table("meta"):
        connection.execute(text("CREATE TABLE meta (key VARCHAR(40) PRIMARY KEY, value VARCHAR(200))"))
        rows = [{"key": "version", "value": "0"}, {"key": "salt", "value": secrets.token_hex(16)}]
        connection.execute(insert(META), rows)
    version = int(connection.execute(select(META.c.value).where(META.c.key == "version")).scalar_one())
    if version > len(MIGRATIONS):
        raise StorageError(
            f"These rooms were written by a newer version (schema {version}, this one knows {len(MIGRATIONS)}): "
            "update the app, or set another database."
        )
    for statements in MIGRATIONS[version:to]:
        for statement in statements:
            connection.execute(text(statement))
    reached = max(version, to)
    connection.execute(update(META).where(META.c.key == "version").values(value=str(reached)))
    return reached
