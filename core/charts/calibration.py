"""The reliability plot: for each stated confidence the share that was right, with its interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from core.charts.svg import Diagram, label, svg

_SIDE = 280.0  # pixels of the square
_LEFT, _TOP, _BOTTOM = 44.0, 12.0, 44.0
TICKS = (0, 25, 50, 75, 100)


class Bin(Protocol):
    """Answers of one stated confidence (percent): how many, the share right, its interval, and whether they are few."""

    @property
    def confidence(self) -> int: ...
    @property
    def answers(self) -> int: ...
    @property
    def share_right(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def is_thin(self) -> bool: ...


def reliability_plot(bins: Sequence[Bin]) -> Diagram:
    """One drawing for all widths; thin bins are grey."""
    drawing = svg(_LEFT + _SIDE + 12, _TOP + _SIDE + _BOTTOM, [*_axes(), *(part for one in bins for part in _bin(one))])
    return Diagram(drawing, drawing, in_words(bins))


def in_words(bins: Sequence[Bin]) -> str:
    """The plot for who cannot see it."""
    said = [
        f"said {one.confidence}%, right {one.share_right:.0%} of {one.answers}, within {one.low:.0%} to {one.high:.0%}"
        for one in bins
    ]
    return "Confidence against share right: " + "; ".join(said) + "."


def _axes() -> Iterator[str]:
    yield f'<rect x="{_LEFT:g}" y="{_TOP:g}" width="{_SIDE:g}" height="{_SIDE:g}" class="dia-box dia-none"/>'
    yield f'<path d="M{_x(0):g} {_y(0):g}L{_x(1):g} {_y(1):g}" class="dia-line dia-dashed"/>'
    for tick in TICKS:
        yield label(_x(tick / 100), _TOP + _SIDE + 18, f"{tick}%", "dia-small dia-quiet", anchor="middle")
        yield label(_LEFT - 6, _y(tick / 100) + 4, f"{tick}%", "dia-small dia-quiet", anchor="end")
    yield label(_x(0.5), _TOP + _SIDE + 38, "how sure you said you were", "dia-small", anchor="middle")
    yield label(_LEFT + 8, _TOP + 18, "share right", "dia-small")


def _bin(one: Bin) -> Iterator[str]:
    kind = "dia-quiet-mark" if one.is_thin else "dia-mark"
    x = _x(one.confidence / 100)
    yield f'<path d="M{x:g} {_y(one.low):g}L{x:g} {_y(one.high):g}" class="dia-line {kind}"/>'
    yield f'<circle cx="{x:g}" cy="{_y(one.share_right):g}" r="5" class="{kind}"/>'


def _x(share: float) -> float:
    return _LEFT + share * _SIDE


def _y(share: float) -> float:
    return _TOP + (1 - share) * _SIDE
