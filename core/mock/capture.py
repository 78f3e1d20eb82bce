"""The one text box of evidence: ``+ derived 8N over 6N unaided #arithmetic``."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from core.mock.pack import Sign

_LINK = re.compile(r"(?<!\S)#([A-Za-z][A-Za-z0-9_]*)")
_SIGNS: dict[str, Sign] = {"+": "+", "-": "-", "?": "?", "−": "-", "–": "-"}  # as phones type a minus


def captured(text: str, items: Collection[str]) -> dict[str, Any]:
    """The fields of an ``evidence`` event: a first + - or ? is its sign, #item links it and leaves the text.

    A # before a word that is no item stays in the text, and so does every link but the last.
    """
    text = text.strip()
    sign: Sign = "?"
    if text[:1] in _SIGNS and not text[1:2].isdigit():  # "-3 points" is a number
        sign, text = _SIGNS[text[0]], text[1:]
    links = [link for link in _LINK.finditer(text) if link[1] in items]
    item = ""
    if links:
        last = links[-1]
        item, text = last[1], text[: last.start()] + text[last.end() :]
    return {"text": " ".join(text.split()), "sign": sign, "item": item}
