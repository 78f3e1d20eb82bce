"""A canvas for drawings that are laid out anew for a phone: pixels from the top left corner, at either width."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from core.charts.svg import Diagram, box, label, svg

WIDE, NARROW = 640, 340  # pixels; a phone of 390 leaves 358
Anchor = Literal["start", "middle", "end"]


class Canvas:
    """Shapes and words on a given width."""

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
        kind = "dia-strong" if strong else "dia-small dia-quiet" if small else ""
        self._parts.append(label(x, y, words, kind, anchor=anchor))

    def bar(self, x: float, y: float, width: float, height: float, role: str) -> None:
        """A filled bar in the colour of a role of :mod:`core.charts.theme`, or in the page's accent."""
        fill = 'class="dia-accent"' if role == "accent" else f'style="fill:var(--{role})"'
        self._parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{height:.1f}" rx="2" {fill}/>'
        )

    def box(self, x: float, y: float, width: float, height: float) -> None:
        """An outlined box to write into."""
        self._parts.append(box(x, y, width, height, "dia-node", radius=8))

    def arrow(self, *points: tuple[float, float]) -> None:
        """A line through points, with a head at the last; the last piece is straight down, up, left or right."""
        (x0, y0), (x, y) = points[-2:]
        dx, dy = (x > x0) - (x < x0), (y > y0) - (y < y0)
        head = (x - 5 * dx - 4 * dy, y - 5 * dy - 4 * dx), (x, y), (x - 5 * dx + 4 * dy, y - 5 * dy + 4 * dx)
        for path in (points, head):
            corners = " ".join(f"{a:g},{b:g}" for a, b in path)
            self._parts.append(f'<polyline points="{corners}" class="dia-line"/>')

    def svg(self, height: float) -> str:
        """The drawing."""
        return svg(self.width, height, self._parts)


def diagram(draw: Callable[[Canvas], float], alt: str) -> Diagram:
    """A drawing at both widths.

    Args:
        draw: draws onto a canvas of either width, and returns the height that it took.
        alt: the same in words.
    """

    def at(width: int) -> str:
        canvas = Canvas(width)
        return canvas.svg(draw(canvas))

    return Diagram(at(WIDE), at(NARROW), alt)
