"""A small search: words of the query are looked for as words or their beginnings, and titles count most.

Everything lies in memory and is scanned: a few hundred short entries take a millisecond.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

_WORD = re.compile(r"[a-z0-9]+")
_TITLE, _BODY = 4.0, 1.0  # a hit in the title outweighs hits in a text
_WHOLE, _START = 2.0, 1.0  # a whole word outweighs the beginning of one
_EXACT = 10.0  # the query is the title
# Words that say nothing about what is looked for; kept if nothing else is left.
_EMPTY = frozenset(
    word
    for line in ("a an and are as at by does for from how in", "is it of on or the to what when which why with")
    for word in line.split()
)


@dataclass(frozen=True)
class Entry:
    """Something that can be found."""

    kind: str  # "page", "term" or "number"
    title: str
    text: str
    topic: str  # of the page that it leads to

    @cached_property
    def title_words(self) -> tuple[str, ...]:
        """The title, taken apart."""
        return words_of(self.title)

    @cached_property
    def text_words(self) -> frozenset[str]:
        """Distinct words of the text."""
        return frozenset(words_of(self.text))


def words_of(text: str) -> tuple[str, ...]:
    """Lower-case words and numbers of a text; ``1,024`` is one number and ``ZeRO-3`` two words."""
    return tuple(_WORD.findall(re.sub(r"(?<=\d),(?=\d{3})", "", text.lower())))


def search(query: str, entries: Sequence[Entry], *, most: int = 20) -> list[Entry]:
    """Entries that hold every word of the query, best first; equal ones stay in their order.

    Args:
        query: what was typed. A plural ``s`` is forgiven, and words like "the" are left out.
        entries: what can be found.
        most: how many to return.
    """
    asked = words_of(query)
    wanted = [word for word in asked if word not in _EMPTY] or list(asked)
    if not wanted:
        return []
    scored = [(_score(entry, wanted, asked), entry) for entry in entries]
    found = [(score, entry) for score, entry in scored if score > 0]
    return [entry for _, entry in sorted(found, key=lambda pair: -pair[0])][:most]


def _score(entry: Entry, wanted: Sequence[str], asked: tuple[str, ...]) -> float:
    """0 where a word is missing."""
    total = _EXACT if entry.title_words == asked else 0.0
    for word in wanted:
        hit = max(_TITLE * _match(word, entry.title_words), _BODY * _match(word, entry.text_words))
        if not hit:
            return 0.0
        total += hit
    return total / (1 + 0.01 * len(entry.title_words))  # of two titles with the same hits the shorter one


def _match(word: str, words: Sequence[str] | frozenset[str]) -> float:
    singular = word[:-1] if len(word) > 3 and word.endswith("s") else word
    if word in words or singular in words:
        return _WHOLE
    return _START if any(other.startswith(singular) for other in words) else 0.0
