"""FSRS by replay of the log."""

from __future__ import annotations

import random
import time
from datetime import UTC, date, timedelta, timezone

import fsrs
import pytest

from core.progress.document import Settings
from core.progress.schedule import card_number, first_answers, is_due, is_revised, plan, replay, retrievability
from tests.progress.made import START, attempt, card, day

CARD = "d-kv-cache-growth"
LATER = day(5_000)


def answered(*ratings, at=START, settings=None):
    """The state after reviews that each came exactly when due, and the intervals in days."""
    log, intervals = [], []
    for number, rating in enumerate(ratings):
        log.append(attempt(number, at, rating=rating))
        state = replay(log, settings or Settings(), LATER)[CARD]
        intervals.append((state.due - state.last_review).days)
        at = state.due
    return state, intervals


# Measured on fsrs 6.3.2 with its own start values: the second Good comes after 10 minutes there.
def test_the_library_gives_the_known_intervals_with_its_default_steps():
    random.seed(1)
    scheduler, reviewed, at, intervals = fsrs.Scheduler(enable_fuzzing=False), fsrs.Card(card_id=1), START, []
    for _ in range(6):
        reviewed, _ = scheduler.review_card(reviewed, fsrs.Rating.Good, at)
        intervals.append(reviewed.due - at)
        at = reviewed.due
    assert intervals == [timedelta(minutes=10), *(timedelta(days=days) for days in (2, 11, 46, 163, 498))]


def test_six_goods_without_steps():
    # The same chain without the review after ten minutes, which had added 0.4 days to the fifth interval.
    assert answered(*["good"] * 6)[1] == [2, 11, 46, 163, 497, 1346]


@pytest.mark.parametrize(("rating", "days"), [("again", 1), ("hard", 1), ("good", 2), ("easy", 8)])
def test_first_interval(rating, days):
    assert answered(rating)[1] == [days]


def test_the_log_is_the_truth_so_its_order_in_memory_does_not_matter():
    log = [attempt(number, day(number * number), rating="good") for number in range(6)]
    assert replay(log[::-1], Settings(), LATER) == replay(log, Settings(), LATER)


def test_replaying_twice_gives_the_same_dates():
    log = [attempt(number, day(3 * number), card_id=f"d-{number % 7}") for number in range(60)]
    assert replay(log, Settings(), LATER) == replay(log, Settings(), LATER)


def test_what_does_not_count_moves_nothing():
    log = [attempt(0), attempt(1, day(1), mode="estimator", counts_for_schedule=False, rating="again")]
    assert replay(log, Settings(), LATER) == replay(log[:1], Settings(), LATER)


def test_a_miss_after_knowing_is_a_lapse_and_a_first_miss_is_none():
    assert answered("again")[0].lapses == 0
    state, _ = answered("good", "again", "good")
    assert (state.lapses, state.reviews, state.last_rating) == (1, 3, "good")


def test_wanting_more_retention_brings_cards_back_sooner():
    eager, calm = (answered("good", "good", settings=Settings(retention=wanted))[1][1] for wanted in (0.95, 0.85))
    assert eager < 11 < calm


def test_retrievability_is_the_wanted_retention_on_the_due_date():
    state, _ = answered("good", "good", "good")
    assert retrievability(state, state.due) == pytest.approx(0.9, abs=0.005)  # the interval is a whole number of days
    assert retrievability(state, state.last_review) == 1.0
    assert retrievability(state, day(4_000)) < 0.8


def test_a_card_never_seen_has_no_retrievability():
    assert retrievability(None, START) == 0.0


def test_a_clock_that_ran_ahead_does_not_hide_a_card_for_years():
    state = replay([attempt(0, day(3_650))], Settings(), START)[CARD]
    assert state.last_review == START
    assert state.due == day(2)


def test_after_200_days_away_nothing_is_negative_and_nothing_raises():
    log = [attempt(n, day(n / 40), card_id=f"d-{n}", rating=("again", "good", "easy")[n % 3]) for n in range(200)]
    states = replay(log, Settings(), day(205))
    assert all(0 < retrievability(state, day(205)) < 1 for state in states.values())
    assert all(is_due(state, card(state.card_id), day(205)) for state in states.values())
    assert all(state.due > state.last_review for state in states.values())


