"""A card's text with its numbers put in: ``{{ expression | filter }}``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial

from core.cards.expressions import ExpressionError, evaluate, names_in
from core.units import GB, MB, TB

_PLACEHOLDER = re.compile(r"\{\{(?P<body>.*?)\}\}", re.S)


class TextError(ValueError):
    """A placeholder that cannot be filled."""


def significant(value: float, digits: int) -> str:
    """A number to some significant digits, grouped by thousands, without an exponent where a reader can do without."""
    if value == 0:
        return "0"
    if not 1e-4 <= abs(value) < 1e15:
        mantissa, _, exponent = f"{value:.{digits}g}".partition("e")
        return f"{mantissa}e{int(exponent)}" if exponent else mantissa  # 1e-7 as people write it, not 1e-07
    rounded = float(f"{value:.{digits}g}")
    decimals = max(0, digits - 1 - _magnitude(rounded))
    text = f"{rounded:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def with_unit(value: float, digits: int, unit: str) -> str:
    """A number with its unit as it is written: 46.67%, 24.7x, 1.34 GB."""
    return f"{significant(value, digits)}{'' if unit in ('%', 'x', '') else ' '}{unit}"


def _magnitude(value: float) -> int:
    return int(f"{value:e}".split("e")[1])


FILTERS: dict[str, Callable[[float], str]] = {
    **{f"{digits}g": partial(significant, digits=digits) for digits in range(1, 8)},
    "int": lambda value: f"{value:,.0f}",
    "pct": lambda value: f"{significant(100 * value, 3)}%",
    "MB": lambda value: f"{significant(value / MB, 4)} MB",
    "GB": lambda value: f"{significant(value / GB, 4)} GB",
    "TB": lambda value: f"{significant(value / TB, 4)} TB",
}


def placeholders(text: str) -> list[tuple[str, str]]:
    """Expression and filter of each placeholder, in order; the filter is empty where none is named.

    Raises:
        TextError: a filter that does not exist, or an expression that is not of the language.
    """
    found = []
    for match in _PLACEHOLDER.finditer(text):
        expression, bar, name = match["body"].partition("|")
        expression, name = expression.strip(), name.strip()
        if bar and name not in FILTERS:
            raise TextError(f"{match[0]!r} names the filter {name!r}; known are {', '.join(FILTERS)}")
        try:
            names_in(expression)
        except ExpressionError as error:
            raise TextError(f"{match[0]!r}: {error}") from None
        found.append((expression, name))
    return found


def fill(text: str, values: Mapping[str, float | str], digits: Mapping[str, int] | None = None) -> str:
    """The text with every placeholder replaced by its number, or by its words where the value is a text.

    Args:
        values: what the placeholders may name, in the units that the text prints.
        digits: significant digits of a name that stands alone without a filter; 6 where it names none.

    Raises:
        TextError: a placeholder names what is not there, or has no value.
    """

    def one(match: re.Match[str]) -> str:
        [(expression, name)] = placeholders(match[0])
        if isinstance(words := values.get(expression), str):
            return words
        numbers = {key: value for key, value in values.items() if not isinstance(value, str)}
        try:
            value = evaluate(expression, numbers)
        except ExpressionError as error:
            raise TextError(f"{match[0]!r}: {error}") from None
        return FILTERS[name](value) if name else significant(value, (digits or {}).get(expression, 6))

    return _PLACEHOLDER.sub(one, text)
