"""Small diagrams as SVG text: shapes by class, so that the page's theme colours them; every text is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True, slots=True)
class Diagram:
    """One drawing for a wide column, one for a phone, and both in words. The drawings hold no text of others."""

    wide: str
    narrow: str
    alt: str


def svg(width: float, height: float, parts: Iterable[str]) -> str:
    """The drawing at its own size in pixels; it shrinks with its place and never grows."""
    body = "".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-2 -2 {width + 4:g} {height + 4:g}" width="{width + 4:g}"'
        f' height="{height + 4:g}" aria-hidden="true">{_ARROW}{body}</svg>'
    )


_ARROW = (
    '<defs><marker id="dia-head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"'
    ' orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" class="dia-tip"/></marker></defs>'
)


def box(x: float, y: float, width: float, height: float, kind: str = "", *, radius: float = 4) -> str:
    """A rectangle; ``kind`` names its class, such as the role of a colour."""
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius:g}" class="dia-box {kind}"/>'


def label(x: float, y: float, words: str, kind: str = "", *, anchor: str = "start") -> str:
    """One line of text; ``y`` is its base line."""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" class="{kind}">{escape(words)}</text>'


def arrow(path: str, kind: str = "", *, both: bool = False) -> str:
    """A line with a head at its end, or at both ends."""
    start = ' marker-start="url(#dia-head)"' if both else ""
    return f'<path d="{path}" class="dia-line {kind}" marker-end="url(#dia-head)"{start}/>'
