"""A card as it was read: its model, its text by section, where it lies, and the hashes that name this edition."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Literal

from core.cards.models import Drill, Mcq, Question
from core.cards.problems import line_of

Kind = Literal["question", "drill", "mcq"]


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

    def line_of(self, field: str) -> int:
        """The line of a field (``compute.ratio.check``) or a section (``## Steps``) in the file."""
        if field.startswith("## "):
            lines = self.text.splitlines()
            return next((number for number, line in enumerate(lines, 1) if line.strip() == field), 1)
        path = [int(step) if step.isdigit() else step for step in field.split(", ")[0].split(".")]
        return line_of(self.text.split("\n---", 1)[0].removeprefix("---\n"), tuple(path), 2)

    @property
    def steps(self) -> list[str]:
        """The worked steps of a drill, in order."""
        return numbered(self.sections.get("Steps", ""))

    @property
    def mistakes(self) -> list[tuple[str, str]]:
        """Pairs of a wrong line and the right one."""
        return wrong_and_right(self.sections.get("Common mistakes", ""))


@dataclass(frozen=True)
class McqCard:
    """One multiple-choice question of a quiz file."""

    model: Mcq
    topic: str
    step: int
    path: str
    line: int
    content_hash: str
    answer_hash: str
    own: bool = False

    @property
    def id(self) -> str:
        return self.model.id

    @property
    def kind(self) -> Kind:
        return "mcq"

    @property
    def title(self) -> str:
        return self.model.title


AnyCard = Card | McqCard


def short_hash(*parts: str) -> str:
    """Twelve hexadecimal digits over the parts."""
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:12]


def split_sections(body: str) -> dict[str, str]:
    """The parts of a Markdown body by second-level heading, in order."""
    parts = re.split(r"^## +(.+?) *$", body, flags=re.M)
    return {name.strip(): text.strip() for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def numbered(text: str) -> list[str]:
    """The items of a numbered Markdown list, each on one line."""
    items = re.split(r"^\d+\. +", text, flags=re.M)[1:]
    return [" ".join(item.split()) for item in items]


def wrong_and_right(text: str) -> list[tuple[str, str]]:
    """The pairs of ``- wrong: ...`` and ``right: ...`` below it."""
    pairs = re.findall(r"^- wrong: *(.+?)\n\s+right: *(.+?)(?=\n- wrong:|\Z)", text, flags=re.M | re.S)
    return [tuple(" ".join(part.split()).strip('"') for part in pair) for pair in pairs]  # type: ignore[misc]
