"""When each card comes back: FSRS, by replaying the log of attempts (the states are derived, never stored).

Learning and relearning steps are empty: this is a daily app, and a missed card is asked again in the same session by
:mod:`core.progress.queue` without a second entry in the log. Fuzz is off, so the same log gives the same dates.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache

from fsrs import Card, Scheduler
from fsrs import Rating as FsrsRating

from core.progress.card_info import CardInfo
from core.progress.document import Attempt, Rating, Settings, to_utc

MAX_INTERVAL_DAYS = 36_500
INTERVALS_TO_INTERVIEW = 3  # each card comes back at least so often before the date
NO_NEW_DAYS = 3
MOCK_DAYS = 2
# Two tabs may hold the same variant; whoever answers it again so soon has seen the truth.
REPEAT_WINDOW = timedelta(hours=12)

FSRS_RATINGS: dict[Rating, FsrsRating] = {
    "again": FsrsRating.Again,
    "hard": FsrsRating.Hard,
    "good": FsrsRating.Good,
    "easy": FsrsRating.Easy,
}


@dataclass(frozen=True, slots=True)
class Plan:
    """What an interview date asks of a day. Without a date, or after it, all is as usual."""

    days_left: int | None
    max_interval_days: int
    takes_new: bool
    mock_day: bool  # one of the last two days: mock packs and due cards


@dataclass(frozen=True, slots=True)
class CardState:
    """Where one card stands after its last scheduled attempt."""

    card_id: str
    due: datetime
    last_review: datetime
    stability_days: float
    difficulty: float  # 1 to 10
    reviews: int
    lapses: int  # times missed after having been known
    last_rating: Rating
    content_hash: str
    answer_hash: str


def plan(settings: Settings, today: date) -> Plan:
    """The plan of a day, from the interview date in the settings."""
    days_left = (settings.interview_date - today).days if settings.interview_date else -1
    if days_left < 0:
        return Plan(None, MAX_INTERVAL_DAYS, takes_new=True, mock_day=False)
    return Plan(
        days_left,
        min(MAX_INTERVAL_DAYS, max(1, days_left // INTERVALS_TO_INTERVIEW)),
        takes_new=days_left > NO_NEW_DAYS,
        mock_day=days_left <= MOCK_DAYS,
    )


def first_answers(attempts: Iterable[Attempt]) -> list[Attempt]:
    """Attempts in order of time, without those that repeat a variant (card and seed) answered in the last 12 hours."""
    kept: list[Attempt] = []
    last: dict[tuple[str, str, int], datetime] = {}
    for attempt in sorted(attempts, key=lambda attempt: (attempt.at, attempt.id)):
        if attempt.seed is not None:
            variant = (attempt.card_id, attempt.content_hash, attempt.seed)
            before = last.get(variant)
            last[variant] = attempt.at
            if before is not None and attempt.at - before < REPEAT_WINDOW:
                continue
        kept.append(attempt)
    return kept


def replay(attempts: Iterable[Attempt], settings: Settings, now: datetime) -> dict[str, CardState]:
    """The state of every card that was scheduled, by card id.

    Args:
        attempts: those that count (:func:`core.progress.document.active_attempts`).
        settings: wanted retention and interview date.
        now: with the learner's time zone; an attempt from a clock that ran ahead is taken as made now.
    """
    scheduler = _scheduler(settings.retention, plan(settings, now.date()).max_interval_days)
    latest = to_utc(now)
    cards: dict[str, Card] = {}
    states: dict[str, CardState] = {}
    for attempt in first_answers(attempt for attempt in attempts if attempt.counts_for_schedule):
        assert attempt.rating is not None, "the document refuses a scheduled attempt without a rating"
        known = states.get(attempt.card_id)
        card = cards.get(attempt.card_id) or Card(card_id=card_number(attempt.card_id))
        at = min(attempt.at, latest)
        card, _ = scheduler.review_card(card, FSRS_RATINGS[attempt.rating], at)
        assert card.stability is not None, "a reviewed card has it"
        assert card.difficulty is not None, "a reviewed card has it"
        cards[attempt.card_id] = card
        states[attempt.card_id] = CardState(
            card_id=attempt.card_id,
            due=card.due,
            last_review=at,
            stability_days=card.stability,
            difficulty=card.difficulty,
            reviews=known.reviews + 1 if known else 1,
            lapses=(known.lapses if known else 0) + (known is not None and attempt.rating == "again"),
            last_rating=attempt.rating,
            content_hash=attempt.content_hash,
            answer_hash=attempt.answer_hash,
        )
    return states


def retrievability(state: CardState | None, now: datetime) -> float:
    """The chance that the card would be answered right now, 0 to 1; 0 for a card that was never scheduled."""
    if state is None:
        return 0.0
    card = Card(card_id=0, stability=state.stability_days, last_review=state.last_review, due=state.due)
    return float(_scheduler(Settings().retention, MAX_INTERVAL_DAYS).get_card_retrievability(card, now))


def is_revised(state: CardState, card: CardInfo) -> bool:
    """Whether the card changed since its last attempt in a way that makes the old answer meaningless."""
    if state.content_hash == card.content_hash:
        return False
    return state.answer_hash != card.answer_hash or not state.answer_hash


def is_due(state: CardState, card: CardInfo, now: datetime) -> bool:
    """Whether the card is to be reviewed on the day of ``now``, which carries the learner's time zone."""
    return is_revised(state, card) or state.due.astimezone(now.tzinfo).date() <= now.date()


def card_number(card_id: str) -> int:
    """The whole number that stands for a card id in fsrs: 48 bits of its SHA-256, the same on every machine."""
    return int.from_bytes(hashlib.sha256(card_id.encode()).digest()[:6])


@lru_cache(maxsize=64)
def _scheduler(retention: float, max_interval_days: int) -> Scheduler:
    return Scheduler(
        desired_retention=retention,
        learning_steps=(),
        relearning_steps=(),
        maximum_interval=max_interval_days,
        enable_fuzzing=False,
    )
