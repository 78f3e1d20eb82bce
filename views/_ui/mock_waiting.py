"""What waits on the page for its reader: said in the bar, which is in view wherever the page is scrolled to."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.mock.roles import is_rater
from views._ui.assets import asset
from views._ui.mock_rating import RATE_ANCHOR, asks_for_rating
from views._ui.mock_scorecard import CARD_ANCHOR, is_open
from views._ui.room import Room

RATE, CARD = "Rate yourself", "Your scorecard"

_component = st.components.v2.component(
    "mock_waiting", html=asset("waiting.html"), css=asset("waiting.css"), js=asset("waiting.js")
)


def waiting(room: Room) -> None:
    """A part of the page, drawn also while nothing waits: what comes into it later is read out."""
    room.part("waiting", partial(_draw, room), waits)


def waits(room: Room) -> tuple[str, str]:
    """In words, with the anchor where it lies; a rater's scorecard is drawn once the session is over."""
    if not is_rater(room.role) and asks_for_rating(room):
        return RATE, RATE_ANCHOR
    if is_open(room) and (room.public.finished or not is_rater(room.role)):
        return CARD, CARD_ANCHOR
    return "", ""


def _draw(room: Room) -> None:
    _component(key="mock.waiting", data=list(waits(room)), height="content")