def test_due_is_a_day_and_the_day_is_the_learners():
    state = replay([attempt(0, day(0))], Settings(), LATER)[CARD]  # due on day 2 at 08:00 UTC
    assert not is_due(state, card(), day(1.6))  # day 1, 22:24 UTC
    assert is_due(state, card(), day(1.7))  # day 2, 00:48 UTC, though before 08:00
    tokyo = timezone(timedelta(hours=9))
    assert is_due(state, card(), day(1.6).astimezone(tokyo))  # already day 2 there


@pytest.mark.parametrize(
    ("fields", "revised"),
    [
        ({}, False),
        ({"content_hash": "c2"}, False),  # a comma was mended: the schedule stays
        ({"content_hash": "c2", "answer_hash": "h2"}, True),
    ],
)
def test_a_changed_card_is_revised_only_if_its_answer_changed(fields, revised):
    state = replay([attempt(0, rating="easy")], Settings(), LATER)[CARD]
    assert is_revised(state, card(**fields)) is revised
    assert is_due(state, card(**fields), day(1)) is revised


def test_without_a_recorded_answer_hash_any_change_revises():
    state = replay([attempt(0, answer_hash="")], Settings(), LATER)[CARD]
    assert is_revised(state, card(content_hash="c2"))


def test_answering_a_revised_card_brings_it_up_to_date_and_keeps_its_history():
    new = {"content_hash": "c2", "answer_hash": "h2"}
    state = replay([attempt(0), attempt(1, day(2), **new)], Settings(), LATER)[CARD]
    assert not is_revised(state, card(**new))
    assert state.reviews == 2


def test_two_tabs_with_the_same_variant_count_once():
    log = [attempt(0, seed=7), attempt(1, day(0.01), seed=7), attempt(2, day(0.02), seed=8)]
    assert [kept.id for kept in first_answers(log)] == ["a00000", "a00002"]
    assert replay(log[:2], Settings(), LATER) == replay(log[:1], Settings(), LATER)


def test_the_same_variant_counts_again_another_day_and_without_a_seed_always():
    assert len(first_answers([attempt(0, seed=7), attempt(1, day(2), seed=7)])) == 2
    assert len(first_answers([attempt(0, seed=None), attempt(1, seed=None)])) == 2


@pytest.mark.parametrize(
    ("days_left", "longest", "takes_new", "mock_day"),
    [(30, 10, True, False), (4, 1, True, False), (3, 1, False, False), (2, 1, False, True), (0, 1, False, True)],
)
def test_an_interview_date_shortens_intervals_and_ends_new_cards(days_left, longest, takes_new, mock_day):
    today = date(2026, 3, 2)
    day_plan = plan(Settings(interview_date=today + timedelta(days=days_left)), today)
    assert (day_plan.max_interval_days, day_plan.takes_new, day_plan.mock_day) == (longest, takes_new, mock_day)
    assert day_plan.days_left == days_left


@pytest.mark.parametrize("settings", [Settings(), Settings(interview_date=date(2026, 3, 1))])
def test_without_a_date_or_after_it_all_is_as_usual(settings):
    day_plan = plan(settings, date(2026, 3, 2))
    assert (day_plan.days_left, day_plan.takes_new, day_plan.mock_day) == (None, True, False)
    assert day_plan.max_interval_days == 36_500


def test_with_30_days_to_the_interview_every_card_is_back_within_10():
    settings = Settings(interview_date=(START + timedelta(days=30)).date())
    log = [attempt(n, day(n - 60), rating="easy") for n in (0, 8, 58)]
    usual, hurried = (replay(log, chosen, START)[CARD] for chosen in (Settings(), settings))
    assert usual.due - usual.last_review > timedelta(days=10)
    assert hurried.due - hurried.last_review == timedelta(days=10)
    assert hurried.stability_days == usual.stability_days  # the date changes when to ask, not what is known


def test_card_numbers_are_stable_and_small_enough_for_a_browser():
    assert card_number("d-kv-cache-growth") == card_number("d-kv-cache-growth") != card_number("d-kv-cache-mla")
    assert 0 <= card_number("d-kv-cache-growth") < 2**48


def test_dates_are_in_utc():
    assert replay([attempt(0)], Settings(), LATER)[CARD].due.tzinfo is UTC


def test_replaying_5000_attempts_takes_under_half_a_second():
    log = [attempt(n, day(n / 20), card_id=f"d-{n % 270}") for n in range(5_000)]
    start = time.process_time()
    assert len(replay(log, Settings(), day(300))) == 270
    assert time.process_time() - start < 0.5
