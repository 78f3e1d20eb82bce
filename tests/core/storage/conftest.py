"""`url` is an empty database of each kind in turn, `store` a store on it; every test of rooms runs on both."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.storage.engine import open_database
from core.storage.rooms import RoomStore
from tests.databases import empty, postgresql


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    with postgresql() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'rooms.db'}"
    server: str = request.getfixturevalue("postgresql_server")
    empty(server)
    return server


@pytest.fixture
def store(url: str) -> Iterator[RoomStore]:
    made = RoomStore(open_database(url))
    yield made
    made.engine.dispose()
