"""What is typed into the boxes of a form and not sent yet: kept by the browser tab until the room has it.

with st.form("console.note.form"):
    st.text_area("Private note", key="console.note")
    st.form_submit_button("Keep the note", on_click=keep)      # calls drafts.settled("console.note", text)
drafts.keep(room, "console.note", "console.note")              # after the form, in the same part
"""

from __future__ import annotations

import re
import secrets

import streamlit as st

from views._ui.assets import asset
from views._ui.room import Room

_component = st.components.v2.component("drafts", js=asset("drafts.js"))


def keep(room: Room, form: str, *boxes: str) -> None:
    """Keep what is typed into these boxes over a reload and over a server that is restarted.

    Args:
        form: a name for them together, the same in ``settled``.
        boxes: keys of text inputs and text areas, always in the same order.
    """
    token, *sent = st.session_state.get(_token_of(form), [""])
    back = st.session_state.get(_back_of(form), "")
    _component(
        key=f"drafts.{form}",  # mock_bar.css takes it out of the flow
        data=[form, f"{room.id}.{room.role}", token, [f"st-key-{_class_of(box)}" for box in boxes], back, sent],
        height="content",
    )


def settled(form: str, *sent: str) -> None:
    """In a callback: the room has what was sent, or the page has itself written into the boxes.

    Args:
        sent: what the room has, by box; what was typed since stays a draft. Left out, nothing does.
    """
    st.session_state[_token_of(form)] = [secrets.token_hex(6), *sent]


def refused(form: str) -> None:
    """In a callback: the room did not take what was sent, so it belongs into its boxes again, now."""
    st.session_state[_back_of(form)] = secrets.token_hex(6)


def _token_of(form: str) -> str:
    return f"{form}.drafts.token"


def _back_of(form: str) -> str:
    return f"{form}.drafts.back"


def _class_of(key: str) -> str:
    """A key as Streamlit writes it into an element's class."""
    return re.sub(r"[^a-zA-Z0-9_-]", "-", key)
