"""The drawing of a pipeline's schedule, live over micro-batches: Python played it, the browser picks a position."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import streamlit as st

from core.charts.pipeline import pipeline_figure
from core.pipeline_drawing import PipelineDrawing
from views._ui.assets import asset

_component = st.components.v2.component(
    "pipeline_picture",
    html=asset("pipeline_picture.html"),
    css=asset("range.css", "pipeline_picture.css"),
    js=asset("pipeline_picture.js"),
)


def pipeline_picture(drawing: PipelineDrawing, *, key: str, index: int, on_commit: Callable[[int], None]) -> None:
    """Draw it with the slider at ``index``.

    Nothing is sent while the hand moves; ``on_commit`` is called with the position when it lets go.
    """
    _component(
        key=key,
        # Text inside a list: Streamlit searches the values of a dict for data frames, and loads pandas to do so.
        data=[_message(drawing), {"index": index}],
        on_commit_change=lambda: _take_commit(key, len(drawing.micro_batches), on_commit),
    )


@lru_cache(maxsize=32)
def _message(drawing: PipelineDrawing) -> str:
    """What the browser needs, as JSON text; drawings are told apart by identity."""
    return json.dumps(pipeline_figure(drawing), separators=(",", ":"))


def _take_commit(key: str, count: int, on_commit: Callable[[int], None]) -> None:
    commit: Any = (st.session_state.get(key) or {}).get("commit")
    index = commit.get("index") if isinstance(commit, dict) else None
    if isinstance(index, int) and not isinstance(index, bool) and 0 <= index < count:
        on_commit(index)  # anything else is not from our own script
