"""Keys for quiz questions, unless the reader has switched them off in Settings."""

from __future__ import annotations

import streamlit as st

from views._ui import settings
from views._ui.assets import asset

_component = st.components.v2.component("keys", js=asset("keys.js"))
WORDS = "Keys: 1 to 5 choose, c sets how sure you are, Enter commits"


def quiz_keys() -> None:
    """Listen while a question or its answer is on the page, and say so."""
    if settings.keys_on():
        _component(key="quiz.keys", data=[0], height="content")
        st.markdown(f":small[:gray[{WORDS}. Settings can switch them off.]]")
