"""A room's address and door: who gets in, what is said before, and what happens when the seat or the link is lost."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.mock.roles import Role
from core.storage.errors import Away
from core.storage.rooms import RoomStore
from tests.core.mock.made import Played, at_phase, bank, opened, pack, whole
from tests.pages.mock_visit import SeatVisit, Stored, stored
from tests.pages.practice import APP
from views._ui import room as room_ui
from views._ui import rooms
from views._ui.room import PRESENCE_S, Room, pace


@pytest.fixture(autouse=True)
def own_database(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RIDGEPOINT_DATABASE", f"sqlite:///{tmp_path}/rooms.db")


def empty_room() -> Stored:
    """A room in which nobody sits yet."""
    played = Played()
    first = opened().log[0]
    return stored(played.does("interviewer", "opened", **first.payload))


def at_address(query: dict[str, str]) -> AppTest:
    at = AppTest.from_file(str(APP), default_timeout=60)
    at.run()
    for name, value in query.items():
        at.query_params[name] = value
    at = at.switch_page("views/mock/room.py").run()
    assert not at.exception
    return at


def test_an_address_without_a_room_says_where_to_begin():
    at = at_address({})
    assert "names no room" in at.warning[0].value


@pytest.mark.parametrize("key", ["", "wrong", "\x00", "x" * 5_000, "ключ 🙂"])
@pytest.mark.parametrize("name", ["aaaaaaaa", "NOT A ROOM", "../etc", "\x00"])
def test_what_opens_no_room_is_refused_in_words_that_tell_nothing(name: str, key: str):
    at = at_address({"room": name, "key": key})
    words = at.warning[0].value
    assert "names no room" in words or "does not open a room" in words


def test_the_link_of_another_room_opens_nothing():
    one, other = stored(at_phase(1)), stored(at_phase(1))
    at = at_address({"room": one.new.room, "key": other.new.tokens["interviewer"]})
    assert "does not open a room" in at.warning[0].value


def test_the_door_says_what_is_stored_and_sitting_down_is_consent():
    room = empty_room()
    page = SeatVisit(room, "candidate")
    said = page.says()
    assert "Stored: what is written" in said
    assert "until the interviewer deletes it" in said.replace("\\", "")
    assert "not a hiring decision" in said
    page.at.text_input(key="door.handle").input("Ada")
    page.press("Agree and take the seat")
    seat = room.state.seats["candidate"]
    assert seat.handle == "Ada"
    assert seat.holder == page.at.session_state["mock.room"].tab != "tab-candidate"
    assert SeatVisit(room, "candidate").at.session_state["mock.room"].seated
    assert "candidate" in room.state.consented


def test_a_taken_seat_is_watched_or_taken_over_and_the_first_tab_is_told():
    room = stored(at_phase(2))
    first = SeatVisit(room, "interviewer")
    second = SeatVisit(room, "interviewer", holder="somebody-else")
    assert "This seat is taken by another browser, which is here now" in second.says().replace("\\", "")
    second.press("Watch")
    assert "You are watching" in second.says()
    assert "Next: Design" not in "".join(second.labels())
    second.press("Take the seat")
    second.press("Agree and take the seat over")
    assert room.state.seats["interviewer"].holder == second.at.session_state["mock.room"].tab != "somebody-else"
    first.run()
    assert "This seat is taken by another browser" in first.says()


def test_one_who_watches_cannot_write():
    room = stored(at_phase(2))
    page = SeatVisit(room, "interviewer", holder="somebody-else")
    page.press("Watch")
    seat = page.at.session_state["mock.room"]
    assert not seat.act("evidence", text="heard")
    assert "take the seat first" in seat.refused("evidence")
    assert room.state.ratings["interviewer"].evidence == ()


def test_a_name_that_is_too_long_or_wild_is_kept_within_bounds_or_refused():
    room = empty_room()
    page = SeatVisit(room, "candidate")
    page.at.text_input(key="door.handle").input("<b>Ada</b> 🙂")
    page.press("Agree and take the seat")
    lead = SeatVisit(room, "interviewer")
    assert "<b>" not in lead.says()


def test_a_beat_is_run_when_the_log_has_grown_or_a_sign_of_presence_is_due(monkeypatch: pytest.MonkeyPatch):
    stored_room = stored(at_phase(2))
    room = SeatVisit(stored_room, "candidate").at.session_state["mock.room"]
    assert not room.has_news()
    stored_room.does("interviewer", "paused")
    assert room.has_news()
    room.refresh()
    assert not room.has_news()
    room._present_at -= PRESENCE_S
    assert room.has_news()
    room.refresh()
    assert not room.has_news()

    def away(self: RoomStore, *_: object) -> int:
        raise Away("The room's database cannot be reached.")

    monkeypatch.setattr(RoomStore, "revision", away)
    assert room.has_news()  # to say so


def test_a_seat_keeps_its_room_while_the_database_is_away_and_says_so(monkeypatch: pytest.MonkeyPatch):
    room = stored(at_phase(2))
    page = SeatVisit(room, "interviewer")

    def away(self: RoomStore, *_: object, **__: object) -> int:
        raise Away("The room's database cannot be reached.")

    monkeypatch.setattr(RoomStore, "revision", away)
    page.run()
    assert "cannot be reached" in page.says().replace("\\", "")
    assert "Diagnose" in page.says()
    monkeypatch.undo()
    monkeypatch.setenv("RIDGEPOINT_DATABASE", str(room.store.engine.url))
    page.run()
    assert "cannot be reached" not in page.says()


def test_what_is_refused_by_the_store_is_said_and_written_nowhere(monkeypatch: pytest.MonkeyPatch):
    room = stored(at_phase(2))
    page = SeatVisit(room, "interviewer")

    def full(self: RoomStore, *_: object, **__: object) -> int:
        raise Away("The disk with the rooms is full. Nothing was saved.")

    monkeypatch.setattr(RoomStore, "append", full)
    page.at.text_input(key="console.evidence").input("+ heard this")
    page.press("Keep")
    assert "disk with the rooms is full" in page.says().replace("\\", "")
    assert page.at.text_input(key="console.evidence").value == "+ heard this"
    assert len(room.log) == len(at_phase(2).log)


def test_a_clock_whose_leader_is_away_is_paused_once_by_the_server():
    room = stored(at_phase(2))
    then = time.time() - 61
    past = RoomStore(room.store.engine, clock=lambda: then)
    past.touch(room.new.room, "interviewer", "tab-interviewer")
    room.store.append(  # the seat itself was taken long ago
        room.new.room,
        "interviewer",
        "joined",
        {"holder": "tab-interviewer"},
        client_id="again",
    )
    late = RoomStore(room.store.engine, clock=lambda: time.time() + 70)
    late.touch(room.new.room, "candidate", "tab-candidate")
    page = SeatVisit(room, "candidate")
    seat = page.at.session_state["mock.room"]
    seat.store = late
    for _ in range(2):
        seat.refresh(presence=True)
    assert [event.actor for event in room.log if event.kind == "paused"] == ["server"]
    assert seat.state.time.paused_at is not None


def test_polling_slows_after_the_end_and_stops_half_an_hour_later(monkeypatch: pytest.MonkeyPatch):
    running = SeatVisit(stored(at_phase(2)), "interviewer").at.session_state["mock.room"]
    assert pace(running) == (1000, 5000)
    over = SeatVisit(stored(whole()), "interviewer").at.session_state["mock.room"]
    assert pace(over) == (5000, 5000)
    ended = over.state.time.finished_at
    over.store = RoomStore(over.store.engine, clock=lambda: ended + room_ui.POLLS_AFTER_S + 1)
    assert pace(over) == (0, 0)
    running.closed = "gone"
    assert pace(running) == (0, 0)


def test_only_parts_whose_value_has_changed_differ():
    room = stored(at_phase(3))
    seat = SeatVisit(room, "interviewer").at.session_state["mock.room"]
    room.does("candidate", "stuck")
    seat.refresh()
    assert [name for name, part in seat._parts.items() if seat._differs(part)] == ["seats"]
    room.does("candidate", "pad", text="8N")
    seat.refresh()
    assert "now" not in [name for name, part in seat._parts.items() if seat._differs(part)]


@pytest.mark.parametrize("kept", ["", "short", "é" * 22, "-" * 22, "b" + "x" * 5_000, "b" + "\x00" * 21])
def test_a_cookie_that_is_none_of_ours_is_replaced(monkeypatch: pytest.MonkeyPatch, kept: str):
    monkeypatch.setattr(type(st.context), "cookies", {rooms.COOKIE: kept})
    at = AppTest.from_file(str(APP), default_timeout=60).run()
    at = at.switch_page("views/mock/lobby.py").run()
    assert not at.exception
    assert re.fullmatch(r"b[A-Za-z0-9_-]{21}", at.session_state["rooms.browser"])
    assert at.session_state["rooms.browser_to_keep"]


def test_a_browser_keeps_its_name(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(type(st.context), "cookies", {rooms.COOKIE: "b" + "x" * 21})
    at = AppTest.from_file(str(APP), default_timeout=60).run()
    at = at.switch_page("views/mock/lobby.py").run()
    assert at.session_state["rooms.browser"] == "b" + "x" * 21
    assert not at.session_state["rooms.browser_to_keep"]


@dataclass(frozen=True)
class Overtaken(RoomStore):
    """A store in which somebody else's event is written while one is on its way."""

    first: list[tuple[str, str, dict[str, object]]] = field(default_factory=list)

    def append(
        self, room: str, actor: str, kind: str, payload: Mapping[str, Any], *, client_id: str, token: str | None = None
    ) -> int:
        while self.first:
            other, its_kind, its_payload = self.first.pop()
            if other == "rotate":
                self.rotate(room, its_kind)
            else:
                super().append(room, other, its_kind, its_payload, client_id=f"other:{len(self.first)}")
        return super().append(room, actor, kind, payload, client_id=client_id, token=token)


