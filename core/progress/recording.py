"""What a page does to the document: each function gives a new document, and doing the same twice changes nothing.

What a person types is never refused here: an answer too long is cut, and a number too large is kept as text only.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from core.prediction import within_2x
from core.progress.card_info import CardInfo
from core.progress.document import (
    LAST_YEAR,
    MAX_ANSWER_CHARS,
    MAX_MILLISECONDS,
    MAX_NUMBER,
    MAX_TEXT_CHARS,
    Attempt,
    Entry,
    Mode,
    Note,
    OpenAnswer,
    Progress,
    Reset,
    Settings,
    Undo,
    active_attempts,
    in_order,
    standing_resets,
    to_utc,
)
from core.progress.merging import LIMITS
from core.progress.rating import counts_for_schedule, is_near, rating, rating_from_scores
from core.progress.reading import ProgressError

LAST_MOMENT = datetime(LAST_YEAR, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC)  # that the document takes


def new_id() -> str:
    """16 random hex digits. Make it when a card is shown, so that a double click commits one attempt."""
    return secrets.token_hex(8)


def answered(
    card: CardInfo,
    *,
    attempt_id: str,
    at: datetime,
    mode: Mode,
    milliseconds: float,
    seed: int | None = None,
    answer: str = "",
    number: float | None = None,
    option: str | None = None,
    scores: Mapping[str, int] | None = None,
    dont_know: bool = False,
    truth: float | None = None,
    rtol: float | None = None,
    unit: str = "",
    confidence: int | None = None,
    hints_used: int = 0,
    correct: bool | None = None,
) -> Attempt:
    """The attempt that a commit makes, with rating and comparison filled in.

    Args:
        card: the card as it is in the bank now.
        attempt_id: from :func:`new_id`, one for each time the card is shown.
        at: when it was committed, with a time zone.
        mode: where it was answered; decides whether it moves the schedule.
        milliseconds: from prompt to commit.
        seed: of the variant.
        answer: as typed.
        number, truth: a drill's, both in ``unit``.
        option: an MCQ's.
        scores: an open question's own marks, 1 to 4 by rubric line.
        dont_know: committed without an answer.
        rtol: relative tolerance of a drill.
        confidence: percent.
        hints_used: before the commit.
        correct: what the grader said; None for an open question.
    """
    near = number is not None and truth is not None and rtol is not None and is_near(number, truth, rtol)
    rated = None
    if card.kind != "question":
        rated = rating(
            correct=bool(correct),
            near=near,
            dont_know=dont_know,
            hints_used=hints_used,
            confidence=confidence,
            milliseconds=_milliseconds(milliseconds),
            target_seconds=card.target_seconds,
        )
    elif scores:
        rated = rating_from_scores(scores)
    return Attempt(
        id=attempt_id,
        at=at,
        card_id=card.id,
        kind=card.kind,
        topic=card.topic,
        mode=mode,
        content_hash=card.content_hash,
        answer_hash=card.answer_hash,
        seed=seed,
        answer=_clean(answer)[:MAX_ANSWER_CHARS],
        number=_bounded(number),
        option=option,
        scores=dict(scores or {}),
        dont_know=dont_know,
        truth=_bounded(truth),
        rtol=rtol,
        unit=unit,
        confidence=confidence,
        hints_used=hints_used,
        correct=correct if card.kind == "question" else bool(correct) and not dont_know,
        within_2x=_within_2x(number, truth),
        milliseconds=_milliseconds(milliseconds),
        rating=rated,
        counts_for_schedule=rated is not None and counts_for_schedule(mode, card.kind),
    )


def predicted(
    question_id: str,
    topic: str,
    *,
    attempt_id: str,
    at: datetime,
    correct: bool,
    answer: str = "",
    number: float | None = None,
    truth: float | None = None,
    unit: str = "",
    confidence: int | None = None,
    milliseconds: float = 0,
) -> Attempt:
    """A guess on a step page: kept in the log, never scheduled."""
    return Attempt(
        id=attempt_id,
        at=at,
        card_id=question_id,
        kind="prediction",
        topic=topic,
        mode="prediction",
        answer=_clean(answer)[:MAX_ANSWER_CHARS],
        number=_bounded(number),
        truth=_bounded(truth),
        unit=unit,
        confidence=confidence,
        correct=correct,
        within_2x=_within_2x(number, truth),
        milliseconds=_milliseconds(milliseconds),
    )


def log(progress: Progress, attempt: Attempt) -> Progress:
    """With this attempt; one whose id is there already changes nothing.

    What is done after a reset counts, also where a clock was set back since.

    Raises:
        ProgressError: the log is full.
    """
    resets = (reset.at for reset in standing_resets(progress) if reset.topic in (None, attempt.topic))
    at = _after(max(resets, default=None), attempt.at)
    return _with_entry(progress, "attempts", progress.attempts, attempt.model_copy(update={"at": at}))


def keep_open_answer(progress: Progress, answer: OpenAnswer) -> Progress:
    """With this text for an open question.

    Raises:
        ProgressError: there is no room for more.
    """
    return _with_entry(progress, "open_answers", progress.open_answers, answer)


def write_note(progress: Progress, card_id: str, text: str, at: datetime) -> Progress:
    """With this note on a card, in place of an older one; an empty text takes it away.

    Raises:
        ProgressError: too long, or too many notes.
    """
    if len(text) > MAX_TEXT_CHARS:
        raise ProgressError(f"This note has {len(text):,} characters; there is room for {MAX_TEXT_CHARS:,}.", "Cut it.")
    _refuse_full("notes", {*progress.notes, card_id})
    before = progress.notes.get(card_id)
    note = Note(at=_after(before.at if before else None, to_utc(at)), text=_clean(text))
    if before is not None and before.text == note.text:
        return progress
    return progress.model_copy(update={"notes": {**progress.notes, card_id: note}})


def change_settings(progress: Progress, at: datetime, **changes: Any) -> Progress:
    """With these settings changed.

    Raises:
        pydantic.ValidationError: a value outside its bounds.
    """
    changed_at = _after(progress.settings.changed_at, to_utc(at))
    settings = Settings.model_validate({**dict(progress.settings), **changes, "changed_at": changed_at})
    return progress.model_copy(update={"settings": settings})


def reset(progress: Progress, at: datetime, topic: str | None = None) -> Progress:
    """From now on, what was done in the topic (or everywhere) does not count; :func:`undo` takes it back.

    Where nothing counts, it changes nothing. What a clock that ran ahead has dated later is hidden as well.

    Raises:
        ProgressError: after a thousand resets.
    """
    done = [attempt.at for attempt in active_attempts(progress) if topic in (None, attempt.topic)]
    if not done:
        return progress
    return _with_entry(progress, "resets", progress.resets, Reset(id=new_id(), at=max(at, *done), topic=topic))


def undo(progress: Progress, reset_id: str, at: datetime) -> Progress:
    """With one reset taken back.

    Raises:
        ValueError: there is no such reset.
    """
    if reset_id not in {entry.id for entry in progress.resets}:
        raise ValueError(f"{reset_id=} is not known")
    if reset_id in {entry.reset_id for entry in progress.undos}:
        return progress
    return _with_entry(progress, "undos", progress.undos, Undo(id=new_id(), at=at, reset_id=reset_id))


def mark_exported(progress: Progress, at: datetime) -> Progress:
    """With the time of this export."""
    return progress.model_copy(update={"exported_at": to_utc(at)})


def _with_entry(progress: Progress, name: str, entries: tuple[Entry, ...], entry: Entry) -> Progress:
    if any(known.id == entry.id for known in entries):
        return progress
    _refuse_full(name, (*entries, entry))
    return progress.model_copy(update={name: in_order((*entries, entry))})


def _refuse_full(name: str, entries: tuple[Any, ...] | set[str]) -> None:
    if len(entries) > LIMITS[name]:
        raise ProgressError(
            f"There is room for {LIMITS[name]:,} {name.replace('_', ' ')}, and all of it is taken.",
            "Export the file, then start a new one.",
        )


def _after(earlier: datetime | None, at: datetime) -> datetime:
    """The time of an entry that follows another one: the clock may have been set back since, or tell the same."""
    if earlier is None or at > earlier:
        return at
    return min(earlier + timedelta(milliseconds=1), LAST_MOMENT)


def _clean(text: str) -> str:
    """Halves of characters, which no file can hold, become question marks."""
    return text.encode("utf-8", "replace").decode()


def _bounded(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) and abs(number) <= MAX_NUMBER else None


def _within_2x(number: float | None, truth: float | None) -> bool | None:
    """None where there is nothing to compare."""
    return None if number is None or truth is None else within_2x(number, truth)


def _milliseconds(value: float) -> int:
    """A clock that was set back gives 0, a card left open for days gives a day."""
    return int(min(max(value, 0), MAX_MILLISECONDS))
