"""Two strengths and two changes, in the words of the one who leads: what a candidate takes home."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.mock.events import MAX_LINE
from core.mock.roles import is_rater
from views._ui import drafts
from views._ui.room import Room

KINDS = ("strengths", "changes")
LABELS = {"strengths": "What was strong", "changes": "What to change"}
HOW_MANY = 2


def summary(room: Room) -> None:
    """The form, for the one who leads; it may be filled in before the commit and after."""
    if not room.seated or not is_rater(room.role) or room.role != room.state.lead:
        return
    kept = room.state.summary
    with st.expander("Two strengths, two changes", icon=":material/edit_note:", expanded=kept is None):
        with st.form("mock.summary.form", border=False):
            for kind in KINDS:
                lines = getattr(kept, kind) if kept else ()
                for number in range(HOW_MANY):
                    line = lines[number] if number < len(lines) else ""
                    label, key = f"{LABELS[kind]}, {number + 1}", _key(kind, number)
                    st.text_input(label, line, key=key, max_chars=MAX_LINE)
            st.form_submit_button("Put it on the scorecard", on_click=partial(_keep, room))
        drafts.keep(room, "mock.summary", *(_key(kind, number) for kind in KINDS for number in range(HOW_MANY)))
        room.refusal("summary")


def _key(kind: str, number: int) -> str:
    return f"mock.summary.{kind}.{number}"


def _keep(room: Room) -> None:
    typed = {kind: [st.session_state.get(_key(kind, number)) or "" for number in range(HOW_MANY)] for kind in KINDS}
    lines = {kind: [line for line in texts if line.strip()] for kind, texts in typed.items()}
    if room.act("summary", strengths=lines["strengths"], changes=lines["changes"]):
        drafts.settled("mock.summary")
    room.redraw()
