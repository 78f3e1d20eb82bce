"""A result from text: refused in words unless every value is one that a run could have written."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from core.microbench.result import FORMAT, Result
from core.strict_json import NoNumberError, in_words, other_format, parse, place_of

MAX_CHARS = 20_000_000  # a full set has 400,000
MAX_OBJECTS = 200_000  # opening brackets and braces: an empty list takes 2 bytes of text but 56 of memory
_WELL_BEGUN = 100  # characters of good JSON
_UNDO_OR_MEASURE = "Undo what was changed by hand, or measure again."
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
        raise ResultError(f"This result cannot be read: {in_words(error, _place)}", _UNDO_OR_MEASURE) from None


def _parse(text: str) -> Any:
    try:
        return parse(text)
    except NoNumberError as error:
        raise ResultError(str(error), "Undo what was changed by hand.") from None
    except (ValueError, RecursionError) as error:
        raise ResultError(_not_json(text, error)) from None


def _not_json(text: str, error: Exception) -> str:
    """Where it breaks, if it begins like a result: a copy or a download was cut off."""
    if not text.strip():
        return "This file is empty."
    if isinstance(error, json.JSONDecodeError) and error.pos >= _WELL_BEGUN:
        return f"This is not whole JSON: it breaks at character {error.pos:,} of {len(text):,}."
    return f"This is not JSON: it starts with {text[:20]!r}."


def _refuse_foreign(data: Any) -> None:
    if isinstance(data, dict) and data.get("format") == FORMAT:
        return
    written, version = other_format(data, FORMAT)
    if version is not None:
        raise ResultError(
            f"This file is {written}; this version of the app reads {FORMAT}.",
            "Update the app, then open it again." if version == "newer" else "Measure again with the present code.",
        )
    found = "it does not say what it is" if written is None else f"its format is {written}"
    raise ResultError(f"This JSON is no measurement of ours: {found}, where {FORMAT} is read.")


def _place(location: tuple[int | str, ...]) -> str:
    """measurements[12].time.median_s."""
    if location[:1] == ("measurements",) and len(location) > 3:
        location = (*location[:2], *location[3:])  # pydantic puts the kind there
    return place_of(location)
