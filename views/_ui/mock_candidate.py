"""The candidate's side of a mock interview, and an observer's: what is public, and what the candidate writes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from views._ui.assets import asset
from views._ui.mock_board import claims, claims_table, pad, pad_text
from views._ui.mock_calculator import calculator
from views._ui.mock_clock import session_clock
from views._ui.mock_probe import probes
from views._ui.mock_rating import rating
from views._ui.mock_released import released
from views._ui.mock_scorecard import scorecard_view
from views._ui.mock_waiting import waiting
from views._ui.predict import READING_WIDTH
from views._ui.room import Room

FORM = "Think aloud, ask what you would ask a colleague, and write on the pad what you want both of you to see."

_BAR = asset("mock_bar.css")


def candidate(room: Room) -> None:
    """All of it; ``room.pulse()`` comes after."""
    top_bar(room, partial(_stuck, room), says_what_waits=True)
    room.part("setup", partial(_ready, room), _ready_depends_on)
    rating(room)
    scorecard_view(room)
    reads, writes = st.columns([1, 1], gap="large")
    with reads:
        released(room)
        probes(room)
        st.subheader("Claims", anchor=False)
        claims(room)
    with writes:
        pad(room)
    calculator(room)


def observer(room: Room) -> None:
    """The public board, to watch."""
    top_bar(room)
    reads, board = st.columns([1, 1], gap="large")
    with reads:
        released(room)
        probes(room)
    with board:
        room.part("board", partial(_board, room), lambda room: (room.public.pad, room.public.claims))
    calculator(room)


def top_bar(
    room: Room,
    stuck: Callable[[], None] | None = None,
    *,
    on_over: Callable[[], None] | None = None,
    says_what_waits: bool = False,
) -> None:
    """The clock and, for a candidate, a quiet call for help; in view wherever the page is scrolled to.

    Args:
        stuck: draws the call for help.
        on_over: a callback for when the time of a phase is over.
        says_what_waits: whether it leads to a form or a scorecard that lies elsewhere on the page.
    """
    st.html(f"<style>{_BAR}</style>")
    with st.container(key="mock-bar", horizontal=True, vertical_alignment="center"):
        session_clock(room, on_over)
        if stuck is not None:
            room.part("stuck", stuck, _stuck_depends_on)
        if says_what_waits:
            waiting(room)


def _board(room: Room) -> None:
    st.subheader("The candidate's board", anchor=False)
    with st.container(border=True):
        pad_text(room.public.pad)
    claims_table(room.public.claims)


def _ready_depends_on(room: Room) -> object:
    return room.candidate.ready, room.clock().started, room.seated


def _ready(room: Room) -> None:
    """Before the clock runs: what the hour will be, and that one is ready for it."""
    if room.clock().started or not room.seated:
        return
    st.markdown(f"{room.public.minutes} minutes at {room.public.level} level. {FORM}", width=READING_WIDTH)
    is_ready = room.candidate.ready
    if is_ready:
        st.markdown(":material/check_circle: You are ready. The interviewer starts the clock.")
    st.button(
        "Not ready yet" if is_ready else "I am ready",
        key="mock.ready",
        type="tertiary" if is_ready else "primary",
        on_click=partial(room.do, "ready", on=not is_ready),
    )
    room.refusal("ready")


def _stuck_depends_on(room: Room) -> object:
    return room.candidate.stuck, room.clock().started, room.public.finished, room.seated


def _stuck(room: Room) -> None:
    if room.public.finished or not room.clock().started or not room.seated:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        if room.candidate.stuck:
            st.markdown(":material/front_hand: The interviewer sees that you are stuck.", width="content")
            st.button("Never mind", key="mock.stuck.off", type="tertiary", on_click=partial(room.do, "stuck", on=False))
        else:
            st.button(
                "I am stuck",
                key="mock.stuck.on",
                icon=":material/front_hand:",
                help="Asks for a hint without a word. A hint costs a little of the item that it helps with.",
                on_click=partial(room.do, "stuck"),
            )
    room.refusal("stuck")
