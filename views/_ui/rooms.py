"""The rooms of this server and the packs that they play: one store for the process, opened when it is first asked."""

from __future__ import annotations

import os
import re
import secrets
from contextlib import suppress
from functools import lru_cache

import streamlit as st

from core.mock.plan import PlanError, plan_of
from core.mock.reading import Pack, read_mocks
from core.mock.roles import Role
from core.storage.engine import URL_VARIABLE
from core.storage.errors import StorageError
from core.storage.rooms import RoomStore
from views._ui import bank, place
from views._ui.assets import asset

ROOM_KEY, TOKEN_KEY = "room", "key"  # of the address
COOKIE = "ridgepoint_browser"
ROLE_WORDS: dict[Role, str] = {
    "interviewer": "Interviewer",
    "rater": "Second rater",
    "candidate": "Candidate",
    "observer": "Observer",
}
_NAME = re.compile(r"b[A-Za-z0-9_-]{21}")  # of a browser, as it is made below
_BROWSER, _TO_KEEP = "rooms.browser", "rooms.browser_to_keep"
_remember = st.components.v2.component("room_browser", js=asset("remember.js"))


@st.cache_resource(show_spinner=False, on_release=lambda kept: kept.engine.dispose())
def store() -> RoomStore:
    """The store: a URL in the environment or in Streamlit's secrets, else a SQLite file. Hosted rooms end after a day.

    Raises:
        StorageError: it cannot be opened; asked again, it is tried again.
    """
    url = None
    if st.secrets.load_if_toml_exists():
        url = str(st.secrets.get(URL_VARIABLE, "")) or None
    return RoomStore.open(_environment() or url, hosted=not place.listens_locally())


def _environment() -> str | None:
    return os.environ.get(URL_VARIABLE) or None


def tidy() -> None:
    """On any visit, at most once an hour: rooms whose time is over go, also where nobody makes new ones."""
    if not place.listens_locally():
        with suppress(StorageError):  # whoever opens a room is told
            store().purge_when_due()


def address() -> str | None:
    """Who asks for a new room, as far as it matters: on the reader's own machine nobody is counted."""
    return None if place.listens_locally() else st.context.ip_address


@lru_cache(maxsize=1)
def packs() -> dict[str, Pack]:
    """The packs that can be played, by id; one with a fault is left out (the tests find it)."""
    playable = {}
    for pack in read_mocks().packs.values():
        try:
            plan_of(pack, bank.shipped())
        except PlanError:
            continue
        playable[pack.id] = pack
    return playable


def browser_id() -> str:
    """A random name of this browser, by which it keeps its seat over a reload; a cookie keeps it for the next visit."""
    if _BROWSER not in st.session_state:
        kept = str(st.context.cookies.get(COOKIE, ""))
        known = _NAME.fullmatch(kept) is not None
        st.session_state[_BROWSER] = kept if known else f"b{secrets.token_urlsafe(16)[:21]}"
        st.session_state[_TO_KEEP] = not known
    name: str = st.session_state[_BROWSER]
    return name


def keep_browser_id() -> None:
    """Write the cookie, if it is not there yet."""
    browser_id()
    if st.session_state.get(_TO_KEEP):
        _remember(key="rooms.remember", data=[COOKIE, browser_id()])


def query_of(room: str, token: str) -> dict[str, str]:
    """The address of a room for whoever holds this token."""
    return {ROOM_KEY: room, TOKEN_KEY: token}
