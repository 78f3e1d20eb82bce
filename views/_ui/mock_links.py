"""The links of a room, to be copied: each opens one seat, and whoever has it has that seat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import parse_qs, urlencode, urlsplit

import streamlit as st

from core.mock.roles import Role
from views._ui import own_rooms
from views._ui.rooms import ROLE_WORDS, ROOM_KEY, TOKEN_KEY, query_of

ROOM_PATH = "room"
ORDER: tuple[Role, ...] = ("candidate", "interviewer", "rater", "observer")  # the one to send comes first
FOR_WHOM = {
    "interviewer": "yours: keep it",
    "rater": "for a colleague who scores as well; leave it unused otherwise",
    "candidate": "send this one to the candidate",
    "observer": "to watch what is public",
}

_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
ONLY_HERE = (
    "You opened this page as {}, so these links open on this machine alone. For somebody elsewhere open the app by an "
    "address that they can reach (make run prints one as Network URL), and copy the links there."
)
_REPLACED = "mock.links.replaced"


def link_of(room: str, token: str) -> str:
    """The whole address, on the host that this page was opened at."""
    here = urlsplit(st.context.url or "")
    base = here.path.rsplit("/", 1)[0]
    return f"{here.scheme}://{here.netloc}{base}/{ROOM_PATH}?{urlencode(query_of(room, token))}"


def links(room: str, tokens: Mapping[str, str]) -> None:
    """The links with a button each that copies it."""
    if (host := urlsplit(st.context.url or "").hostname) in _THIS_MACHINE:
        st.markdown(f":small[:orange[:material/warning: {ONLY_HERE.format(host)}]]")
    for role in ORDER:
        if role in tokens:
            st.markdown(f"**{ROLE_WORDS[role]}** :small[:gray[{FOR_WHOM[role]}]]")
            st.code(link_of(room, tokens[role]), language=None, wrap_lines=True)


def read_link(text: str) -> dict[str, str] | None:
    """The address of a room from a pasted link, or from the part of it after the question mark."""
    try:
        query = parse_qs(urlsplit(text.strip()).query or text.strip().rpartition("?")[2])
    except ValueError:
        return None
    room, token = (query.get(name, [""])[0] for name in (ROOM_KEY, TOKEN_KEY))
    return query_of(room, token) if room and token else None


def replaced(room: str, role: Role, token: str) -> None:
    """In a callback: a link was made anew. Run the page then: ``keep_replaced`` writes it down."""
    st.session_state.setdefault(_REPLACED, []).append((room, role, token))


def keep_replaced() -> None:
    """Once a page run: the list of the browser that opened the room gets its new links, else it holds dead ones."""
    new: list[tuple[str, Role, str]] = st.session_state.get(_REPLACED, [])
    if not new:
        return
    own = own_rooms.mount()
    if not own.kept.ready:
        return  # the browser's answer runs the page again
    listed = {row.room: row for row in own.rooms}
    for room, role, token in new:
        if room in listed:
            listed[room] = replace(listed[room], tokens={**listed[room].tokens, role: token})
    if own.kept.text:
        own.kept.save(own_rooms.written(tuple(listed.values())))
    if not own.kept.saving:
        st.session_state[_REPLACED] = []
