"""Fixtures of the browser tests of rooms. A module imports `database`, `server`, `stored` and `rooms` together.

They take the place of the folder's `server`, so that `app` opens the server that has the rooms.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from core.storage.rooms import RoomStore
from tests.databases import postgresql
from tests.e2e.mock_rooms import Rooms, served
from tests.e2e.server import Server

# For the specification's acceptance tests; the others say nothing of the store and run on SQLite.
on_both_databases = pytest.mark.parametrize("database", ["sqlite", "postgresql"], indirect=True, scope="module")


@pytest.fixture(scope="module")
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if getattr(request, "param", "sqlite") == "sqlite":
        yield f"sqlite:///{tmp_path_factory.mktemp('rooms')}/rooms.db"
    else:
        with postgresql() as url:
            yield url


@pytest.fixture(scope="module")
def server(browser: Browser, database: str) -> Iterator[Server]:
    with served(browser, database) as running:
        yield running


@pytest.fixture
def stored(database: str) -> Iterator[Rooms]:
    """The rooms of a database that no server of the fixtures has."""
    store = RoomStore.open(database)
    yield Rooms(store)
    store.engine.dispose()


@pytest.fixture
def rooms(server: Server, stored: Rooms) -> Rooms:
    return stored
