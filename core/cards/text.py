"""A card's text with its numbers put in: ``{{ expression | filter }}``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import NamedTuple

from core.cards.expressions import ExpressionError, evaluate, names_in
from core.cards.problems import short
from core.units import GB, MB, TB

_PLACEHOLDER = re.compile(r"\{\{([^{}]*)\}\}")


class TextError(ValueError):
    """A placeholder that cannot be filled; ``placeholder`` is as it stands in the text."""

    def __init__(self, message: str, placeholder: str) -> None:
        super().__init__(f"{short(placeholder)}: {message}")
        self.placeholder = placeholder


def significant(value: float, digits: int) -> str:
    """A number to some significant digits, grouped by thousands, without an exponent where a reader can do without."""
    if value == 0:
        return "0"
    if not 1e-4 <= abs(value) < 1e15:
        mantissa, _, exponent = f"{value:.{digits}g}".partition("e")
        return f"{mantissa}e{int(exponent)}" if exponent else mantissa  # 1e-7 as people write it, not 1e-07
    rounded = f"{value:.{digits - 1}e}"
    decimals = max(0, digits - 1 - int(rounded.partition("e")[2]))
    text = f"{float(rounded):,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def with_unit(value: float, digits: int, unit: str) -> str:
    """A number with its unit as it is written: 46.67%, 24.7x, 1.34 GB."""
    return f"{significant(value, digits)}{'' if unit in ('%', 'x', '') else ' '}{unit}"


FILTERS: dict[str, Callable[[float], str]] = {
    **{f"{digits}g": partial(significant, digits=digits) for digits in range(1, 8)},
    "int": lambda value: f"{round(value):,}",  # round gives no minus zero
    "pct": lambda value: f"{significant(100 * value, 3)}%",
    "MB": lambda value: f"{significant(value / MB, 4)} MB",
    "GB": lambda value: f"{significant(value / GB, 4)} GB",
    "TB": lambda value: f"{significant(value / TB, 4)} TB",
}


def placeholders(text: str) -> list[tuple[str, str]]:
    """Expression and filter of each placeholder, in order; the filter is empty where none is named.

    Raises:
        TextError: a filter that does not exist, an expression that is not of the language, a brace without its pair.
    """
    return [(piece.expression, piece.filter) for piece in _pieces(text) if isinstance(piece, _Placeholder)]


def fill(text: str, values: Mapping[str, float | str], digits: Mapping[str, int] | None = None) -> str:
    """The text with every placeholder replaced by its number, or by its words where the value is a text.

    Args:
        values: what the placeholders may name, in the units that the text prints.
        digits: significant digits of a name that stands alone without a filter; 6 where it names none.

    Raises:
        TextError: a placeholder names what is not there, or has no value.
    """
    numbers = {key: value for key, value in values.items() if not isinstance(value, str)}
    filled = []
    for piece in _pieces(text):
        if isinstance(piece, str):
            filled.append(piece)
        elif isinstance(words := values.get(piece.expression), str):
            filled.append(words)
        else:
            try:
                value = evaluate(piece.expression, numbers)
            except ExpressionError as error:
                raise TextError(str(error), piece.text) from None
            own_digits = (digits or {}).get(piece.expression, 6)
            filled.append(FILTERS[piece.filter](value) if piece.filter else significant(value, own_digits))
    return "".join(filled)


class _Placeholder(NamedTuple):
    text: str
    expression: str
    filter: str


@lru_cache(maxsize=4096)
def _pieces(text: str) -> tuple[str | _Placeholder, ...]:
    """A text taken apart: plain pieces and placeholders, in order."""
    pieces: list[str | _Placeholder] = []
    end = 0
    for match in _PLACEHOLDER.finditer(text):
        pieces += [text[end : match.start()], _placeholder(match)]
        end = match.end()
    pieces.append(text[end:])
    for piece in pieces:
        if isinstance(piece, str) and (brace := re.search(r"\{\{[^{}]{0,40}|\}\}", piece)):
            raise TextError("a placeholder is {{ name }}, with both pairs of braces", brace[0])
    return tuple(pieces)


def _placeholder(match: re.Match[str]) -> _Placeholder:
    expression, bar, name = (part.strip() for part in match[1].partition("|"))
    if bar and name not in FILTERS:
        raise TextError(f"there is no filter {short(name)}; known are {', '.join(FILTERS)}", match[0])
    try:
        names_in(expression)
    except ExpressionError as error:
        raise TextError(str(error), match[0]) from None
    return _Placeholder(match[0], expression, name)