def tab_of(played: Played, role: Role, *first: tuple[str, str, dict[str, object]]) -> Room:
    """The tab of a seat, without a page; these events are written while its next one is on its way."""
    made = stored(played)
    store = Overtaken(made.store.engine, first=list(first))
    return Room(store, made.new.room, made.new.tokens[role], role, f"tab-{role}", pack(), bank(), made.state)


@pytest.mark.parametrize(
    ("role", "kind", "fields", "first", "words"),
    [
        ("candidate", "pad", {"text": "last words"}, ("interviewer", "finished", {}), "The session is finished."),
        (
            "interviewer",
            "joined",
            {"holder": "tab-interviewer"},
            ("interviewer", "joined", {"holder": "tab-other", "take_over": True}),
            "This seat is taken. Watch, or take it over.",
        ),
        ("candidate", "hold", {"on": True}, ("interviewer", "hold", {"on": True}), "The interviewer has the sliders."),
    ],
)
def test_what_another_browser_overtook_on_its_way_is_refused_in_words(
    role: Role, kind: str, fields: dict[str, Any], first: tuple[str, str, dict[str, object]], words: str
):
    room = tab_of(at_phase(1), role, first)
    assert not room.act(kind, **fields)
    assert room.refused(kind) == words


def test_a_link_that_is_replaced_while_an_event_is_on_its_way_writes_nothing():
    tab = tab_of(at_phase(3), "candidate", ("rotate", "candidate", {}))
    before = tab.store.revision(tab.id)
    assert not tab.act("pad", text="with the old link")
    assert "replaced by a newer one" in tab.closed
    assert tab.store.revision(tab.id) == before


def test_what_does_not_stand_against_another_browsers_event_is_kept():
    room = tab_of(at_phase(1), "candidate", ("interviewer", "note", {"text": "calm"}))
    assert room.act("pad", text="still here")
    assert room.public.pad == "still here"


def test_what_is_written_stays_written_where_it_cannot_be_read_back(monkeypatch: pytest.MonkeyPatch):
    room = tab_of(at_phase(1), "candidate")

    def away(*_: object) -> None:
        raise Away("away")

    monkeypatch.setattr(RoomStore, "events", away)
    assert room.act("pad", text="kept")
    monkeypatch.undo()
    room.refresh()
    assert room.public.pad == "kept"
