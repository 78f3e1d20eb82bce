"""Days with five retrievals, and two free skips a week."""

from datetime import timedelta, timezone

import pytest

from core.progress.streak import streak
from tests.progress.made import attempt, day


def practised(*days, tries=5, **fields):
    """Five answers on each day; day 0 is a Monday."""
    return [
        attempt(100 * number + index, day(days[number] + index / 1000), **fields)
        for number in range(len(days))
        for index in range(tries)
    ]


@pytest.mark.parametrize(
    ("days", "today", "expected"),
    [
        ([], 0, 0),
        ([0], 0, 1),
        ([0, 1, 2], 2, 3),
        ([0, 1, 2], 3, 3),  # today is not over
        ([0, 3], 3, 2),  # two free days
        ([0, 4], 4, 1),  # three days of one week
        ([0, 1, 2, 3, 4], 9, 5),  # Saturday, Sunday, then Monday and Tuesday of the next week
        ([0, 1, 2, 3, 4], 10, 0),  # and Wednesday
        ([0, 1, 2, 3, 4, 7, 8, 9, 10, 11], 14, 10),
    ],
)
def test_days_of_the_running_streak(days, today, expected):
    assert streak(practised(*days), day(today)).days == expected


def test_four_retrievals_are_not_a_day():
    result = streak(practised(0, tries=4), day(0))
    assert (result.days, result.retrievals_today) == (0, 4)


def test_saying_i_do_not_know_is_no_retrieval():
    assert streak(practised(0, dont_know=True, correct=False, rating="again"), day(0)).days == 0


def test_skips_left_are_of_this_week():
    assert streak(practised(0), day(0)).skips_left == 2
    assert streak(practised(0), day(3)).skips_left == 0
    assert streak(practised(0), day(7)).skips_left == 2


def test_a_day_ends_where_the_learner_is():
    late = practised(0.6)  # 22:24 UTC
    tokyo = timezone(timedelta(hours=9))
    assert streak(late, day(0.65)).retrievals_today == 5
    assert streak(late, day(0.9)).retrievals_today == 0  # the next day in UTC
    assert streak(late, day(0.9).astimezone(tokyo)).retrievals_today == 5


def test_years_of_log_and_days_from_the_future_are_no_trouble():
    assert streak(practised(-5_000, 3_000, 0), day(0)).days == 1
