"""A document from text and to text: refused in words unless every value is one that this app could have written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from pydantic import ValidationError

from core.progress.document import FORMAT, Progress

MAX_CHARS = 50_000_000
# An empty list takes 2 bytes of text but 56 of memory: counting marks first keeps a file from filling a small server.
MAX_OBJECTS = 500_000  # opening brackets and braces
MAX_VALUES = 4_000_000  # commas
MAX_PROBLEMS = 3  # shown of a file with many


class ProgressError(ValueError):
    """What is wrong, in one sentence, and a way out in another; nothing was changed."""

    def __init__(self, what: str, way_out: str) -> None:
        super().__init__(f"{what} {way_out}")
        self.what = what
        self.way_out = way_out


def read(text: str | bytes) -> Progress:
    """The document in the text, or in the bytes of a file.

    Raises:
        ProgressError: too large, not JSON, not ours, from a newer version, or with values that cannot be.
    """
    _refuse_large(text)
    if isinstance(text, bytes):
        text = _decode(text)
    text = text.removeprefix("\ufeff")  # some editors put a mark before the first brace
    _refuse_crowded(text)
    data = _parse(text)
    _refuse_foreign(data)
    try:
        return Progress.model_validate_json(text)
    except ValidationError as error:
        raise ProgressError(_in_words(error), "Undo what was changed by hand, or use another export.") from None


def to_json(progress: Progress) -> str:
    """Compact text that :func:`read` takes; equal documents give equal text.

    Fields at their default are left out, except settings, so that a later default does not change what was chosen.
    """
    data = progress.model_dump(mode="json", exclude_defaults=True)
    data |= {"format": FORMAT, "settings": progress.settings.model_dump(mode="json")}
    return json.dumps(data, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


def _refuse_large(text: str | bytes) -> None:
    if len(text) > MAX_CHARS:
        raise ProgressError(
            f"This file has {len(text):,} characters; progress has at most {MAX_CHARS:,}.",
            "Choose the file that the export button saved.",
        )


def _decode(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ProgressError(
            "This file is not UTF-8 text.", "Choose the file that the export button saved; it ends in .json."
        ) from None


def _refuse_crowded(text: str) -> None:
    if text.count("{") + text.count("[") > MAX_OBJECTS or text.count(",") > MAX_VALUES:
        raise ProgressError(
            "This file holds more values than ten years of practice would.",
            "Choose the file that the export button saved.",
        )


def _parse(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except ProgressError:
        raise
    except (ValueError, RecursionError):
        raise ProgressError(
            f"This is not JSON: it starts with {text[:20]!r}." if text.strip() else "This file is empty.",
            "Choose the file that the export button saved; it ends in .json.",
        ) from None


def _refuse_constant(name: str) -> NoReturn:
    raise ProgressError(f"This file holds {name:.30}, which is no number.", "Undo what was changed by hand.")


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
        raise ProgressError(
            f"This file is {written:.30}; this version of the app reads {FORMAT}.",
            "Update the app, then import again." if newer else "Choose a newer export.",
        )
    found = f"its format is {written!r:.60}" if written is not None else "it does not say that it is progress"
    raise ProgressError(
        f"This JSON was not exported here: {found}, where {FORMAT} is read.",
        "Choose the file that the export button saved.",
    )


def _in_words(error: ValidationError) -> str:
    problems = error.errors(include_url=False)
    sentences = [f"{_place(problem['loc'])} {_rule(problem)}" for problem in problems[:MAX_PROBLEMS]]
    rest = len(problems) - len(sentences)
    return "This progress cannot be read: " + "; ".join(sentences) + (f"; and {rest:,} more." if rest else ".")


def _place(location: tuple[int | str, ...]) -> str:
    """attempts[12].rating."""
    parts = [f"[{part}]" if isinstance(part, int) else f".{part:.60}" for part in location]
    return "".join(parts).lstrip(".") or "the file"


def _rule(problem: Mapping[str, Any]) -> str:
    limits = problem.get("ctx", {})
    match problem["type"]:
        case "json_invalid":  # JSON to one reader but not to the other: nesting, or half of a character
            return f"cannot be kept: {limits['error']}"
        case "greater_than_equal":
            return f"is {problem['input']!r}: must be at least {limits['ge']:,g}"
        case "less_than_equal":
            return f"is {problem['input']!r}: must be at most {limits['le']:,g}"
    message = str(problem["msg"]).removeprefix("Value error, ").removeprefix("Input ")
    value = problem["input"]
    if isinstance(value, bool | int | float | str):
        return f"is {value!r:.60}: {message[0].lower()}{message[1:]}"
    return message[0].lower() + message[1:]
