"""At the end of every run: what the page ordered for the browser to keep is handed over, until the browser has it."""

from __future__ import annotations

import streamlit as st

from views._ui import store

TEXTS = ("progress", "own-cards")


def to_browser() -> None:
    """Nothing, and no progress loaded, as long as nobody has answered anything."""
    if "learner.edits" in st.session_state:
        from views._ui import learner

        learner.deliver()
    for key in TEXTS:
        store.deliver(key)
