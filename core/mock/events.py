"""The events of a room: one small model per kind, with limits. Who may write one is said beside it.

A log holds them as actor, kind and JSON payload. One that cannot be read is no error: the fold passes over it, so a log
that was written by a newer version, or by somebody else's browser, never stops a room.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from core.cards.models import Level
from core.mock.pack import Heard, Judgement, RubricLevel, Sign
from core.mock.roles import RATERS, SERVER

MAX_TEXT, MAX_PAD, MAX_LINE, MAX_HANDLE = 2_000, 20_000, 400, 40
NOT_OBSERVED = 0  # a legal score that is left out of the mean
_ID = r"^[A-Za-z0-9][A-Za-z0-9_.:-]*$"

Id = Annotated[str, StringConstraints(pattern=_ID, max_length=80)]
Holder = Annotated[str, StringConstraints(pattern=_ID, max_length=64)]
Handle = Annotated[str, StringConstraints(max_length=MAX_HANDLE, strip_whitespace=True)]
Line = Annotated[str, StringConstraints(min_length=1, max_length=MAX_LINE, strip_whitespace=True)]
Words = Annotated[str, StringConstraints(max_length=MAX_TEXT, strip_whitespace=True)]
NoteText = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT, strip_whitespace=True)]
Short = Annotated[str, StringConstraints(max_length=40, strip_whitespace=True)]
ItemId = Annotated[str, StringConstraints(pattern=r"^([A-Za-z][A-Za-z0-9_]{0,31})?$")]
Percent = Annotated[int, Field(ge=0, le=100)]
Value = bool | float | Annotated[str, StringConstraints(max_length=80)]

CANDIDATE = ("candidate",)


class EventError(ValueError):
    """An event that cannot be written now; the sentence is for the person who tried."""


class Event(Protocol):
    """A line of a log, as the store gives it."""

    @property
    def seq(self) -> int: ...
    @property
    def at(self) -> float: ...
    @property
    def actor(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def payload(self) -> Mapping[str, Any]: ...


class Payload(BaseModel):
    """What an event says. ``by`` may write it; ``lead`` means that of the raters only the one who leads may."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    kind: ClassVar[str]
    by: ClassVar[tuple[str, ...]] = RATERS
    lead: ClassVar[bool] = False
    afterwards: ClassVar[bool] = False  # may still be written when the session is finished


class Opened(Payload):
    """First event of a room: the pack and its edition, the numbers (no seed: the pack's own), the level.

    ``truth_hash`` is over what the core computed for the room's cards at that time.
    """

    kind = "opened"
    pack: Id
    content_hash: Short
    truth_hash: Short = ""
    seed: Annotated[int, Field(ge=0, lt=2**31)] | None = None
    level: Level
    solo: bool = False


class Joined(Payload):
    """A tab takes its seat, or takes it over from another tab."""

    kind = "joined"
    by = (*RATERS, "candidate")
    afterwards = True
    holder: Holder
    handle: Handle = ""
    take_over: bool = False


class Consented(Payload):
    """Somebody has read what is stored, where and until when."""

    kind = "consented"
    by = (*RATERS, "candidate")


class Ready(Payload):
    kind = "ready"
    by = (*RATERS, "candidate")
    on: bool = True


class LevelSet(Payload):
    kind = "level_set"
    lead = True
    level: Level


class PhaseStarted(Payload):
    """A phase of the pack begins, by position; the first one starts the clock."""

    kind = "phase_started"
    lead = True
    phase: Annotated[int, Field(ge=0, le=20)]


class Stretched(Payload):
    """The running phase gets longer or shorter; those after it share what is left."""

    kind = "stretched"
    lead = True
    seconds: Annotated[int, Field(ge=-3600, le=3600)]


class Paused(Payload):
    kind = "paused"
    by = (*RATERS, SERVER)
    lead = True
    reason: Literal["asked", "away"] = "asked"


class Resumed(Payload):
    kind = "resumed"
    lead = True


class HandedOver(Payload):
    """The lead (releases, twists, the clock) goes to the other rater; the interviewer may also take it back."""

    kind = "handed_over"
    to: Literal["interviewer", "rater"]


class Finished(Payload):
    """The session is over: the clock stands; scores and words may still come."""

    kind = "finished"
    lead = True


class ReplyReleased(Payload):
    """A clarifying reply goes to the candidate's board; ``reply`` is its position on the card."""

    kind = "reply_released"
    lead = True
    card: Id
    reply: Annotated[int, Field(ge=0, le=20)]
    asked: bool = True


class ReplyAsked(Payload):
    """Whether the candidate asked for it, corrected afterwards or noted without a release."""

    kind = "reply_asked"
    lead = True
    card: Id
    reply: Annotated[int, Field(ge=0, le=20)]
    asked: bool


class HintReleased(Payload):
    """A hint goes to the candidate (1 is the first) and costs the item that it touches."""

    kind = "hint_released"
    lead = True
    card: Id
    hint: Annotated[int, Field(ge=1, le=20)]
    item: ItemId = ""


class TwistApplied(Payload):
    """A twist of a card, or an event of the pack (no card). Public: the candidate gets the banner."""

    kind = "twist_applied"
    lead = True
    twist: Id
    card: Id | None = None
    public: bool = True


class DrillReleased(Payload):
    """A numeric probe is shown outside its phase."""

    kind = "drill_released"
    lead = True
    drill: Id


class NodeVisited(Payload):
    """A question of the follow-up tree was asked; ``heard`` says how the reply went."""

    kind = "node_visited"
    lead = True
    card: Id
    node: Id
    heard: Heard | None = None


