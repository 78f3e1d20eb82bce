"""JSON that people hand in: no number that is none, which version it is of, and what is wrong with it in words."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal, NoReturn

from pydantic import ValidationError

MAX_PROBLEMS = 3  # shown of a file with many
Place = Callable[[tuple[int | str, ...]], str]


class NoNumberError(ValueError):
    """A number in the text is not finite; the message is a sentence."""


def parse(text: str) -> Any:
    """The text's value; NaN, infinities and numbers beyond a float's range are refused.

    Raises:
        NoNumberError: a number is none.
        ValueError: it is no JSON.
        RecursionError: it is nested too deeply.
    """
    return json.loads(text, parse_constant=_refuse, parse_float=_finite)


def other_format(data: Any, own: str) -> tuple[str | None, Literal["newer", "older"] | None]:
    """What a document of another format says that it is, and whether that is another version of our own.

    Args:
        data: the parsed document; its field ``format`` is not ``own``.
        own: such as ``microbench/1``.

    Returns:
        Its format as it may be shown, None where it gives none; newer or older, None for a stranger.
    """
    written = data.get("format") if isinstance(data, dict) else None
    name, _, version = own.partition("/")
    if isinstance(written, str) and written.startswith(f"{name}/") and written[len(name) + 1 :].isdecimal():
        newer = int(written[len(name) + 1 :][:9]) > int(version)  # nine digits are enough to tell
        return f"{written:.30}", "newer" if newer else "older"
    return None if written is None else f"{written!r:.60}", None


def place_of(location: tuple[int | str, ...]) -> str:
    """attempts[12].rating; empty for the document itself."""
    parts = [f"[{part}]" if isinstance(part, int) else f".{part:.60}" for part in location]
    return "".join(parts).lstrip(".")


def in_words(error: ValidationError, place: Place = place_of) -> str:
    """The first problems, each with its place, value and rule, and how many more there are."""
    problems = error.errors(include_url=False)
    sentences = [f"{place(problem['loc'])} {_rule(problem)}".strip() for problem in problems[:MAX_PROBLEMS]]
    rest = len(problems) - len(sentences)
    return "; ".join(sentences) + (f"; and {rest:,} more." if rest else ".")


def _refuse(name: str) -> NoReturn:
    raise NoNumberError(f"This file holds {name:.30}, which is no number.")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        _refuse(digits)
    return number


def _rule(problem: Mapping[str, Any]) -> str:
    limits = problem.get("ctx", {})
    value = problem["input"]
    match problem["type"]:
        case "json_invalid":  # JSON to one reader but not to the other: nesting, or half of a character
            return f"cannot be kept: {limits['error']}"
        case "greater_than_equal":
            return f"is {value!r:.60}: must be at least {limits['ge']:,g}"
        case "less_than_equal":
            return f"is {value!r:.60}: must be at most {limits['le']:,g}"
    message = str(problem["msg"]).removeprefix("Value error, ").removeprefix("Input ")
    if isinstance(value, bool | int | float | str):
        return f"is {value!r:.60}: {message[0].lower()}{message[1:]}"
    return message[0].lower() + message[1:]
