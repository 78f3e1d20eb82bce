"""Wishes of the reader: GB or GiB, predictions and quiz keys on or off; a cookie keeps them for the next visit."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, cast
from urllib.parse import parse_qsl, unquote, urlencode

import streamlit as st

Unit = Literal["GB", "GiB"]
COOKIE = "ridgepoint_settings"
_UNIT, _PREDICT, _KEYS = "settings.unit", "settings.predictions", "settings.keys"
_JS = (Path(__file__).parents[2] / "assets" / "remember.js").read_text(encoding="utf-8")
_remember = st.components.v2.component("remember", js=_JS)


def load() -> None:
    """Once a session: take the wishes from the cookie, if it holds any."""
    if _UNIT in st.session_state:
        return
    kept = dict(parse_qsl(unquote(st.context.cookies.get(COOKIE, ""))))
    st.session_state[_UNIT] = "GiB" if kept.get("unit") == "GiB" else "GB"
    st.session_state[_PREDICT] = kept.get("predictions") != "off"
    st.session_state[_KEYS] = kept.get("keys") != "off"


def unit() -> Unit:
    """The family of units for memory: decimal GB or binary GiB."""
    return cast(Unit, st.session_state.get(_UNIT, "GB"))


def predictions_on() -> bool:
    """Whether pages ask for a prediction before they show a result."""
    return bool(st.session_state.get(_PREDICT, True))


def keys_on() -> bool:
    """Whether single keys answer quiz questions."""
    return bool(st.session_state.get(_KEYS, True))


def choose(*, unit: str | None = None, predictions: bool | None = None, keys: bool | None = None) -> None:
    """Change a wish now and remember it in the browser."""
    if unit is not None:
        st.session_state[_UNIT] = unit
    if predictions is not None:
        st.session_state[_PREDICT] = predictions
    if keys is not None:
        st.session_state[_KEYS] = keys
    st.session_state["settings.to_keep"] = True


def keep() -> None:
    """Write the cookie, in the run after a wish was changed."""
    if st.session_state.get("settings.to_keep"):
        wishes = {"unit": unit(), "predictions": _word(predictions_on()), "keys": _word(keys_on())}
        value = urlencode(wishes)
        _remember(key="settings.remember", data=[COOKIE, value])


def _word(on: bool) -> str:
    return "on" if on else "off"
