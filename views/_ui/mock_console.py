"""The interviewer's console: clock, what to say or ask next and the evidence box are in view without scrolling."""

from __future__ import annotations

import streamlit as st

from views._ui.assets import asset
from views._ui.mock_console_bar import bar, top
from views._ui.mock_console_evidence import evidence_box
from views._ui.mock_console_now import now
from views._ui.mock_console_tabs import tabs
from views._ui.mock_scorecard import scorecard_view
from views._ui.room import Room

_CSS = asset("mock_bar.css", "mock_console.css", "mock_menu.css")


def console(room: Room) -> None:
    """All of it, below the scorecard once the session is over; ``room.pulse()`` comes after.

    A second rater has the same, without what only the lead may do.
    """
    bar(room)
    if room.public.finished:  # what both came for, above what led there
        scorecard_view(room)
    left, right = st.columns([9, 11], gap="large")
    with left:
        now(room)
    with right:
        tabs(room)
    evidence_box(room)
    top(room)
    st.html(f"<style>{_CSS}</style>")
