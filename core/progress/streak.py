"""Days in a row with practice, forgiving two days a week."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from core.progress.document import Attempt

RETRIEVALS_A_DAY = 5
FREE_SKIPS_A_WEEK = 2  # Monday to Sunday


@dataclass(frozen=True, slots=True)
class Streak:
    """``days`` with practice in the running streak; days skipped for free are not counted, and do not end it."""

    days: int
    retrievals_today: int
    skips_left: int  # in this week


def streak(attempts: Iterable[Attempt], now: datetime) -> Streak:
    """The streak up to now.

    Args:
        attempts: the whole log: a reset hides what is known, not the days on which one practised.
        now: with the learner's time zone.
    """
    tries = Counter(attempt.at.astimezone(now.tzinfo).date() for attempt in attempts if not attempt.dont_know)
    met = {day for day, count in tries.items() if count >= RETRIEVALS_A_DAY and day <= now.date()}
    first = min(met, default=now.date())
    days = int(now.date() in met)
    skips: Counter[tuple[int, int]] = Counter()
    day = now.date() - timedelta(days=1)  # a day that is not over is no skip
    while day >= first:
        if day in met:
            days += 1
        else:
            skips[_week(day)] += 1
            if skips[_week(day)] > FREE_SKIPS_A_WEEK:
                break
        day -= timedelta(days=1)
    return Streak(days, tries[now.date()], max(0, FREE_SKIPS_A_WEEK - skips[_week(now.date())]))


def _week(day: date) -> tuple[int, int]:
    calendar = day.isocalendar()
    return calendar.year, calendar.week
