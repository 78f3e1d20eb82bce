"""The live chart on a page: drawn in the browser, in place, from tables that Python computed once.

    index = live_chart(memory_by_gpus(...), key="zero.chart")

While the slider is dragged nothing is sent. On release the position is committed and the page runs once; ``index``
is then the committed position. A page moves the slider by passing another ``LiveSlider.index``, or with
``move_live_slider`` from a callback.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import streamlit as st

from core.charts.live import LiveFigure
from core.charts.theme import DASH, NEUTRALS, PALETTE, PATTERN
from views._ui.assets import asset
from views._ui.static_files import plotly_file

_component = st.components.v2.component(
    "live_chart",
    html=asset("live_chart.html"),
    css=asset("range.css", "live_chart.css"),
    js=asset("live_chart.js"),
    isolate_styles=False,  # plotly.js writes its own styles into the document
)
_LOOK = {"palette": PALETTE, "patterns": PATTERN, "dashes": DASH, "neutrals": NEUTRALS}


@dataclass(slots=True)
class _Position:
    """Where a chart's slider stands, kept for the session so that it is found again after another page.

    The browser moves when ``token`` changes, and only then. So after a commit the message to the browser is the same
    as before, Streamlit sends its hash only, and a drag that has begun meanwhile is not disturbed.
    """

    index: int
    asked: int  # LiveSlider.index of the last run
    texts: tuple[str, ...]
    token: str = ""
    sent: int = 0

    def move(self, index: int) -> None:
        self.index = self.sent = index
        self.token = secrets.token_hex(6)


def live_chart(
    live: LiveFigure, *, key: str, index: int | None = None, on_commit: Callable[[int], None] | None = None
) -> int:
    """Draw a live figure and return the committed slider position (0 without a slider).

    Args:
        live: the figure with its tables. One that a page keeps is turned into a message once.
        key: unique in the app, starting with the topic: ``zero.chart``.
        index: where the slider stands; left out, where the figure starts it.
        on_commit: called with the new position before the page runs, when the slider has been released.
    """
    position = _position(live, key, index)
    _component(
        key=key,
        # Text inside a list: Streamlit searches the values of a dict for data frames, and loads pandas to do so.
        data=[_message(live), {"key": key, "token": position.token, "index": position.sent}],
        on_commit_change=lambda: _take_commit(key, on_commit),
    )
    return position.index


def move_live_slider(key: str, index: int) -> None:
    """Move a chart's slider from Python: before the chart is drawn in this run, or in a callback."""
    st.session_state[f"{key}.move"] = index


@lru_cache(maxsize=64)
def _message(live: LiveFigure) -> str:
    """What the browser needs of a figure, as JSON text; figures are told apart by identity."""
    return json.dumps({**live.payload(), **_LOOK, "plotly": plotly_file()}, separators=(",", ":"))


def _position(live: LiveFigure, key: str, index: int | None) -> _Position:
    asked = index if index is not None else live.slider.index if live.slider else 0
    texts = tuple(live.slider.positions) if live.slider else ("",)
    committed: int | None = st.session_state.pop(f"{key}.committed", None)
    ordered: int | None = st.session_state.pop(f"{key}.move", None)
    position: _Position | None = st.session_state.get(f"{key}.position")
    if position is None:
        position = _Position(asked, asked, texts)
        position.move(asked)
        st.session_state[f"{key}.position"] = position
    if committed is not None and committed < len(position.texts):
        position.index = committed  # the browser is there already
    elif ordered is not None:
        position.move(min(max(ordered, 0), len(texts) - 1))
        position.texts = texts
    elif asked != position.asked:
        if asked != position.index:
            position.move(asked)
        position.texts = texts
    if position.texts != texts:
        _keep_meaning(position, texts)
    position.asked = asked
    return position


def _keep_meaning(position: _Position, texts: tuple[str, ...]) -> None:
    """The slider has other positions now: stay at the one that reads the same, or as near the end as there is room."""
    text = position.texts[position.index]
    index = texts.index(text) if text in texts else min(position.index, len(texts) - 1)
    if index != position.index:
        position.move(index)
    position.texts = texts


def _take_commit(key: str, on_commit: Callable[[int], None] | None) -> None:
    commit: Any = (st.session_state.get(key) or {}).get("commit")
    index = commit.get("index") if isinstance(commit, dict) else None
    position: _Position | None = st.session_state.get(f"{key}.position")
    known = len(position.texts) if position else 0
    if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < known:
        return  # not from our own script, or from a slider that meanwhile has fewer positions
    st.session_state[f"{key}.committed"] = index
    if on_commit is not None:
        on_commit(index)
