"""The bar of the console: clock, phase and who is there, in view wherever the page is scrolled to."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.mock.roles import Role
from core.mock.scorecard_text import clock
from views._ui.mock_clock import session_clock
from views._ui.room import Room
from views._ui.rooms import ROLE_WORDS
from views._ui.words import plain

STRETCH_S = 60
SHOWN_SEATS: tuple[Role, ...] = ("candidate", "interviewer", "rater")


def bar(room: Room) -> None:
    """Two parts: the clock, and what is done with it."""
    with st.container(key="mock-bar-console", horizontal=True, vertical_alignment="center", gap="small"):
        with st.container(width=330):
            session_clock(room)
        room.part("bar", partial(_draw, room), _watch)


def _watch(room: Room) -> object:
    private = room.rater.private
    return (
        room.state.time,
        room.attendance,
        room.public.handles,
        private.stuck,
        private.leads,
        private.ready,
        private.seats,
    )


def _draw(room: Room) -> None:
    private, now = room.rater.private, room.clock()
    can_lead = private.leads and room.seated and not now.finished
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        _seats(room)
        if private.stuck:
            st.badge("Candidate is stuck", icon=":material/help:", color="orange")
        if not private.leads:
            st.badge(f"The {ROLE_WORDS[room.state.lead].lower()} leads", color="gray")
        if can_lead:
            _next(room)
            _clock_buttons(room)
    room.refusal("phase_started", "stretched", "paused", "resumed", "finished")


def _seats(room: Room) -> None:
    """A dot for each seat that was taken: full while its tab is there."""
    words = []
    for role in SHOWN_SEATS:
        if role == room.role or role not in room.state.seats:
            continue
        here = role in room.attendance.here
        name = room.state.seats[role].handle or ROLE_WORDS[role]
        ready = ", ready" if role in room.state.ready and not room.state.time.started_at else ""
        sign, word = (":green[\u25cf]", "here") if here else (":gray[\u25cb]", "away")
        words.append(f"{sign} {plain(name)} {word}{ready}")
    if "candidate" not in room.state.seats:
        words.insert(0, ":gray[\u25cb] no candidate yet")
    if room.attendance.watching:
        words.append(f":material/visibility: {room.attendance.watching}")
    st.markdown(" · ".join(words), width="content")


def _next(room: Room) -> None:
    """One press goes on; the menu goes anywhere, since a session does not always keep to the plan."""
    phases, at = room.rater.private.phases, room.state.time.phase
    following = 0 if at is None else at + 1
    if following < len(phases):
        name = phases[following].name
        st.button(
            f"Start the clock: {plain(name)}" if at is None else f"Next: {plain(name)}",
            key="console.next",
            type="primary",
            icon=":material/play_arrow:" if at is None else ":material/skip_next:",
            on_click=partial(room.do, "phase_started", phase=following),
        )
    else:
        st.button(
            "Finish the session",
            key="console.finish",
            type="primary",
            icon=":material/flag:",
            on_click=partial(room.do, "finished"),
        )
    if at is not None:
        st.menu_button(
            "Phases",
            [*_menu(room, at), "Finish the session"],
            key="console.phases",
            on_click=partial(_go, room),
        )


def _menu(room: Room, at: int) -> list[str]:
    """Each phase; those to come with the time that is left for them: what one takes, they lose."""
    left = {number: f", {clock(round(seconds))}" for number, seconds in room.clock().upcoming}
    names = [phase.name for phase in room.rater.private.phases]
    return [
        f"{number + 1} {name}{' (now)' if number == at else left.get(number, '')}" for number, name in enumerate(names)
    ]


def _go(room: Room) -> None:
    chosen = str(st.session_state.get("console.phases") or "")
    number = chosen.split(" ", 1)[0]
    if number.isdigit():
        room.do("phase_started", phase=int(number) - 1)
    else:
        room.do("finished")


def _clock_buttons(room: Room) -> None:
    time = room.state.time
    if time.phase is None:
        return
    if time.paused_at is None:
        st.button("Pause", key="console.pause", icon=":material/pause:", on_click=partial(room.do, "paused"))
    else:
        st.button("Resume", key="console.resume", icon=":material/play_arrow:", on_click=partial(room.do, "resumed"))
    for words, seconds in (("+1 min", STRETCH_S), ("-1 min", -STRETCH_S)):
        st.button(
            words.replace("-", "\u2212"),
            key=f"console.stretch.{seconds}",
            help="Longer or shorter: what this phase takes, those after it lose.",
            on_click=partial(room.do, "stretched", seconds=seconds),
        )
