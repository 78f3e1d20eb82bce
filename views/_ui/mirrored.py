"""Controls that show a value which somebody or something else may change: of the room, or of the session's scenario.

Streamlit tells a browser of `st.session_state[key] = value` in one message, once. Is the next run quicker than that
message, it is thrown away: the browser goes on showing what it had, or the first option, and sends that along with the
next press, as if by hand. And told with every draw, it undoes a press that is already on its way.

So the value is what a control begins with, and nothing is ever set. Where the control of this session has come to
differ from the value, a new one takes its place, by a key that no browser has seen.

    key = key_of(room, "lens", room.public.level)
    st.segmented_control("Level", LEVELS, default=room.public.level, key=key, on_change=partial(_set, room, key))

    def _set(room: Room, key: str) -> None:
        if moved(room, "lens", key):
            room.act("level_set", level=st.session_state[key])
        room.redraw()
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:  # a room brings its database along, and the steps have none
    from views._ui.room import Room


@dataclass(slots=True)
class _Control:
    """The control that stands for a value now, and the value that this session knows it to have."""

    key: str
    value: object


def key_of(room: Room, name: str, value: object) -> str:
    """The key of the control that shows ``value`` of the room; give the control the same value to begin with."""
    mark = _mark(room, name)
    control: _Control | None = st.session_state.get(mark)
    # Without a state the server has forgotten a control that the browser may still hold, with what it had then.
    if control is None or control.key not in st.session_state or st.session_state[control.key] != value:
        control = st.session_state[mark] = _Control(_unseen(name), value)
    control.value = value
    return control.key


def own_key_of(name: str, value: object) -> str:
    """The same for a value that this session alone can change. The first control's key is the name."""
    mark = _mark(None, name)
    control: _Control | None = st.session_state.get(mark)
    if control is None:
        control = st.session_state[mark] = _Control(name, value)
    # Of a control that was off the page a browser holds at most the last value that this session knew, or a move that
    # it has sent since. So one that comes back goes on, if the value is still the same.
    elif st.session_state.get(control.key, control.value) != value:
        control = st.session_state[mark] = _Control(_unseen(name), value)
    control.value = value
    return control.key


def moved(room: Room | None, name: str, key: str) -> bool:
    """In the callback of a room's control, or of the session's own: whether a hand has moved it.

    Its value is in the session's state.

    Of a control that has left the page Streamlit forgets the value and keeps the callback, and a browser that has not
    heard of it yet sends the value once more: for Streamlit a change.
    """
    control: _Control | None = st.session_state.get(_mark(room, name))
    value = st.session_state.get(key)
    if control is None or control.key != key or control.value == value:
        return False
    control.value = value
    return True


def _unseen(name: str) -> str:
    return f"{name}.{secrets.token_hex(4)}"


def _mark(room: Room | None, name: str) -> str:
    return f"{name}.of.{room.id if room else 'session'}"
