"""Two pages: the first has a fragment with a button, the second takes a second to draw."""

import os
import time

import streamlit as st

from views._ui import races


@st.fragment
def counter() -> None:
    st.session_state.presses = st.session_state.get("presses", 0) + st.button("Press")
    st.write(f"Pressed {st.session_state.presses} times")


def first() -> None:
    st.title("First")
    st.write("One line more than on the second page")
    counter()


def second() -> None:
    st.title("Second")
    time.sleep(1)
    st.write(f"All of it, after {st.session_state.get('presses', 0)} presses")
    counter()


if not os.environ.get("UNGUARDED"):
    races.guard()
page = st.navigation([st.Page(first, default=True), st.Page(second)], position="top")
races.arrived()
page.run()
