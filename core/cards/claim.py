"""Critique a claim: a sentence as people say it, whether it holds, on what condition, and how to say it better."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator, model_validator

from core.cards.front_matter import line_of, path_of
from core.cards.models import Level, Line, Strict, Text, Topic

Verdict = Literal["true", "true_if", "false"]


class Claim(Strict):
    """One ``claim`` block of a ``claim/1`` file."""

    id: Annotated[str, StringConstraints(pattern=r"^c-[a-z0-9]+(-[a-z0-9]+)*$")]
    level: Level
    claim: Annotated[str, StringConstraints(min_length=15, max_length=200, strip_whitespace=True)]
    verdict: Verdict
    because: Text
    when: Line | None = None
    say: Line
    sources: tuple[str, ...] = Field(min_length=1)
    seconds: int = Field(default=40, ge=10, le=180)

    @field_validator("verdict", mode="before")
    @classmethod
    def _word_of_a_truth_value(cls, value: object) -> object:
        return str(value).lower() if isinstance(value, bool) else value  # YAML reads true and false as such

    @model_validator(mode="after")
    def _condition_where_one_is_due(self) -> Claim:
        if (self.verdict == "true_if") != (self.when is not None):
            raise ValueError("'when' is the condition of a claim that is true_if, and stands with no other verdict")
        return self


class ClaimHead(Strict):
    """Front matter of a ``claim/1`` file."""

    schema_: Literal["claim/1"] = Field(alias="schema")
    topic: Topic
    step: int = Field(ge=0, le=5)


@dataclass(frozen=True)
class ClaimCard:
    """One claim of a file."""

    model: Claim
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
    def kind(self) -> Literal["claim"]:
        return "claim"

    @property
    def title(self) -> str:
        return self.model.claim

    @property
    def asked(self) -> str:
        """What stands before the answer, for searching: the claim is the title already."""
        return ""

    def line_of(self, field: str) -> int:
        """The line of a field in the file."""
        return line_of(self.text, path_of(field), self.line)

    def texts(self) -> dict[str, str]:
        """Every text that a reader sees as Markdown, by field."""
        model = self.model
        found = {"claim": model.claim, "because": model.because, "say": model.say}
        return found | ({"when": model.when} if model.when else {})

    def findings(self, topics: Collection[str]) -> Iterator[tuple[str, str]]:
        """What reading alone cannot see: a field and the rule that it breaks."""
        if not self.id.startswith(f"c-{self.topic}-"):
            yield "id", f"{self.id} begins with c-{self.topic}-"
        if topics and self.topic not in topics:
            yield "id", f"{self.topic!r} is no topic; there are {', '.join(topics)}"
        elif not self.own and self.path != f"claims/{self.topic}.md":
            yield "id", f"claims of {self.topic} lie in claims/{self.topic}.md"
