"""The clock of a room as everybody in it sees it: it counts in the browser, and the server is asked for nothing."""

from __future__ import annotations

import streamlit as st

from core.mock.clock import WARN_SHARE, Clock
from core.mock.state import Timeline
from pages._ui.assets import asset
from pages._ui.room import Room

_component = st.components.v2.component("room_clock", js=asset("room_clock.js"), css=asset("room_clock.css"))


def room_clock(room: Room, *, key: str = "room.clock") -> None:
    """Draw it; the part in which it lies watches :func:`clock_watch`."""
    now = room.clock()
    name = "" if now.phase is None else room.pack.model.phases[now.phase].name
    _component(
        key=key,
        data=[
            {
                "started": now.started,
                "running": now.running,
                "stopped": _stopped(now, room.state.time),
                "phase": name,
                "left": round(now.phase_left_s, 1),
                "length": round(now.phase_s, 1),
                "total": round(now.left_s, 1),
                "warn": WARN_SHARE,
            }
        ],
        height="content",
    )


def clock_watch(room: Room) -> object:
    """What the clock depends on, beside the time."""
    return room.state.time


def _stopped(now: Clock, time: Timeline) -> str:
    if now.finished:
        return "stopped: the session is finished"
    return "paused" if now.paused else ""
