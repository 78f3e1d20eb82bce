"""A still diagram on a page: SVG drawn on the server, in the theme's colours, with its words for who cannot see it."""

from __future__ import annotations

import streamlit as st

from core.charts.svg import Diagram
from core.charts.theme import PALETTE
from views._ui.assets import asset

_component = st.components.v2.component(
    "svg_picture",
    html=asset("svg_picture.html"),
    css=asset("svg_picture.css"),
    js=asset("svg_picture.js"),
)


def svg_picture(drawing: Diagram, *, key: str) -> None:
    """Draw it as wide as there is room."""
    # In a list: Streamlit looks for data frames in a bare dict, and imports pandas for that.
    _component(
        key=key,
        data=[{"wide": drawing.wide, "narrow": drawing.narrow, "alt": drawing.alt, "colours": PALETTE}],
    )
