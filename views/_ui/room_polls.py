"""A poll of a room in which nothing has happened runs nothing: not the page, not even a fragment.

Streamlit answers every event of a browser with a run: a thread, the values of all the page's widgets, what is drawn and
the messages that say so. Of a room's polls nearly all end in "no news". So they are looked at where they come in, by
one read of one row, and only one that has something to tell (or is to say that its tab is still there) becomes a run.

A request brings the values of all controls along, as they stood when it was sent. So a poll that was overtaken while
it was looked at is dropped: run after the press that overtook it, it would put the pressed control back, as if by
hand. The next poll asks again, at the latest when the presses pause; one that writes to the room reads on by itself.
While one poll is looked at, others of the same session are dropped at once: a slow store would only be asked more.
"""

from __future__ import annotations

import asyncio
import functools
import threading
import weakref
from typing import TYPE_CHECKING, NamedTuple, Protocol

from streamlit.runtime.app_session import AppSession

from views._ui.private_api import written_for

if TYPE_CHECKING:
    from streamlit.proto.ClientState_pb2 import ClientState


class Polled(Protocol):
    """What is asked for news, on a thread of its own."""

    def has_news(self) -> bool:
        """Whether a poll has to be run."""


class _Poll(NamedTuple):
    fragment_id: str
    room: weakref.ref[Polled]


_polls: dict[str, _Poll] = {}  # by session
_handed_on: weakref.WeakKeyDictionary[AppSession, int] = weakref.WeakKeyDictionary()  # how many requests were
_looking: weakref.WeakSet[AppSession] = weakref.WeakSet()  # those of which a poll is looked at
_watching = threading.Lock()  # each session draws on a thread of its own, and the guard is put on once


def watch(session_id: str, fragment_id: str, room: Polled) -> None:
    """From now on, ask this room before an event of this fragment becomes a run.

    The fragment may hold nothing but what polls. Each change of another control sends a request of its own, so the
    values that a poll brings along are never news.
    """
    with _watching:
        _guard()
        for gone in [session for session, poll in _polls.items() if poll.room() is None]:
            del _polls[gone]
        _polls[session_id] = _Poll(fragment_id, weakref.ref(room))


@functools.cache
def _guard() -> None:
    request_rerun = AppSession.request_rerun
    written_for(request_rerun, "self", "client_state")

    def run(session: AppSession, client_state: ClientState | None) -> None:
        _handed_on[session] = _handed_on.get(session, 0) + 1
        request_rerun(session, client_state)

    @functools.wraps(request_rerun)
    def watched(session: AppSession, client_state: ClientState | None) -> None:
        poll = _polls.get(session.id)
        room = poll.room() if poll else None
        if poll is None or room is None or client_state is None or client_state.fragment_id != poll.fragment_id:
            run(session, client_state)
            return
        if session in _looking:
            return
        before = _handed_on.get(session, 0)

        def answered(done: asyncio.Future[bool]) -> None:
            _looking.discard(session)
            if done.cancelled() or _handed_on.get(session, 0) != before:
                return
            if done.exception() is not None or done.result():
                run(session, client_state)

        # Not here: this is the server's one loop, and a database may be slow to say that it is away.
        asked = asyncio.get_running_loop().run_in_executor(None, room.has_news)
        _looking.add(session)
        asked.add_done_callback(answered)

    AppSession.request_rerun = watched  # type: ignore[method-assign]
