"""``scorecard/1``: what is left of a session on one page, as models. Two copies: the interviewer's and the candidate's.

The interviewer's copy holds the room's log, so that the room can be restored from it. What was sealed to that rater
when it was made is blanked in the log. Times are seconds of session, pauses left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from core.cards.models import Competency, Level
from core.mock.pack import Judgement, RubricLevel, Sign
from core.mock.roles import Rater

SCHEMA: Literal["scorecard/1"] = "scorecard/1"
DISCLAIMER = (
    "Practice evidence, not a hiring decision: the questions are public, the rater is not calibrated against others, "
    "and one session says little about a person."
)

Audience = Literal["interviewer", "candidate"]
Text = Annotated[str, Field(max_length=30_000)]
Short = Annotated[str, Field(max_length=400)]
MAX_ROWS = 2_000


class Part(BaseModel):
    """Frozen, and nothing that is not named."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class EvidencePart(Part):
    """A line of evidence with its time and phase."""

    t: int
    phase: Short
    sign: Sign
    text: Text


class ItemPart(Part):
    """A rubric item; no level where it was not observed or not scored.

    ``title``, ``dimension`` and ``reached`` say it in words. They come from the cards, not from the log, and stand in
    no file: a file has keys.
    """

    id: Short
    card: Short
    competency: Competency
    weight: float
    level: RubricLevel | None
    hint_cost: float
    after_hints: float | None
    evidence: tuple[EvidencePart, ...] = Field(max_length=MAX_ROWS)
    title: str = Field(default="", exclude=True)  # what is observed
    dimension: str = Field(default="", exclude=True)  # the competency's title
    reached: str = Field(default="", exclude=True)  # the text of the level, with the numbers that were drawn


class OverallPart(Part):
    """The judgement, and beside it what the items alone would say."""

    judgement: Judgement
    reason: Short
    weighted: float | None
    nearest: Judgement | None


class NumberPart(Part):
    """A number that was asked for, as said and as it is."""

    ask: Short
    typed: Short
    said: float | None
    truth: float
    unit: Short
    rtol: float
    right: bool
    conf: float | None  # 0 to 1


class HintPart(Part):
    """A hint that was given and what it costs which item."""

    t: int
    card: Short
    hint: int
    item: Short
    cost: float


class TwistPart(Part):
    """A twist that was applied."""

    t: int
    id: Short
    card: Short | None
    say: Text


class PhasePart(Part):
    """A phase and when it began."""

    t: int
    name: Short


class SelfPart(Part):
    """The candidate's own rating."""

    overall: Judgement
    competencies: dict[Competency, RubricLevel]
    words: Text


class ClaimPart(Part):
    """A row of the candidate's claims table."""

    claim: Short
    number: Short
    unit: Short
    conf: float | None


class OtherPart(Part):
    """Another rater's committed scores."""

    role: Rater
    levels: dict[str, RubricLevel | None]
    judgement: Judgement


class DrillPart(Part):
    """A drill to do next."""

    id: Short
    title: Short


class NotePart(Part):
    """A private note."""

    t: int
    text: Text


class FeedbackPart(Part):
    """The candidate on the interviewer, 1 to 5."""

    clear: int
    fair: int
    useful: int
    words: Text


class LogLine(Part):
    """One event; of a sealed one only its place is left."""

    at: float
    actor: Annotated[str, Field(max_length=16)]  # as much as a database of rooms keeps of either
    kind: Annotated[str, Field(max_length=40)]
    payload: Mapping[str, Any]


class Scorecard(Part):
    """The whole card; what a candidate's copy does not have is empty there."""

    schema_: Literal["scorecard/1"] = Field(alias="schema", default=SCHEMA)
    audience: Audience
    session: Short  # names the session wherever it is restored
    rater: Rater
    names: dict[str, Short]
    pack: Short
    title: Short
    cards: dict[str, Short]  # by id: title
    content_hash: Short
    truth_hash: Short
    seed: int | None
    level: Level
    solo: bool
    opened_at: float
    duration_s: int
    planned_s: int
    committed: bool
    items: tuple[ItemPart, ...] = Field(max_length=20)
    overall: OverallPart | None
    numbers: tuple[NumberPart, ...] = Field(max_length=100)
    hints: tuple[HintPart, ...] = Field(max_length=100)
    twists: tuple[TwistPart, ...] = Field(max_length=100)
    timeline: tuple[PhasePart, ...] = Field(max_length=200)
    self_: SelfPart | None = Field(alias="self")
    strengths: tuple[Short, ...] = Field(max_length=3)
    changes: tuple[Short, ...] = Field(max_length=3)
    next_drills: tuple[DrillPart, ...] = Field(max_length=5)
    claims: tuple[ClaimPart, ...] = Field(max_length=100)
    pad: Text
    others: tuple[OtherPart, ...] = Field(default=(), max_length=2)
    notes: tuple[NotePart, ...] = Field(default=(), max_length=MAX_ROWS)
    feedback: FeedbackPart | None = None
    log: tuple[LogLine, ...] = Field(default=(), max_length=20_000)
