"""Mock rooms in page tests: a room that was played in memory lies in a database, and a tab of the real app opens it.

room = stored(at_phase(3))                       # in the database of this test
page = SeatVisit(room, "candidate")              # the tab that holds the seat
page.press("I am stuck")
room.state.stuck                                 # what the log adds up to now
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from streamlit.testing.v1 import AppTest

from core.cards.text import significant
from core.mock.fold import fold
from core.mock.reading import Pack
from core.mock.state import RoomState
from core.storage.records import Draft, NewRoom, StoredEvent
from core.storage.rooms import RoomStore
from tests.core.mock.made import Played, plan
from tests.core.mock.walk import private_texts
from tests.pages.practice import APP, _sent
from views._ui.words import inline, money_safe, plain

SHORT = 6  # characters: a shorter text stands on many pages by chance


@dataclass
class Stored:
    """A room in the database."""

    store: RoomStore
    new: NewRoom

    @property
    def log(self) -> list[StoredEvent]:
        return self.store.events(self.new.room)

    @property
    def state(self) -> RoomState:
        return fold(RoomState(plan()), self.log)

    def does(self, actor: str, kind: str, **payload: object) -> None:
        """Write an event past the page, as another tab does."""
        self.store.append(self.new.room, actor, kind, payload, client_id=f"test:{self.store.revision(self.new.room)}")


def stored(played: Played, store: RoomStore | None = None) -> Stored:
    """The same room in the database that the environment names; its times are shifted so that it ends now."""
    store = store or RoomStore.open()
    shift = time.time() - played.at
    drafts = [Draft(line.actor, line.kind, line.payload, line.at + shift) for line in played.log]
    return Stored(store, store.restore_room(drafts))


class SeatVisit:
    """One tab in a room; it holds the seat that ``made.opened`` has given to ``tab-<role>``."""

    def __init__(self, room: Stored, role: str, *, holder: str = "") -> None:
        self.at = AppTest.from_file(str(APP), default_timeout=60)
        self.at.session_state["rooms.browser"] = holder or f"tab-{role}"
        self.at.session_state["rooms.browser_to_keep"] = False
        self.at.run()
        self.at.query_params["room"] = room.new.room
        self.at.query_params["key"] = room.new.tokens[role]
        self.at = self.at.switch_page("views/mock/room.py").run()
        assert not self.at.exception, self.at.exception

    def run(self) -> SeatVisit:
        self.at.run()
        assert not self.at.exception, self.at.exception
        return self

    def press(self, label: str) -> None:
        """Press the first button whose label begins so."""
        next(button for button in self.at.button if button.label.startswith(label)).click().run()
        assert not self.at.exception, self.at.exception

    def labels(self) -> list[str]:
        return [button.label for button in self.at.button]

    def says(self) -> str:
        """Everything that stands on the page as text."""
        kinds = (self.at.markdown, self.at.error, self.at.warning, self.at.info, self.at.success, self.at.caption)
        parts = [element.value for kind in kinds for element in kind]
        parts += [element.value for element in (*self.at.subheader, *self.at.title, *self.at.header)]
        return "\n".join(map(str, parts))

    def payload(self) -> str:
        """All that was sent to the browser, as text."""
        return "\n".join(_sent(self.at._tree))


def mirrored(at: AppTest, kind: str, name: str) -> Any:
    """The control of this kind that shows a value under this name; its key is a new one now and then."""
    return next(control for control in getattr(at, kind) if f"{control.key}.".startswith(f"{name}."))


def leaked(sent: str, state: RoomState, pack: Pack | None = None, *, numbers: bool = True) -> list[str]:
    """Where a private text of the pack or its cards, or a number that core computes, stands in what was sent."""
    found = []
    for where, text in private_texts(state, pack).items():
        if " truth " in where:
            forms = {significant(float(text), 4)} if numbers else set()
        else:
            forms = {text, money_safe(text), inline(text), plain(text)}
        if any(len(form) >= SHORT and form in sent for form in forms):
            found.append(where)
    return found
