"""The tables, and the forward migrations that make them.

Migrations are written out as SQL that both databases read and are never edited afterwards; the tables below are what
they add up to. Times are seconds since 1970, UTC.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Double, Integer, MetaData, String, Table, Text

METADATA = MetaData()

META = Table("meta", METADATA, Column("key", String(40), primary_key=True), Column("value", String(200)))

ROOMS = Table(
    "rooms",
    METADATA,
    Column("id", String(16), primary_key=True),
    Column("created", Double, nullable=False),
    Column("expires", Double),  # null: until it is deleted
    Column("address", String(64)),  # a salted hash of who made it; null: not counted
    Column("revision", Integer, nullable=False),  # the seq of the last event
    Column("at", Double, nullable=False),  # the time of the last event: no later one is earlier
    Column("bytes", BigInteger, nullable=False),  # of all payloads
)
TOKENS = Table(
    "tokens",
    METADATA,
    Column("room", String(16), primary_key=True),
    Column("role", String(16), primary_key=True),
    Column("hash", String(64), nullable=False),
)
EVENTS = Table(
    "events",
    METADATA,
    Column("room", String(16), primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("at", Double, nullable=False),
    Column("actor", String(16), nullable=False),
    Column("kind", String(40), nullable=False),
    Column("payload", Text, nullable=False),  # JSON in ASCII, so that no text that JSON holds is refused
    Column("client_id", String(64), nullable=False),
)
SEATS = Table(
    "seats",
    METADATA,
    Column("room", String(16), primary_key=True),
    Column("role", String(16), primary_key=True),
    Column("holder", String(64), primary_key=True),  # one open browser tab
    Column("seen", Double, nullable=False),
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE rooms (id VARCHAR(16) PRIMARY KEY, created DOUBLE PRECISION NOT NULL, expires DOUBLE PRECISION, "
        "address VARCHAR(64), revision INTEGER NOT NULL, at DOUBLE PRECISION NOT NULL, bytes BIGINT NOT NULL)",
        "CREATE TABLE tokens (room VARCHAR(16) NOT NULL, role VARCHAR(16) NOT NULL, hash VARCHAR(64) NOT NULL, "
        "PRIMARY KEY (room, role))",
        "CREATE TABLE events (room VARCHAR(16) NOT NULL, seq INTEGER NOT NULL, at DOUBLE PRECISION NOT NULL, "
        "actor VARCHAR(16) NOT NULL, kind VARCHAR(40) NOT NULL, payload TEXT NOT NULL, client_id VARCHAR(64) NOT NULL, "
        "PRIMARY KEY (room, seq), UNIQUE (room, client_id))",
        "CREATE TABLE seats (room VARCHAR(16) NOT NULL, role VARCHAR(16) NOT NULL, holder VARCHAR(64) NOT NULL, "
        "seen DOUBLE PRECISION NOT NULL, PRIMARY KEY (room, role, holder))",
    ),
    (
        "CREATE INDEX rooms_by_address ON rooms (address, created)",
        "CREATE INDEX rooms_by_expiry ON rooms (expires)",
    ),
)
