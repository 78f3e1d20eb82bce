"""A clock that counts down in the browser and says once that time is over; the server is not asked meanwhile."""

from __future__ import annotations

import streamlit as st

from views._ui.assets import asset

_CSS = (
    ".rp-clock { font: 600 1.25rem var(--st-font); color: var(--st-text-color); font-variant-numeric: tabular-nums; }"
)
_component = st.components.v2.component("countdown", js=asset("countdown.js"), css=_CSS)


def countdown(seconds_left: float, *, key: str) -> None:
    """Draw it; when it reaches zero the page is run again."""
    _component(
        key=key, data=[round(seconds_left * 1000)], on_over_change=lambda: None, width="content", height="content"
    )
