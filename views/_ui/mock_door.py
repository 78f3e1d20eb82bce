"""The door of a room: what is stored is said before anybody sits down, and no seat is lost by accident."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial

import streamlit as st

from core.mock.events import MAX_HANDLE
from core.storage.errors import StorageError
from views._ui import place
from views._ui.predict import READING_WIDTH
from views._ui.room import Room
from views._ui.rooms import ROLE_WORDS
from views._ui.words import plain

WATCHING = "mock.watching"
CONSENT = (
    "Stored: what is written, released and scored in this room, with times, and a name if you give one. "
    "No sound, no picture, no address. Everybody who has a link of this room sees what its role may see. "
    "This is practice evidence, not a hiring decision: do not use it for one."
)


def kept_until(room: Room) -> str:
    """Where a room is kept and until when."""
    try:
        expires = room.store.expires(room.id)
    except StorageError:
        expires = None
    where = "on this computer" if place.listens_locally() else "on this server"
    if expires is None:
        return f"Kept {where} until the interviewer deletes it."
    when = datetime.fromtimestamp(expires, UTC)
    return f"Kept {where} until {when:%d %B %Y, %H:%M} UTC, or until the interviewer deletes it."


def watches(room: Room) -> bool:
    """Whether this tab has chosen to watch without a seat."""
    return st.session_state.get(WATCHING) == (room.id, room.role)


def door(room: Room) -> None:
    """A form to take the seat; over a seat that another browser holds it asks first."""
    seat = room.state.seats.get(room.role)
    words = ROLE_WORDS[room.role].lower()
    with st.container(horizontal_alignment="center"), st.container(width=READING_WIDTH):
        st.title(plain(room.public.title), anchor=False)
        st.markdown(f"You have the link of the **{words}**: {room.public.minutes} minutes, {room.public.level} level.")
        st.markdown(f"{CONSENT} {kept_until(room)}")
        if seat is not None:
            here = "is here now" if room.role in room.attendance.here else "is away"
            st.warning(
                f"This seat is taken by another browser, which {here}. Watch, or take it over; the other one is told.",
                icon=":material/event_seat:",
            )
        st.text_input("Your name, if you like", key="door.handle", max_chars=MAX_HANDLE, width=320)
        with st.container(horizontal=True):
            st.button(
                "Agree and take the seat over" if seat else "Agree and take the seat",
                key="door.join",
                type="primary",
                icon=":material/login:",
                on_click=partial(_join, room, take_over=seat is not None),
            )
            if seat is not None:
                st.button("Watch", key="door.watch", icon=":material/visibility:", on_click=partial(_watch, room))
        room.refusal("joined", "consented")


def _join(room: Room, *, take_over: bool) -> None:
    handle = st.session_state.get("door.handle") or ""
    if room.act("joined", holder=room.tab, handle=handle, take_over=take_over):
        room.act("consented")
        st.session_state.pop(WATCHING, None)
    room.redraw()


def _watch(room: Room) -> None:
    st.session_state[WATCHING] = (room.id, room.role)


def watching_note(room: Room) -> None:
    """Above the page of somebody who watches a seat."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(":material/visibility: You are watching: another browser holds this seat.", width="content")
        st.button("Take the seat", key="door.back", type="tertiary", on_click=_back)


def _back() -> None:
    st.session_state.pop(WATCHING, None)
