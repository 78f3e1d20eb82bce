"""A page on a server that is behind: what a run hands over is sent a tenth of a second later, and a fragment ticks."""

import functools
import os
from collections.abc import Callable

import streamlit as st
from streamlit.runtime.app_session import AppSession

from views._ui import races


@functools.cache
def be_behind() -> None:
    def later(session: AppSession, callback: Callable[[], None]) -> None:
        loop = session._event_loop
        loop.call_soon_threadsafe(loop.call_later, 0.1, callback)

    AppSession._call_soon_on_event_loop = later  # type: ignore[method-assign]


@st.fragment(run_every=0.03)
def tick() -> None:
    st.write("A fragment")


be_behind()
if not os.environ.get("UNGUARDED"):
    races.guard()
tick()
st.session_state.presses = st.session_state.get("presses", 0) + st.button("Press")
st.write(f"Pressed {st.session_state.presses} times")
