"""The document ``progress/1``: settings, an append-only log of attempts, notes, open answers, resets and their undoing.

Every list only grows, so two copies can be merged in any order (:mod:`core.progress.merging`). Times are UTC with
milliseconds. Defaults are part of the format, since a field at its default is not written. Fields that this version
does not know are kept as they came.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Annotated, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    field_validator,
    model_validator,
)

FORMAT: Literal["progress/1"] = "progress/1"

# Bounds: far above what a person can do by hand, and low enough that no file exhausts a small server.
MAX_ATTEMPTS = 50_000  # 14 a day for ten years
MAX_NOTES = 5_000
MAX_OPEN_ANSWERS = 10_000
MAX_RESETS = 1_000
MAX_ANSWER_CHARS = 1_000
MAX_TEXT_CHARS = 20_000  # a note, or the text of an open answer
MAX_NUMBER = 1e30  # an exaflop machine does 3e25 FLOP a year
MAX_MILLISECONDS = 24 * 3600 * 1000  # a card left open for a day
MAX_SEED = 2**53 - 1  # the largest whole number that a browser keeps exactly
FIRST_YEAR, LAST_YEAR = 2000, 2199

Kind = Literal["drill", "mcq", "question", "prediction"]
Mode = Literal["learn", "drill", "sprint", "estimator", "quiz", "checkup", "review", "card", "prediction"]
Rating = Literal["again", "hard", "good", "easy"]


def to_utc(at: datetime) -> datetime:
    """The same instant in UTC, cut to the milliseconds that the document keeps.

    Raises:
        ValueError: no time zone, or a year outside 2000 to 2199.
    """
    if at.tzinfo is None:
        raise ValueError("needs a time zone, such as the Z in 2026-01-31T09:30:00Z")
    if not FIRST_YEAR <= at.year <= LAST_YEAR:
        raise ValueError(f"must lie in the years {FIRST_YEAR} to {LAST_YEAR}")
    return at.astimezone(UTC).replace(microsecond=at.microsecond // 1000 * 1000)


def utc_text(at: datetime) -> str:
    """2026-01-31T09:30:00.000Z."""
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"


Utc = Annotated[AwareDatetime, AfterValidator(to_utc), PlainSerializer(utc_text, when_used="json")]
Id = Annotated[str, Field(min_length=1, max_length=200)]
Number = Annotated[float, Field(ge=-MAX_NUMBER, le=MAX_NUMBER)]
Text = Annotated[str, Field(max_length=MAX_TEXT_CHARS)]


class _Part(BaseModel):
    """Strict, so that "12" is no number; frozen; unknown fields are kept."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True, allow_inf_nan=False)


class Settings(_Part):
    """What the learner chose; of two copies the one changed last wins."""

    changed_at: Utc | None = None
    new_per_day: Annotated[int, Field(ge=0, le=100)] = 10
    retention: Annotated[float, Field(ge=0.7, le=0.99)] = 0.9
    cap: Annotated[int, Field(ge=1, le=500)] = 30  # reviews a day
    interview_date: date | None = None
    catch_up_from: date | None = None  # the first of three days over which a backlog is spread
    show_streak: bool = True


