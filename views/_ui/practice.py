"""How every practice page begins: progress and own cards from the browser, and what could not be kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from views._ui import learner, own_cards


@contextmanager
def practice_page(title: str = "") -> Iterator[None]:
    """The column of a practice page, connected to the learner's browser."""
    learner.mount()
    own_cards.mount()
    with st.container(horizontal_alignment="center"), st.container(width=1080):
        if title:
            st.title(title, anchor=False)
        learner.trouble()
        yield
