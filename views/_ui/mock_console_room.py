"""The room itself: who sits where, the level, the lead, new links, the end."""

from __future__ import annotations

from functools import partial
from typing import get_args

import streamlit as st

from core.cards.models import Level
from core.mock.roles import RATERS, ROLES, Role
from core.storage.errors import StorageError
from views._ui import mock_links
from views._ui.mirrored import key_of, moved
from views._ui.mock_door import kept_until
from views._ui.room import Room
from views._ui.rooms import ROLE_WORDS, TOKEN_KEY
from views._ui.words import money_safe, plain

LEVELS: tuple[Level, ...] = get_args(Level)
NEW_LINK = "console.new_link"
LENS = "console.level"


def room_tab(room: Room) -> None:
    """Level, seats, lead, links, end."""
    private = room.rater.private
    _level(room)
    _seats(room)
    if (private.leads and room.seated) or (room.role == "interviewer" and room.seated):
        _hand_over(room)
    if room.role == "interviewer" and room.seated:
        _new_links(room)
        _delete(room)
    st.markdown(f":small[:gray[Room {room.id}. {kept_until(room)}]]")


def _level(room: Room) -> None:
    """The lens: the same evidence against another bar."""
    level = room.public.level
    key = key_of(room, LENS, level)
    st.segmented_control(
        "Level lens",
        LEVELS,
        default=level,
        required=True,
        key=key,
        disabled=not (room.seated and room.rater.private.leads),
        on_change=partial(_set_level, room, key),
    )
    st.markdown(money_safe(f":small[{room.rater.private.lens}]"))
    room.refusal("level_set")


def _set_level(room: Room, key: str) -> None:
    if moved(room, LENS, key):
        room.act("level_set", level=st.session_state[key])
    room.redraw()


def _seats(room: Room) -> None:
    rows = []
    for role in ROLES:
        seat = room.state.seats.get(role)
        if role == "observer":
            rows.append(f"- Observers: {room.attendance.watching} here")
        elif seat is None:
            rows.append(f"- {ROLE_WORDS[role]}: nobody yet")
        else:
            here = "here" if role in room.attendance.here else "away"
            lead = ", leads" if role == room.state.lead else ""
            name = f" {plain(seat.handle)}" if seat.handle else ""
            rows.append(f"- {ROLE_WORDS[role]}{name}: {here}{lead}")
    st.markdown("\n".join(rows))


def _hand_over(room: Room) -> None:
    for other in RATERS:
        if other == room.state.lead or (room.state.lead != room.role and other != room.role):
            continue
        st.button(
            "Take the lead back" if other == room.role else f"Hand the lead to the {ROLE_WORDS[other].lower()}",
            key=f"console.lead.{other}",
            icon=":material/swap_horiz:",
            help="Whoever leads holds the clock, the releases and the twists.",
            on_click=partial(room.do, "handed_over", to=other),
        )
    room.refusal("handed_over")


def _new_links(room: Room) -> None:
    """A new link for a seat: the old one opens nothing from then on."""
    with st.expander("New links", icon=":material/link:", key="console.links"):
        st.markdown("If a link went astray, make a new one. Whoever holds the old one is out within seconds.")
        with st.container(horizontal=True):
            for role in ROLES:
                st.button(
                    f"New link: {ROLE_WORDS[role].lower()}",
                    key=f"console.rotate.{role}",
                    on_click=partial(_rotate, room, role),
                )
        room.refusal("rotate")
        made: tuple[str, str, str] | None = st.session_state.get(NEW_LINK)
        if made is not None and made[0] == room.id:
            mock_links.links(room.id, {made[1]: made[2]})


def _rotate(room: Room, role: Role) -> None:
    try:
        token = room.rotate(role)
    except StorageError as error:
        room.refuse("rotate", str(error))
    else:
        st.session_state[NEW_LINK] = (room.id, role, token)
        mock_links.replaced(room.id, role, token)
        if role == room.role:
            st.query_params[TOKEN_KEY] = token
        st.rerun()  # the whole page, which keeps the link
    room.redraw()


def _delete(room: Room) -> None:
    with st.expander("Delete this room", icon=":material/delete:", key="console.delete.box"):
        st.markdown("Its log, links and notes are removed for everybody. Export the scorecard first.")
        sure = st.checkbox("I have what I need", key="console.delete.sure")
        st.button("Delete the room", key="console.delete", disabled=not sure, on_click=partial(_remove, room))
        room.refusal("delete")


def _remove(room: Room) -> None:
    try:
        room.delete()
    except StorageError as error:
        room.refuse("delete", str(error))
    room.redraw()
