"""Events out of a JSON text as it arrives: one event in memory at a time, and what came before a fault is kept."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

HEADER = ("deviceProperties", "distributedInfo")  # fields around the events that are kept
LARGEST_VALUE = 1 << 23  # characters; an event has some hundred, deviceProperties some thousand
_between = re.compile(r"[\s,]*").match
_space = re.compile(r"\s*").match


class Scan:
    """One walk through a Chrome trace, in either of its forms: {"traceEvents": [...], ...} or the array alone.

    Format: "Trace Event Format", Google, 2016. After the walk, `header` has the fields of HEADER, `fault` says why the
    walk ended early, if it did, and `is_trace` tells whether a list of events was found at all.
    """

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._decode = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._value_at = json.JSONDecoder().raw_decode
        self._text, self._at, self._before = "", 0, 0  # a window on the text, a place in it, characters before it
        self._ended = False
        self.header: dict[str, Any] = {}
        self.fault = ""
        self.is_trace = False

    def events(self) -> Iterator[Any]:
        """Every value of the list of events, whatever it is."""
        try:
            yield from self._document()
        except _FaultError as fault:
            self.fault = str(fault)

    def _document(self) -> Iterator[Any]:
        opening = self._next_character()
        if opening == "[":
            yield from self._array()
            return
        if opening != "{":
            raise _FaultError("it is not JSON" if opening else "it is empty")
        self._at += 1
        while (character := self._next_character(_between)) != "}":
            if not character:
                raise _FaultError("it is cut off")
            key = self._value()
            if not isinstance(key, str) or self._next_character() != ":":
                raise self._bad_json()
            self._at += 1
            opens = self._next_character()
            if key == "traceEvents" and opens == "[":
                yield from self._array()
            else:
                value = self._value()
                if key in HEADER:
                    self.header[key] = value

    def _array(self) -> Iterator[Any]:
        self.is_trace = True
        self._at += 1
        while (character := self._next_character(_between)) != "]":
            if not character:
                raise _FaultError("it is cut off")
            yield self._value()
        self._at += 1

    def _next_character(self, skip: Any = _space) -> str:
        """The next character that means something, without passing it; empty at the end."""
        while True:
            self._at = skip(self._text, self._at).end()
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _value(self) -> Any:
        while True:
            try:
                value, end = self._value_at(self._text, self._at)
            except ValueError as error:  # also of an integer with thousands of digits
                too_long = len(self._text) - self._at > LARGEST_VALUE
                if not too_long and self._more():
                    continue
                if too_long or not self._ended or not _may_be_cut(error, len(self._text)):
                    raise self._bad_json() from None
                raise _FaultError("it is cut off") from None
            except RecursionError:
                raise _FaultError("it is nested too deeply") from None
            if end == len(self._text) and not isinstance(value, dict | list | str) and self._more():
                continue  # a number may go on in the next piece
            self._at = end
            return value

    def _more(self) -> bool:
        """Append a piece to the window, and drop what lies behind the place."""
        if self._ended:
            return False
        piece = next(self._pieces, None)
        self._ended = piece is None
        self._before += self._at
        self._text = self._text[self._at :] + self._decode.decode(piece or b"", self._ended)
        self._at = 0
        return True

    def _bad_json(self) -> _FaultError:
        return _FaultError(f"it is not valid JSON near character {self._before + self._at + 1:,}")


class _FaultError(Exception):
    """Why a walk ends."""


def _may_be_cut(error: ValueError, length: int) -> bool:
    """Whether the text just ends too soon: the fault lies at its end, or in a string that never closes."""
    if not isinstance(error, json.JSONDecodeError):
        return False
    return error.pos >= length - 8 or error.msg.startswith("Unterminated string")
