"""Ratings from behaviour: misses, near misses, hints, and quick sure answers."""

import pytest

from core.progress.rating import counts_for_schedule, is_near, rating, rating_from_scores


def rate(**fields):
    return rating(**{"correct": True, "confidence": 70, "milliseconds": 60_000, "target_seconds": 90.0} | fields)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "good"),
        ({"correct": False}, "again"),
        ({"correct": True, "dont_know": True}, "again"),
        ({"correct": False, "near": True}, "hard"),
        ({"correct": False, "near": True, "dont_know": True}, "again"),
        ({"hints_used": 1}, "hard"),
        ({"correct": False, "hints_used": 1}, "again"),
        ({"confidence": 90, "milliseconds": 44_999}, "easy"),
        ({"confidence": 90, "milliseconds": 45_000}, "good"),  # half of 90 s is not under half
        ({"confidence": 89, "milliseconds": 1_000}, "good"),
        ({"confidence": None, "milliseconds": 1_000}, "good"),
        ({"confidence": 99, "milliseconds": 1_000, "hints_used": 1}, "hard"),
        ({"confidence": 99, "milliseconds": 1_000, "correct": False}, "again"),
    ],
)
def test_rating_of_a_drill_or_an_mcq(fields, expected):
    assert rate(**fields) == expected


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([1, 1], "again"),
        ([1, 2], "again"),  # 1.5
        ([2, 2], "hard"),
        ([2, 2, 3, 2, 2, 2, 3, 2, 2, 3], "hard"),  # 2.3
        ([2, 3], "good"),
        ([3, 3, 3, 3, 3, 3, 3, 4, 4, 4], "good"),  # 3.3
        ([3, 4], "easy"),
        ([4], "easy"),
    ],
)
def test_rating_of_an_open_question_follows_the_mean_mark(scores, expected):
    assert rating_from_scores({f"line-{n}": score for n, score in enumerate(scores)}) == expected


def test_an_open_question_without_marks_is_refused():
    with pytest.raises(ValueError, match="mark at least one line"):
        rating_from_scores({})


@pytest.mark.parametrize(
    ("number", "near"),
    [(100, False), (103, False), (104, True), (106, True), (107, False), (96, True), (93, False), (200, False)],
)
def test_near_is_between_one_and_two_tolerances_of_3_percent(number, near):
    assert is_near(number, 100, 0.03) is near


def test_forgetting_a_factor_of_two_is_never_near_at_the_usual_tolerances():
    assert not any(is_near(slip, 320.0, rtol) for slip in (160.0, 640.0) for rtol in (0.01, 0.03, 0.05, 0.1))


def test_a_negative_truth_has_the_same_tolerance():
    assert is_near(-104, -100, 0.03)


@pytest.mark.parametrize("mode", ["drill", "sprint", "quiz", "checkup", "review", "card"])
def test_practice_moves_the_schedule(mode):
    assert counts_for_schedule(mode, "drill")


@pytest.mark.parametrize(
    ("mode", "kind"), [("learn", "drill"), ("estimator", "drill"), ("prediction", "prediction"), ("quiz", "prediction")]
)
def test_guesses_and_shown_methods_do_not(mode, kind):
    assert not counts_for_schedule(mode, kind)
