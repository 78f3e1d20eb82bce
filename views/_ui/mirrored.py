"""Controls that show a value of the room, which somebody else may change.

Streamlit tells a browser of `st.session_state[key] = value` in one message, once. Is the next run quicker than that
message, it is thrown away: the browser goes on showing what it had, or the first option, and sends that along with the
next press, as if by hand. And told with every draw, it undoes a press that is already on its way.

So the room's value is what a control begins with, and nothing is ever set. Where the control of this session has come
to differ from the room, a new one takes its place, by a key that no browser has seen.
"""

from __future__ import annotations

import secrets

import streamlit as st

from views._ui.room import Room


def key_of(room: Room, name: str, value: object) -> str:
    """The key of the control that shows ``value`` of the room; give the control the same value to begin with."""
    mark = f"{name}.of.{room.id}"
    key: str | None = st.session_state.get(mark)
    # Without a state the server has forgotten a control that the browser may still hold, with what it had then.
    if key is None or key not in st.session_state or st.session_state[key] != value:
        key = st.session_state[mark] = f"{name}.{secrets.token_hex(4)}"
    return key
