"""The clock of a mock session on a page: it ticks in the browser, and says politely what screen readers should hear."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from core.mock.state import RoomState
from views._ui.assets import asset
from views._ui.room import Room

_component = st.components.v2.component(
    "mock_clock", html=asset("mock_clock.html"), css=asset("mock_clock.css"), js=asset("mock_clock.js")
)
WAITING = "The session has not begun."


def session_clock(room: Room, on_over: Callable[[], None] | None = None) -> None:
    """Phase and whole session, as a part of the page.

    Args:
        on_over: a callback for when the time of a phase is over, once for each; left out, nothing happens then.
    """
    room.part("clock", partial(_draw, room, on_over), lambda room: (room.state.time, news(room.state)))


def news(state: RoomState) -> str:
    """What the candidate was given last, in words that differ each time: read out once, and shown to nobody."""
    given = [(mark.t, f"Reply {number} is on the page.") for number, mark in enumerate(state.replies.values(), 1)]
    given += [(hint.mark.t, f"A hint is on the page, {number} in all.") for number, hint in enumerate(state.hints, 1)]
    public = [twist for twist in state.twists if twist.public]
    given += [(twist.mark.t, f"The facts change, number {number}.") for number, twist in enumerate(public, 1)]
    return max(given, key=lambda row: row[0])[1] if given else ""


def _draw(room: Room, on_over: Callable[[], None] | None) -> None:
    public, now = room.public, room.clock()
    if not now.started:
        st.markdown(f":material/timer: {WAITING}")
        return
    word = "The session is over." if now.finished else "Paused." if now.paused else ""
    times = (now.phase_left_s, now.phase_s, now.left_s)
    phase_left, phase, left = (round(1000 * seconds) for seconds in times)
    _component(
        key="mock.clock",
        data=[public.phase_name, phase_left, phase, left, now.running, word, news(room.state), on_over is not None],
        on_over_change=on_over or (lambda: None),
        height="content",
    )