class Attempt(_Part):
    """One committed answer. ``truth`` and ``number`` are in ``unit``; ``correct`` is None for an open question."""

    id: Id
    at: Utc
    card_id: Id
    kind: Kind
    topic: Id
    mode: Mode
    content_hash: Annotated[str, Field(max_length=100)] = ""
    answer_hash: Annotated[str, Field(max_length=100)] = ""
    seed: Annotated[int, Field(ge=0, le=MAX_SEED)] | None = None
    answer: Annotated[str, Field(max_length=MAX_ANSWER_CHARS)] = ""  # as typed
    number: Number | None = None  # a drill's
    option: Annotated[str, Field(max_length=100)] | None = None  # an MCQ's
    scores: Annotated[dict[Id, Annotated[int, Field(ge=1, le=4)]], Field(max_length=50)] = {}  # a question's rubric
    dont_know: bool = False
    truth: Number | None = None
    rtol: Annotated[float, Field(ge=0, le=10)] | None = None
    unit: Annotated[str, Field(max_length=100)] = ""
    confidence: Annotated[int, Field(ge=0, le=100)] | None = None  # percent
    hints_used: Annotated[int, Field(ge=0, le=100)] = 0
    correct: bool | None = None
    within_2x: bool | None = None  # within a factor of two of the truth
    milliseconds: Annotated[int, Field(ge=0, le=MAX_MILLISECONDS)] = 0
    rating: Rating | None = None
    counts_for_schedule: bool = False

    @model_validator(mode="after")
    def _a_scheduled_attempt_is_rated(self) -> Self:
        if self.counts_for_schedule and self.rating is None:
            raise ValueError("counts for the schedule but has no rating")
        return self


class Note(_Part):
    """The learner's own words on a card; an empty text means taken away."""

    at: Utc
    text: Text


class OpenAnswer(_Part):
    """What was written for an open question, before the model answer was shown."""

    id: Id
    at: Utc
    card_id: Id
    topic: Id
    seed: Annotated[int, Field(ge=0, le=MAX_SEED)] | None = None
    text: Text


class Reset(_Part):
    """From here on, what was done before ``at`` no longer counts: in one topic, or everywhere."""

    id: Id
    at: Utc
    topic: Id | None = None


class Undo(_Part):
    """Takes one reset back: what it hid counts again."""

    id: Id
    at: Utc
    reset_id: Id


Entry = TypeVar("Entry", Attempt, OpenAnswer, Reset, Undo)


class Progress(_Part):
    """All of it. Lists are kept in order of time, then id."""

    format: Literal["progress/1"] = FORMAT
    settings: Settings = Settings()
    attempts: Annotated[tuple[Attempt, ...], Field(max_length=MAX_ATTEMPTS)] = ()
    notes: Annotated[dict[Id, Note], Field(max_length=MAX_NOTES)] = {}  # by card id
    open_answers: Annotated[tuple[OpenAnswer, ...], Field(max_length=MAX_OPEN_ANSWERS)] = ()
    resets: Annotated[tuple[Reset, ...], Field(max_length=MAX_RESETS)] = ()
    undos: Annotated[tuple[Undo, ...], Field(max_length=MAX_RESETS)] = ()
    exported_at: Utc | None = None

    @field_validator("attempts", "open_answers", "resets", "undos")
    @classmethod
    def _ids_are_unique_and_entries_in_order(cls, entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
        times = Counter(entry.id for entry in entries)
        repeated = next((entry_id for entry_id, count in times.items() if count > 1), None)
        if repeated is not None:
            raise ValueError(f"holds the id {repeated!r} more than once")
        return in_order(entries)


def in_order(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """By time, then id: the same set of entries gives the same tuple."""
    return tuple(sorted(entries, key=lambda entry: (entry.at, entry.id)))


def active_attempts(progress: Progress) -> tuple[Attempt, ...]:
    """The attempts that count: those that no standing reset hides."""
    since = _reset_times(progress)
    everywhere = since.get(None)
    return tuple(
        attempt
        for attempt in progress.attempts
        if not _hidden(attempt.at, everywhere) and not _hidden(attempt.at, since.get(attempt.topic))
    )


def standing_resets(progress: Progress) -> tuple[Reset, ...]:
    """Resets that were not undone, oldest first."""
    undone = {undo.reset_id for undo in progress.undos}
    return tuple(reset for reset in progress.resets if reset.id not in undone)


def _reset_times(progress: Progress) -> dict[str | None, datetime]:
    """Topic (None: all) to the last standing reset of it; resets are in order of time, so the last one stays."""
    return {reset.topic: reset.at for reset in standing_resets(progress)}


def _hidden(at: datetime, reset_at: datetime | None) -> bool:
    return reset_at is not None and at <= reset_at