class MaskToggled(Payload):
    """Results of the shared calculator are covered: estimate first."""

    kind = "mask_toggled"
    lead = True
    on: bool


class ClaimChecked(Payload):
    """A claim of the candidate is set beside a number of the card, for the scorecard's table."""

    kind = "claim_checked"
    lead = True
    afterwards = True
    row: Id
    card: Id
    number: Id


class ClaimUnchecked(Payload):
    """It stands beside none."""

    kind = "claim_unchecked"
    lead = True
    afterwards = True
    row: Id


class PadWritten(Payload):
    """The candidate's whole scratchpad."""

    kind = "pad"
    by = CANDIDATE
    text: Annotated[str, StringConstraints(max_length=MAX_PAD)]


class ClaimWritten(Payload):
    """A row of the claims table, new or changed."""

    kind = "claim"
    by = CANDIDATE
    row: Id
    claim: Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True)]
    number: Short = ""
    unit: Short = ""
    confidence: Percent | None = None


class ClaimRemoved(Payload):
    kind = "claim_removed"
    by = CANDIDATE
    row: Id


class SlidersMoved(Payload):
    """Values of the shared calculator, all or some."""

    kind = "sliders"
    by = (*RATERS, "candidate")
    values: dict[Id, Value] = Field(min_length=1, max_length=60)


class Hold(Payload):
    """The token that says whose hand is on the sliders: taken, or given back."""

    kind = "hold"
    by = (*RATERS, "candidate")
    on: bool


class Stuck(Payload):
    """The candidate asks for a hint without saying so aloud, or takes it back."""

    kind = "stuck"
    by = CANDIDATE
    on: bool = True


class AnswerLocked(Payload):
    """The answer to a numeric probe, once; ``text`` as typed, with its unit."""

    kind = "answer_locked"
    by = CANDIDATE
    drill: Id
    text: Annotated[str, StringConstraints(min_length=1, max_length=100, strip_whitespace=True)]
    confidence: Percent


class Note(Payload):
    """A private note; no copy but the interviewer's has it."""

    kind = "note"
    afterwards = True
    text: NoteText


class Evidence(Payload):
    """One observed fact, with its sign, for a rubric item or not yet for one."""

    kind = "evidence"
    afterwards = True
    text: NoteText
    sign: Sign = "?"
    item: ItemId = ""


class EvidenceLinked(Payload):
    """An own line, by its seq, is moved to an item, or to none."""

    kind = "evidence_linked"
    afterwards = True
    evidence: Annotated[int, Field(ge=1)]
    item: ItemId


class EvidenceRemoved(Payload):
    kind = "evidence_removed"
    afterwards = True
    evidence: Annotated[int, Field(ge=1)]


class ScoreDrafted(Payload):
    """A level for an item: 1 to 4, 0 for "not observed", None to take it back. Seen by its author alone."""

    kind = "score_drafted"
    afterwards = True
    item: ItemId
    level: RubricLevel | Literal[0] | None


class Overall(Payload):
    """The judgement as a whole, before any mean is shown."""

    kind = "overall"
    afterwards = True
    judgement: Judgement
    reason: Line


class Summary(Payload):
    """Two strengths and two changes, in the interviewer's words."""

    kind = "summary"
    lead = True
    afterwards = True
    strengths: tuple[Line, ...] = Field(max_length=3)
    changes: tuple[Line, ...] = Field(max_length=3)


class Committed(Payload):
    """A rater's scores are final."""

    kind = "committed"
    afterwards = True


class SelfRated(Payload):
    """The candidate's own view, final, sealed until the interviewer has committed as well."""

    kind = "self_rated"
    by = CANDIDATE
    afterwards = True
    overall: Judgement
    competencies: dict[
        Literal["measurement", "quantitative", "breadth", "judgement", "communication", "verification"], RubricLevel
    ] = Field(default_factory=dict)
    words: Words = ""


class Feedback(Payload):
    """Of the candidate on the interviewer, 1 to 5."""

    kind = "feedback"
    by = CANDIDATE
    afterwards = True
    clear: Annotated[int, Field(ge=1, le=5)]
    fair: Annotated[int, Field(ge=1, le=5)]
    useful: Annotated[int, Field(ge=1, le=5)]
    words: Words = ""


KINDS: dict[str, type[Payload]] = {model.kind: model for model in Payload.__subclasses__()}


def read(kind: str, payload: object) -> Payload | None:
    """An event's payload as its model; None where the kind is not known or the payload does not fit it."""
    model = KINDS.get(kind)
    if model is None:
        return None
    try:
        return model.model_validate(payload)
    except ValidationError:
        return None


def written(kind: str, fields: Mapping[str, Any]) -> Payload:
    """The payload of an event to be written.

    Raises:
        EventError: what is too long, missing or out of its range, in words.
    """
    try:
        return KINDS[kind].model_validate(dict(fields))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        # Of a union pydantic adds which branch it tried: level.literal[1,2,3,4].
        field = ".".join(str(part) for part in first["loc"] if str(part).replace("_", "").isalnum()) or kind
        if first["type"] == "string_too_long":
            most = first["ctx"]["max_length"]
            long = f"{len(str(first['input'])):,} characters, and at most {most:,} are kept: shorten it"
            raise EventError(f"{field} has {long}. Nothing was saved.") from None
        if first["type"] == "string_too_short":
            raise EventError(f"{field} is empty: write something first.") from None
        raise EventError(f"{field}: {first['msg'][0].lower()}{first['msg'][1:]}. Nothing was saved.") from None
