"""Colours and fill patterns by role: the same thing has the same colour on every chart, and never colour alone.

A figure names the role of a trace (``meta={"role": "weights"}``), or a role for each point (``"roles"``); the browser
looks the colour up for the theme that is showing, so a theme switch needs no rerun.
"""

from __future__ import annotations

from typing import Final

PAGE: Final[dict[str, str]] = {"light": "#FFFFFF", "dark": "#0E1420"}
"""Page background of each scheme, as in .streamlit/config.toml: what contrast is measured against."""

PARTS: Final = ("weights", "gradients", "optimizer", "activations", "kv", "communication")
"""Things that take memory or time. Told apart by colour for normal and colour-blind sight, and by pattern."""

NEUTRALS: Final = ("idle", "other")
"""Nothing happens, or not broken down further. Grey, and hatched so that they read as absence."""

FOLLOWERS: Final = ("accent", "limit", "muted")
"""Roles that take a colour of the page: its accent (one series, no part), its text, its secondary text."""

ROLES: Final = (*PARTS, *NEUTRALS, *FOLLOWERS)

PALETTE: Final[dict[str, dict[str, str]]] = {
    "light": {
        "weights": "#7494D5",
        "gradients": "#147B65",
        "optimizer": "#B48F25",
        "activations": "#591852",
        "kv": "#6833A9",
        "communication": "#8B0000",
        "idle": "#7A8694",
        "other": "#5A6675",
    },
    "dark": {
        "weights": "#71B1FF",
        "gradients": "#5FFAEA",
        "optimizer": "#F5D256",
        "activations": "#F07793",
        "kv": "#7367EC",
        "communication": "#AA5640",
        "idle": "#7D8A9B",
        "other": "#9AA6B5",
    },
}
"""``PALETTE[scheme][role]``. tests/charts/test_theme.py holds contrast and distance."""

PATTERN: Final[dict[str, str]] = {
    "weights": "",
    "gradients": "/",
    "optimizer": ".",
    "activations": "x",
    "kv": "\\",
    "communication": "-",
    "idle": "|",
    "other": "+",
}
"""``marker.pattern.shape`` of a filled part; "" is solid. No two parts share one."""

DASH: Final[dict[str, str]] = {
    "weights": "solid",
    "gradients": "6px,3px",
    "optimizer": "2px,3px",
    "activations": "8px,3px,2px,3px",
    "kv": "14px,3px",
    "communication": "12px,3px,2px,3px,2px,3px",
    "idle": "2px,6px",
    "other": "5px,6px",
    "accent": "solid",
    "limit": "6px,4px",
    "muted": "solid",
}
"""``line.dash`` of a line that has neither a label at its end nor a dash of its own. No two parts share one."""
