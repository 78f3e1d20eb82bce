"""Drawings as SVG: made in Python at two widths, coloured in the browser by theme, with a text alternative."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Literal

import streamlit as st

from core.charts.theme import PALETTE

WIDE, NARROW = 640, 340  # pixels; a phone of 390 leaves 358
Anchor = Literal["start", "middle", "end"]

_ASSETS = Path(__file__).resolve().parents[2] / "assets"
_component = st.components.v2.component(
    "diagram",
    html='<div class="diagram" role="img"><div class="wide"></div><div class="narrow"></div></div>',
    css=(_ASSETS / "diagram.css").read_text(encoding="utf-8"),
    js=(_ASSETS / "diagram.js").read_text(encoding="utf-8"),
)


class Canvas:
    """Shapes and words on a given width; coordinates are pixels from the top left corner."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._parts: list[str] = []

    @property
    def narrow(self) -> bool:
        """Whether this is the drawing for a phone."""
        return self.width < WIDE

    def text(
        self, x: float, y: float, words: str, *, anchor: Anchor = "start", strong: bool = False, small: bool = False
    ) -> None:
        """One line of words; ``y`` is its baseline."""
        kind = "strong" if strong else "small" if small else "plain"
        self._parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">{escape(words)}</text>'
        )

    def bar(self, x: float, y: float, width: float, height: float, role: str) -> None:
        """A filled bar in the colour of a role of :mod:`core.charts.theme`, or in the page's accent."""
        fill = 'class="accent"' if role == "accent" else f'style="fill:var(--role-{role})"'
        self._parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{height:.1f}" rx="2" {fill}/>'
        )

    def box(self, x: float, y: float, width: float, height: float) -> None:
        """An outlined box to write into."""
        self._parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="8" class="box"/>'
        )

    def arrow(self, *points: tuple[float, float]) -> None:
        """A line through points, with a head at the last; the last piece is straight down, up, left or right."""
        (x0, y0), (x, y) = points[-2:]
        dx, dy = (x > x0) - (x < x0), (y > y0) - (y < y0)
        head = f"{x - 5 * dx - 4 * dy},{y - 5 * dy - 4 * dx} {x},{y} {x - 5 * dx + 4 * dy},{y - 5 * dy + 4 * dx}"
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        self._parts += [f'<polyline points="{path}" class="line"/>', f'<polyline points="{head}" class="line"/>']

    def svg(self, height: float) -> str:
        """The drawing; the words for those who do not see it stand on the element around it."""
        size = f'width="{self.width}" height="{height:.0f}" viewBox="0 0 {self.width} {height:.0f}"'
        return f'<svg {size} aria-hidden="true" focusable="false">{"".join(self._parts)}</svg>'


def diagram(draw: Callable[[Canvas], float], alt: str, *, key: str) -> None:
    """Show a drawing.

    Args:
        draw: draws onto a canvas of either width, and returns the height that it took.
        alt: the same in words.
    """
    _component(key=key, data=[drawing(draw, alt)])  # in a list, so that Streamlit looks for no data frame in it


def drawing(draw: Callable[[Canvas], float], alt: str) -> dict[str, object]:
    """What the browser is given."""

    def at(width: int) -> str:
        canvas = Canvas(width)
        return canvas.svg(draw(canvas))

    return {"alt": alt, "wide": at(WIDE), "narrow": at(NARROW), "colours": PALETTE}
