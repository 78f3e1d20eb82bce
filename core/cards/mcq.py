"""Multiple choice: one question of a quiz file, its options with the reason for each, shown shuffled."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator

from core.cards.front_matter import line_of, path_of
from core.cards.models import Keys, Level, Line, Misplaced, Strict, Text, Topic, repeated
from core.cards.problems import short

LONG_OPTION = 1.6  # times the middle option: a longer correct one gives itself away


class Option(Strict):
    """A choice of an MCQ, whether it is the correct one, and why."""

    text: Line
    correct: bool = False
    why: Line


_POSITIONAL = re.compile(
    r"\b(?i:(?:all|none|both|neither|any) of (?:the )?(?:above|below|these|options|answers|choices))\b"
    r"|\b(?i:(?:all|both|none) above)\b"
    r"|\b(?i:option|answer|choice) [A-E]\b|\b(?i:option) [1-5]\b|\b(?i:option) [a-e]\b(?! [a-z])"
    r"|\b(?i:first|second|third|fourth|fifth|last|previous|next|preceding) (?i:option|answer|choice)\b"
)


class Mcq(Strict):
    """One ``mcq`` block of a ``quiz/1`` file; options are shown shuffled."""

    id: Annotated[str, StringConstraints(pattern=r"^m-[a-z0-9]+(-[a-z0-9]+)*$")]
    title: Line
    level: Level
    stem: Text
    options: tuple[Option, ...] = Field(min_length=3, max_length=5)
    sources: Keys = Field(min_length=1)
    seconds: int = Field(default=45, ge=10, le=180)

    @field_validator("stem")
    @classmethod
    def _stem_has_no_order(cls, stem: str) -> str:
        if found := _POSITIONAL.search(stem):
            raise ValueError(f"{found[0]!r} leans on the order of options, which are shuffled")
        return stem

    @field_validator("options")
    @classmethod
    def _one_correct_without_a_tell(cls, options: tuple[Option, ...]) -> tuple[Option, ...]:
        correct = [at for at, option in enumerate(options) if option.correct]
        if len(correct) != 1:
            rule = f"exactly one option is correct, here {len(correct)} are"
            raise Misplaced(rule, correct[1], "correct") if correct else ValueError(rule)
        if repeat := repeated(option.text for option in options):
            raise Misplaced(f"the option {short(repeat[1])} stands twice", repeat[0], "text")
        for at, option in enumerate(options):
            for key, text in (("text", option.text), ("why", option.why)):
                if found := _POSITIONAL.search(text):
                    raise Misplaced(f"{found[0]!r} leans on the order of options, which are shuffled", at, key)
        lengths = sorted(len(option.text) for option in options)
        longest, median = len(options[correct[0]].text), lengths[len(lengths) // 2]
        if longest > LONG_OPTION * median:
            rule = f"the correct option has {longest} characters and the middle one {median}: even the options out"
            raise Misplaced(rule, correct[0], "text")
        return options


class QuizHead(Strict):
    """Front matter of a ``quiz/1`` file."""

    schema_: Literal["quiz/1"] = Field(alias="schema")
    topic: Topic
    step: int = Field(ge=0, le=5)


@dataclass(frozen=True)
class McqCard:
    """One multiple-choice question of a quiz file."""

    model: Mcq
    topic: str
    step: int
    path: str
    line: int  # the first line of its block
    content_hash: str
    answer_hash: str
    text: str  # the block
    own: bool = False

    @property
    def id(self) -> str:
        return self.model.id

    @property
    def kind(self) -> Literal["mcq"]:
        return "mcq"

    @property
    def title(self) -> str:
        return self.model.title

    @property
    def asked(self) -> str:
        """What stands before the answer, for searching."""
        return self.model.stem

    def line_of(self, field: str) -> int:
        """The line of a field (``options.2.why``) in the quiz file."""
        return line_of(self.text, path_of(field), self.line)

    def texts(self) -> dict[str, str]:
        """Every text that a reader sees as Markdown, by field."""
        found = {"title": self.title, "stem": self.model.stem}
        for at, option in enumerate(self.model.options):
            found |= {f"options.{at}.text": option.text, f"options.{at}.why": option.why}
        return found

    def findings(self, topics: Collection[str]) -> Iterator[tuple[str, str]]:
        """What reading alone cannot see: a field and the rule that it breaks."""
        if not self.id.startswith(f"m-{self.topic}-"):
            yield "id", f"{self.id} begins with m-{self.topic}-"
        if topics and self.topic not in topics:
            yield "id", f"{self.topic!r} is no topic; there are {', '.join(topics)}"
        elif not self.own and self.path != f"quizzes/{self.topic}.md":
            yield "id", f"a quiz of {self.topic} lies in quizzes/{self.topic}.md"
