"""Pin the numbers of a moment; every number then shows its difference from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from views._ui.words import inline

T = TypeVar("T")


def pinned(topic: str, kind: type[T]) -> T | None:
    """What is pinned on this page, if anything."""
    value = st.session_state.get(f"{topic}.baseline")
    return value if isinstance(value, kind) else None


def pin_buttons(topic: str, now: Callable[[], tuple[object, str]]) -> None:
    """Pin what stands on the page when the button is pressed, or let go of it; ``now`` gives numbers and their name."""
    with st.container(horizontal=True, vertical_alignment="center", width="content"):
        st.button("Pin as baseline", icon=":material/push_pin:", key=f"{topic}.pin", on_click=_pin, args=(topic, now))
        if f"{topic}.baseline" in st.session_state:
            st.button(
                "Let go", icon=":material/close:", type="tertiary", key=f"{topic}.unpin", on_click=_unpin, args=(topic,)
            )
            st.caption(f"Pinned: {inline(st.session_state[f'{topic}.about'])}")


def _pin(topic: str, now: Callable[[], tuple[object, str]]) -> None:
    st.session_state[f"{topic}.baseline"], st.session_state[f"{topic}.about"] = now()


def _unpin(topic: str) -> None:
    del st.session_state[f"{topic}.baseline"], st.session_state[f"{topic}.about"]
