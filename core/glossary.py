"""The glossary as entries: a term, the topic that uses it, and what it means."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ENTRY = re.compile(r"^\*(?P<topic>[a-z]+)\* · (?P<meaning>.+)$", re.S)


@dataclass(frozen=True, slots=True)
class Term:
    """One entry."""

    name: str
    topic: str
    meaning: str


def read_glossary(text: str) -> tuple[Term, ...]:
    """Entries of a Markdown file: a second-level heading each, then ``*topic* · meaning``.

    Raises:
        ValueError: an entry is not of that form, or a term stands twice.
    """
    terms: list[Term] = []
    for part in ("\n" + text).split("\n## ")[1:]:
        name, _, body = part.partition("\n")
        found = _ENTRY.match(body.strip())
        if not found:
            raise ValueError(f"the entry {name!r} must read '*topic* · meaning', not {body.strip()[:40]!r}")
        terms.append(Term(name.strip(), found["topic"], " ".join(found["meaning"].split())))
    names = [term.name.lower() for term in terms]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"defined twice: {', '.join(twice)}")
    return tuple(terms)
