"""A result from text: refused in words unless every value is one that a run could have written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from pydantic import ValidationError

from core.microbench.result import FORMAT, Result

MAX_CHARS = 20_000_000  # a full set has 400,000
MAX_OBJECTS = 200_000  # opening brackets and braces: an empty list takes 2 bytes of text but 56 of memory
MAX_PROBLEMS = 3  # shown of a file with many
_WELL_BEGUN = 100  # characters of good JSON
COMMAND = "python -m core.microbench --out result.json"


class ResultError(ValueError):
    """What is wrong, in one sentence, and a way out in another."""

    def __init__(self, what: str, way_out: str = f"Choose a file written by {COMMAND}.") -> None:
        super().__init__(f"{what} {way_out}")
        self.what = what
        self.way_out = way_out


def read(text: str | bytes) -> Result:
    """The result in the text, or in the bytes of a file.

    Raises:
        ResultError: too large, not JSON, not ours, of another version, or with values that cannot be.
    """
    if len(text) > MAX_CHARS:
        raise ResultError(f"This file has {len(text):,} characters; a result has at most {MAX_CHARS:,}.")
    if isinstance(text, bytes):
        try:
            text = text.decode()
        except UnicodeDecodeError:
            raise ResultError("This file is not UTF-8 text.") from None
    text = text.removeprefix("\ufeff")  # some editors put a mark before the first brace
    if text.count("{") + text.count("[") > MAX_OBJECTS:
        raise ResultError("This file holds more values than a result does.")
    _refuse_foreign(_parse(text))
    try:
        return Result.model_validate_json(text)
    except ValidationError as error:
        raise ResultError(_in_words(error), "Undo what was changed by hand, or measure again.") from None


def _parse(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except ResultError:
        raise
    except (ValueError, RecursionError) as error:
        raise ResultError(_not_json(text, error)) from None


def _not_json(text: str, error: Exception) -> str:
    """Where it breaks, if it begins like a result: a copy or a download was cut off."""
    if not text.strip():
        return "This file is empty."
    if isinstance(error, json.JSONDecodeError) and error.pos >= _WELL_BEGUN:
        return f"This is not whole JSON: it breaks at character {error.pos:,} of {len(text):,}."
    return f"This is not JSON: it starts with {text[:20]!r}."


def _refuse_constant(name: str) -> NoReturn:
    raise ResultError(f"This file holds {name:.30}, which is no number.", "Undo what was changed by hand.")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        _refuse_constant(digits)
    return number


def _refuse_foreign(data: Any) -> None:
    written = data.get("format") if isinstance(data, dict) else None
    if written == FORMAT:
        return
    name, _, version = FORMAT.partition("/")
    if isinstance(written, str) and written.startswith(f"{name}/") and written[len(name) + 1 :].isdecimal():
        newer = int(written[len(name) + 1 :][:9]) > int(version)
        raise ResultError(
            f"This file is {written:.30}; this version of the app reads {FORMAT}.",
            "Update the app, then open it again." if newer else "Measure again with the present code.",
        )
    found = f"its format is {written!r:.60}" if written is not None else "it does not say what it is"
    raise ResultError(f"This JSON is no measurement of ours: {found}, where {FORMAT} is read.")


def _in_words(error: ValidationError) -> str:
    problems = error.errors(include_url=False)
    sentences = [f"{_place(problem['loc'])} {_rule(problem)}".strip() for problem in problems[:MAX_PROBLEMS]]
    rest = len(problems) - len(sentences)
    return "This result cannot be read: " + "; ".join(sentences) + (f"; and {rest:,} more." if rest else ".")


def _place(location: tuple[int | str, ...]) -> str:
    """measurements[12].time.median_s."""
    if location[:1] == ("measurements",) and len(location) > 3:
        location = (*location[:2], *location[3:])  # pydantic puts the kind there
    parts = [f"[{part}]" if isinstance(part, int) else f".{part:.60}" for part in location]
    return "".join(parts).lstrip(".")


def _rule(problem: Mapping[str, Any]) -> str:
    limits = problem.get("ctx", {})
    value = problem["input"]
    match problem["type"]:
        case "json_invalid":
            return f"cannot be kept: {limits['error']}"
        case "greater_than_equal":
            return f"is {value!r:.60}: must be at least {limits['ge']:,g}"
        case "less_than_equal":
            return f"is {value!r:.60}: must be at most {limits['le']:,g}"
    message = str(problem["msg"]).removeprefix("Value error, ").removeprefix("Input ")
    if isinstance(value, bool | int | float | str):
        return f"is {value!r:.60}: {message[0].lower()}{message[1:]}"
    return message[0].lower() + message[1:]
