"""The bar of the console: clock, phase and who is there, in view wherever the page is scrolled to."""

from __future__ import annotations

import secrets
from functools import partial

import streamlit as st

from core.mock.roles import Role
from core.mock.scorecard_text import clock
from views._ui.assets import asset
from views._ui.mock_clock import session_clock
from views._ui.mock_waiting import waiting
from views._ui.room import Room
from views._ui.rooms import ROLE_WORDS
from views._ui.words import plain

STRETCH_S = 60
LEFT_PX = 430  # clock and seats; beside it the buttons fit one line of a window of 1280 px
STUCK = ":orange[:material/help: Candidate is stuck]"
PRESSED = "console.pressed"
SHOWN_SEATS: tuple[Role, ...] = ("candidate", "interviewer", "rater")

_to_top = st.components.v2.component("to_top", js=asset("to_top.js"))


def bar(room: Room) -> None:
    """The clock with who is there below it, then what is done with it: what others do moves no button."""
    with st.container(key="mock-bar-console", horizontal=True, vertical_alignment="center", gap="small"):
        with st.container(width=LEFT_PX, gap=None):
            session_clock(room)
            room.part("seats", partial(_seats, room), _seats_depend_on)
            waiting(room)
        room.part("bar", partial(_draw, room), _watch)


def top(room: Room) -> None:
    """A part of the page without looks: after an own press that began a phase or ended the session, its top is shown.

    Draw it last: it leaves a gap where it stands.
    """
    room.part("top", partial(_top, room), _pressed)


def _top(room: Room) -> None:
    _to_top(key="console.top", data=[_pressed(room)], height="content")


def _pressed(room: Room) -> str:
    """A mark of the last press of this session in this room."""
    return str(st.session_state.get(f"{PRESSED}.{room.id}", ""))


def _moves_on(room: Room, kind: str, **fields: int) -> None:
    """A callback: begin a phase or end the session, and show where one is then."""
    if room.act(kind, **fields):
        st.session_state[f"{PRESSED}.{room.id}"] = secrets.token_hex(4)
    room.redraw()


def _watch(room: Room) -> object:
    private = room.rater.private
    return room.state.time, private.leads, room.seated, room.state.lead, _both_committed(room)


def _both_committed(room: Room) -> bool:
    return room.rater.private.own.committed is not None and room.rater.private.candidate_committed


def _draw(room: Room) -> None:
    private = room.rater.private
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if not private.leads:
            st.badge(f"The {ROLE_WORDS[room.state.lead].lower()} leads", color="gray")
        if private.leads and room.seated and not room.clock().finished:
            _next(room)
            _clock_buttons(room)
    room.refusal("phase_started", "stretched", "paused", "resumed", "finished")


def _seats_depend_on(room: Room) -> object:
    private = room.rater.private
    return room.attendance, room.public.handles, private.stuck, private.ready, private.seats, room.state.time.started_at


def _seats(room: Room) -> None:
    """A dot for each seat that was taken: full while its tab is there."""
    words = []
    for role in SHOWN_SEATS:
        if role == room.role or role not in room.state.seats:
            continue
        here = role in room.attendance.here
        name = plain(room.state.seats[role].handle or ROLE_WORDS[role])
        ready = ", ready" if role in room.state.ready and not room.state.time.started_at else ""
        sign, word = (":green[\u25cf]", "here") if here else (":gray[\u25cb]", "away")
        stuck = role == "candidate" and room.rater.private.stuck
        words.append(f"{sign} {STUCK}" if stuck else f"{sign} {name} {word}{ready}")
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
            on_click=partial(_moves_on, room, "phase_started", phase=following),
        )
    else:
        st.button(
            "Finish the session",
            key="console.finish",
            type="primary" if _both_committed(room) else "secondary",  # the scores and the own rating come first
            icon=":material/flag:",
            on_click=partial(_moves_on, room, "finished"),
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
        _moves_on(room, "phase_started", phase=int(number) - 1)
    else:
        _moves_on(room, "finished")


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
