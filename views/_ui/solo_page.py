"""The solo mock's page: choose a pack, then sit on both sides of the table."""

from __future__ import annotations

from functools import partial
from typing import get_args

import streamlit as st

from core.cards.models import Level
from views._ui import rooms, solo
from views._ui.mock_board import claims, pad
from views._ui.mock_calculator import calculator
from views._ui.mock_candidate import top_bar
from views._ui.mock_probe import probes
from views._ui.mock_rating import rating
from views._ui.mock_released import released
from views._ui.predict import READING_WIDTH
from views._ui.room import Room
from views._ui.solo import Solo
from views._ui.solo_scoring import scoring
from views._ui.solo_script import next_phase, script
from views._ui.words import plain

LEVELS: tuple[Level, ...] = get_args(Level)
ABOUT = (
    "The app plays the interviewer: it keeps the clock, answers what you ask, changes the facts half-way and asks for "
    "one number. You speak aloud and write on the pad. At the end you rate yourself, then score yourself on the "
    "rubric; only then the strong answer opens."
)
PLAYED = "What you write is kept in a room of your own, as in a session for two: bookmark this page to come back to it."
_REFUSED = "solo.refused"


def start_form() -> None:
    """Pack, level, numbers, start."""
    packs = rooms.packs()
    st.markdown(ABOUT, width=READING_WIDTH)
    chosen = st.selectbox(
        "Pack",
        list(packs),
        format_func=lambda pack: f"{packs[pack].model.title} ({packs[pack].model.minutes} min)",
        key="solo.pack",
        persist_state="session",
    )
    if not chosen:
        return
    model = packs[chosen].model
    st.markdown(plain(model.about), width=READING_WIDTH)
    with st.container(horizontal=True):
        level = st.segmented_control("Level", LEVELS, default=model.level, required=True, key=f"solo.level.{chosen}")
        numbers = st.segmented_control(
            "Numbers", ("the pack's own", "drawn anew"), default="the pack's own", required=True, key="solo.numbers"
        )
    st.markdown(f":small[:gray[{PLAYED}]]", width=READING_WIDTH)
    st.button(
        "Begin",
        key="solo.begin",
        type="primary",
        icon=":material/play_arrow:",
        on_click=partial(_begin, chosen, level, numbers == "drawn anew"),
    )
    if refused := st.session_state.pop(_REFUSED, ""):
        st.markdown(f":red[:material/error: {plain(refused)}]")


def _begin(pack: str, level: Level, fresh_numbers: bool) -> None:
    st.session_state[_REFUSED] = solo.start(rooms.packs()[pack], level, fresh_numbers=fresh_numbers)


def session(found: Solo) -> None:
    """Script on top, then what the candidate of a live session has, then the scoring."""
    own = found.own
    own.page(_layout)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.title(plain(own.public.title), anchor=False)
        st.button("Leave", key="solo.leave", type="tertiary", icon=":material/logout:", on_click=solo.leave)
    by_itself = st.session_state.get("solo.by_itself", True)
    top_bar(own, on_over=partial(next_phase, found) if by_itself else None)
    if not own.public.finished:
        if own.clock().started and own.state.self_rating is None:
            st.toggle("Go on by itself when the time of a phase is over", value=True, key="solo.by_itself")
        if own.state.self_rating is None:
            script(found)
    rating(own, for_two=False)
    scoring(found)
    reads, writes = st.columns([1, 1], gap="large")
    with reads:
        released(own)
        probes(own)
        st.subheader("Claims", anchor=False)
        claims(own)
    with writes:
        pad(own)
    calculator(own)


def _layout(room: Room) -> object:
    """What changes the whole page: the phase, the end, and how far the scoring is."""
    return room.public.phase, room.public.finished, room.state.self_rating is None, room.state.revealed
