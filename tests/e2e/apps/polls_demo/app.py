"""A page that polls all the time, and a server that takes a tenth of a second to look whether there is news."""

import time

import streamlit as st
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState, get_script_run_ctx

from views._ui import room_polls


class SlowRoom:
    """Has always news, after a while."""

    def has_news(self) -> bool:
        time.sleep(0.1)
        return True


@st.fragment(run_every=0.15)
def pulse() -> None:
    fragment, run = ThreadState.get().fragment_id, get_script_run_ctx()
    assert fragment is not None
    assert run is not None
    room_polls.watch(run.session_id, fragment, st.session_state.room)
    st.session_state.beats = st.session_state.get("beats", 0) + 1
    st.write(f"Beats: {st.session_state.beats}")


def moved() -> None:
    st.session_state.setdefault("moves", []).append(str(st.session_state.level))


@st.fragment
def levels() -> None:
    st.radio("Level", ["1", "2", "3", "4"], key="level", on_change=moved)
    st.write(f"Moves: {' '.join(st.session_state.get('moves', []))}.")


st.session_state.setdefault("room", SlowRoom())
levels()
pulse()
