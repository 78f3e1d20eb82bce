"""A card as it was read: its model, its text by section, where it lies, and the hashes that name this edition."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from core.cards.bug import BugCard
from core.cards.claim import ClaimCard
from core.cards.front_matter import line_of, path_of, split_front_matter
from core.cards.mcq import McqCard
from core.cards.models import Drill, Question

Kind = Literal["question", "drill", "mcq", "bug", "claim"]


@dataclass(frozen=True)
class Card:
    """A question or a drill. ``sections`` are the parts of its body by heading, as Markdown with placeholders."""

    model: Drill | Question
    sections: dict[str, str]
    path: str
    content_hash: str
    answer_hash: str
    text: str  # the whole file, so that a finding can name its line
    own: bool = False  # from a private folder or an uploaded pack

    @property
    def id(self) -> str:
        return self.model.id

    @property
    def kind(self) -> Kind:
        return "drill" if isinstance(self.model, Drill) else "question"

    @property
    def topic(self) -> str:
        return self.model.topic

    @property
    def step(self) -> int:
        return self.model.step

    @property
    def title(self) -> str:
        return self.model.title

    def line_of(self, field: str, words: str = "") -> int:
        """The line of a field (``compute.ratio.check``) or a section (``## Steps``) in the file.

        Args:
            words: part of the field's text; the line on which it begins is meant, if it is found below.
        """
        lines = self.text.split("\n")
        head, body = split_front_matter(self.text)
        if field.startswith("## "):
            below = len(lines) - body.count("\n")
            start = next((at for at, line in enumerate(lines[below - 1 :], below) if line.strip() == field), 1)
        else:
            start = line_of(head, path_of(field), 2)
        first = words.split("\n")[0]
        return next((at for at in range(start, len(lines) + 1) if first in lines[at - 1]), start) if first else start

    @property
    def asked(self) -> str:
        """What stands before the answer, for searching."""
        return self.sections.get("Prompt", "")

    @cached_property
    def steps(self) -> list[str]:
        """The worked steps of a drill, in order."""
        return numbered(self.sections.get("Steps", ""))

    @property
    def mistakes(self) -> list[tuple[str, str]]:
        """Pairs of a wrong line and the right one."""
        return wrong_and_right(self.sections.get("Common mistakes", ""))


AnyCard = Card | McqCard | BugCard | ClaimCard


def short_hash(*parts: str) -> str:
    """Twelve hexadecimal digits over the parts."""
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:12]


def headed(body: str) -> list[tuple[str, str]]:
    """The parts of a Markdown body by second-level heading, in order; what stands above the first has no name."""
    parts: list[tuple[str, list[str]]] = [("", [])]
    in_code = False
    for line in body.split("\n"):
        in_code ^= line.startswith("```")
        if line.startswith("## ") and not in_code:
            parts.append((line[3:].strip(), []))
        else:
            parts[-1][1].append(line)
    return [(name, "\n".join(lines).strip()) for name, lines in parts]


def split_sections(body: str) -> dict[str, str]:
    """The same as a table, without what stands above the first heading; of two with one name the first."""
    sections: dict[str, str] = {}
    for name, text in headed(body)[1:]:
        sections.setdefault(name, text)
    return sections


def numbered(text: str) -> list[str]:
    """The items of a numbered Markdown list, each on one line."""
    items = re.split(r"^\d{1,3}\. +", text, flags=re.M)[1:]
    return [" ".join(item.split()) for item in items]


def wrong_and_right(text: str) -> list[tuple[str, str]]:
    """The pairs of ``- wrong: ...`` and the ``right: ...`` below it; a wrong without a right is left out."""
    pairs = []
    for item in re.split(r"^- wrong:", text, flags=re.M)[1:]:
        wrong, found, right = item.partition("\n  right:")
        if found and wrong.strip() and right.strip():
            pairs.append((_unquoted(wrong), _unquoted(right)))
    return pairs


def _unquoted(text: str) -> str:
    return " ".join(text.split()).strip('"')
