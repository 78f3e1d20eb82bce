"""A poll of a room without news becomes no run; every other event does, and so does a poll that cannot be answered."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession

from views._ui import races, room_polls


class Asked:
    """Stands for a room: answers what it is told to, or raises."""

    def __init__(self, answer: bool | Exception) -> None:
        self.answer = answer

    def has_news(self) -> bool:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Session:
    """Stands for a browser's session."""

    def __init__(self, session_id: str = "s1") -> None:
        self.id = session_id


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[ClientState | None]]:
    """What became a run; the guard is put on for this test alone."""
    became: list[ClientState | None] = []
    monkeypatch.setattr(AppSession, "request_rerun", lambda self, client_state: became.append(client_state))
    monkeypatch.setattr(room_polls, "_polls", {})
    room_polls._guard.cache_clear()
    yield became
    room_polls._guard.cache_clear()


async def answered(session: Session) -> None:
    while session in room_polls._looking:
        await asyncio.sleep(0.001)


def send(fragment: str, session: str = "s1") -> None:
    async def on_the_loop() -> None:
        asking = Session(session)
        AppSession.request_rerun(asking, ClientState(fragment_id=fragment))
        await answered(asking)

    asyncio.run(on_the_loop())


@pytest.mark.parametrize(("answer", "runs"), [(False, 0), (True, 1), (ValueError("away"), 1)])
def test_a_poll_is_run_where_there_is_news_or_no_answer(run: list[object], answer: bool | Exception, runs: int):
    room = Asked(answer)
    room_polls.watch("s1", "pulse", room)
    send("pulse")
    assert len(run) == runs


def test_other_fragments_sessions_and_whole_pages_are_run_as_ever(run: list[object]):
    room = Asked(answer=False)
    room_polls.watch("s1", "pulse", room)
    for fragment, session in (("board", "s1"), ("", "s1"), ("pulse", "s2")):
        send(fragment, session)
    AppSession.request_rerun(Session(), None)
    assert len(run) == 4


def test_a_poll_is_dropped_once_something_else_has_run_since(run: list[ClientState | None]):
    """Its values are older than those of what has been run since."""
    looking, look = threading.Event(), threading.Event()

    class Slow:
        def has_news(self) -> bool:
            nonlocal times
            times += 1
            looking.set()
            look.wait(5)
            return True

    times = 0
    room, session = Slow(), Session()
    room_polls.watch("s1", "pulse", room)

    async def on_the_loop(overtaking: str) -> None:
        AppSession.request_rerun(session, ClientState(fragment_id="pulse"))
        await asyncio.to_thread(looking.wait, 5)
        AppSession.request_rerun(session, ClientState(fragment_id=overtaking))
        look.set()
        await answered(session)

    asyncio.run(on_the_loop("board"))
    assert [state and state.fragment_id for state in run] == ["board"]
    assert times == 1
    looking.clear()
    look.clear()
    asyncio.run(on_the_loop("pulse"))  # slow for longer than a beat: asked once, and its answer counts
    assert [state and state.fragment_id for state in run] == ["board", "pulse"]
    assert times == 2


def test_a_room_that_is_gone_is_asked_no_more(run: list[object]):
    room = Asked(answer=False)
    room_polls.watch("s1", "pulse", room)
    del room
    send("pulse")
    assert len(run) == 1
    other = Asked(answer=False)
    room_polls.watch("s2", "pulse", other)
    assert list(room_polls._polls) == ["s2"]


def test_tabs_that_open_at_the_same_time_do_not_trip_over_each_other(run: list[object]):
    """While one looks for rooms that are gone, another is put beside them."""
    rooms = [Asked(answer=False) for _ in range(3)]
    second = threading.Thread(target=room_polls.watch, args=("s3", "pulse", rooms[2]))

    def looked_at() -> Asked:
        if second.ident is None:
            second.start()
            second.join(0.2)
        return rooms[0]

    room_polls._polls["s1"] = room_polls._Poll("pulse", looked_at)
    room_polls.watch("s2", "pulse", rooms[1])
    second.join()
    assert list(room_polls._polls) == ["s1", "s2", "s3"]


def test_another_streamlit_is_refused_in_words(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(AppSession, "request_rerun", lambda self, client_state, options: None)
    for guard in (room_polls._guard, races.guard):
        with pytest.raises(RuntimeError, match=r"takes self, client_state, options, not self, client_state\. Install"):
            guard.__wrapped__()
