"""Mock rooms in browser tests: a server on a database of its own, rooms put into it, seats opened by their browsers.

rooms.played(at_phase(3))            # a room of tests.core.mock.made, as if it had been played until now
page = rooms.seat(app, room, "candidate")
room.does("interviewer", "phase_started", phase=4)       # as another browser does
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, WebSocket

from core.mock.fold import fold, prepare
from core.mock.state import RoomState
from core.storage.engine import URL_VARIABLE
from core.storage.records import Draft, NewRoom, StoredEvent
from core.storage.rooms import RoomStore
from tests.core.mock.made import Played, plan
from tests.e2e.server import Server, running_server, wait_idle

COOKIE = "ridgepoint_browser"
SOON_MS = 10_000  # a poll a second, and a machine with other work; how soon is measured by the benchmarks


def holder(role: str) -> str:
    """The name of the browser that holds this seat, as the app's cookie has it: 22 characters."""
    return f"b{role}".ljust(22, "x")


@contextmanager
def served(browser: Browser, url: str) -> Iterator[Server]:
    """A server whose rooms lie in this database; its home page has been seen once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(URL_VARIABLE, url)
        with running_server() as running:
            page = browser.new_page()
            page.goto(running.url)
            wait_idle(page)
            page.close()
            yield running


@dataclass
class LiveRoom:
    """A room in the database that the server has."""

    store: RoomStore
    new: NewRoom

    @property
    def log(self) -> list[StoredEvent]:
        return self.store.events(self.new.room)

    @property
    def state(self) -> RoomState:
        return fold(RoomState(plan()), self.log)

    def does(self, actor: str, kind: str, **fields: Any) -> None:
        """One event past the pages, checked as a page does it."""
        payload = prepare(self.state, actor, kind, self.store.now(), **fields)
        self.store.append(self.new.room, actor, kind, payload, client_id=f"test:{time.monotonic_ns()}")

    def path(self, role: str) -> str:
        return f"/room?room={self.new.room}&key={self.new.tokens[role]}"

    def until(self, holds: Callable[[RoomState], bool], page: Page, seconds: float = 8.0) -> None:
        """Wait until the log says so; the page goes on meanwhile."""
        end = time.monotonic() + seconds
        while not holds(self.state):
            assert time.monotonic() < end, "the log does not hold it"
            page.wait_for_timeout(100)


@dataclass(frozen=True)
class Rooms:
    """The database of a server, for tests."""

    store: RoomStore

    def played(self, played: Played) -> LiveRoom:
        """A room in which this has happened until now; its seats belong to the browsers that ``seat`` opens."""
        shift = self.store.now() - played.at
        drafts = [Draft(line.actor, line.kind, _seated(line.actor, line), line.at + shift) for line in played.log]
        room = LiveRoom(self.store, self.store.restore_room(drafts))
        for role in ("interviewer", "candidate"):  # here from the start, so that nobody's clock is paused
            self.store.touch(room.new.room, role, holder(role))
        return room


def _seated(actor: str, line: Any) -> dict[str, Any]:
    return {**line.payload, "holder": holder(actor)} if line.kind == "joined" else dict(line.payload)


def seat(app: Callable[..., Page], room: LiveRoom, role: str, *, name: str = "", **options: Any) -> Page:
    """The page of a seat in the browser that holds it, or in another one of this name."""
    return app(room.path(role), storage_state=cookie_of(name or role), **options)


def cookie_of(role: str) -> dict[str, Any]:
    """What a browser has kept that was here before."""
    kept = {"name": COOKIE, "value": holder(role), "domain": "127.0.0.1", "path": "/", "expires": -1}
    return {"cookies": [{**kept, "httpOnly": False, "secure": False, "sameSite": "Lax"}], "origins": []}


def frames_received(page: Page) -> list[bytes]:
    """Fills with what the server sends to this page from its next load on."""
    received: list[bytes] = []

    def listen(socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: received.append(frame if isinstance(frame, bytes) else frame.encode()))

    page.on("websocket", listen)
    return received
