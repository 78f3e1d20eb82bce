"""A document from text and to text: refused in words unless every value is one that this app could have written."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from core.progress.document import FORMAT, Progress
from core.strict_json import NoNumberError, in_words, other_format, parse, place_of

MAX_CHARS = 50_000_000
# An empty list takes 2 bytes of text but 56 of memory: counting marks first keeps a file from filling a small server.
MAX_OBJECTS = 500_000  # opening brackets and braces
MAX_VALUES = 4_000_000  # commas


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
        told = f"This progress cannot be read: {in_words(error, _place)}"
        raise ProgressError(told, "Undo what was changed by hand, or use another export.") from None


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
        return parse(text)
    except NoNumberError as error:
        raise ProgressError(str(error), "Undo what was changed by hand.") from None
    except (ValueError, RecursionError):
        raise ProgressError(
            f"This is not JSON: it starts with {text[:20]!r}." if text.strip() else "This file is empty.",
            "Choose the file that the export button saved; it ends in .json.",
        ) from None


def _refuse_foreign(data: Any) -> None:
    if isinstance(data, dict) and data.get("format") == FORMAT:
        return
    written, version = other_format(data, FORMAT)
    if version is not None:
        raise ProgressError(
            f"This file is {written}; this version of the app reads {FORMAT}.",
            "Update the app, then import again." if version == "newer" else "Choose a newer export.",
        )
    found = "it does not say that it is progress" if written is None else f"its format is {written}"
    raise ProgressError(
        f"This JSON was not exported here: {found}, where {FORMAT} is read.",
        "Choose the file that the export button saved.",
    )


def _place(location: tuple[int | str, ...]) -> str:
    return place_of(location) or "the file"
