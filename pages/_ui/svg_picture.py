"""A still diagram on a page: SVG that core drew, in the colours of the theme, with its words for who cannot see it."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from core.charts.svg import Diagram
from core.charts.theme import PALETTE

_ASSETS = Path(__file__).resolve().parents[2] / "assets"
_component = st.components.v2.component(
    "svg_picture",
    html=(_ASSETS / "svg_picture.html").read_text(encoding="utf-8"),
    css=(_ASSETS / "svg_picture.css").read_text(encoding="utf-8"),
    js=(_ASSETS / "svg_picture.js").read_text(encoding="utf-8"),
)


def svg_picture(drawing: Diagram, *, key: str) -> None:
    """Draw it as wide as there is room."""
    # In a list: Streamlit looks for data frames in a bare dict, and imports pandas for that.
    _component(
        key=key,
        data=[{"wide": drawing.wide, "narrow": drawing.narrow, "alt": drawing.alt, "colours": PALETTE}],
    )
