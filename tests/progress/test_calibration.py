"""Brier and Murphy's parts, Wilson intervals, reliability bins, estimator error."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.progress.calibration import (
    ALWAYS_HALF,
    by_topic,
    calibration,
    estimator_error,
    graded,
    in_words,
    is_overconfident,
    log2_error,
    was_right,
    wilson,
)
from tests.progress.made import attempt, day


def answers(table, **fields):
    """From (confidence in percent, right, answers): MCQs, each with a seed of its own."""
    rows = [(said, index < right) for said, right, count in table for index in range(count)]
    return [
        attempt(n, day(n), kind="mcq", number=None, truth=None, confidence=said, correct=right, **fields)
        for n, (said, right) in enumerate(rows)
    ]


# Ten answers: 4 said 50% (2 right), 6 said 90% (3 right). By hand, with exact fractions:
# accuracy 5/10; Brier (4 x 1/4 + 3 x 1/100 + 3 x 81/100) / 10 = 173/500; reliability 6/10 x (9/10 - 1/2)^2 = 12/125.
def test_brier_and_its_parts_of_a_table_done_by_hand():
    result = calibration(answers([(50, 2, 4), (90, 3, 6)]))
    assert result.answers == 10
    assert result.accuracy == 0.5
    assert result.mean_confidence == pytest.approx(0.74)
    assert result.brier == pytest.approx(float(Fraction(173, 500)))
    assert result.reliability == pytest.approx(float(Fraction(12, 125)))
    assert result.resolution == pytest.approx(0.0)
    assert result.uncertainty == 0.25
    assert result.gap_points == pytest.approx(24.0)


def test_a_table_with_resolution():
    result = calibration(answers([(25, 1, 4), (70, 2, 2), (99, 3, 4)]))
    share = Fraction(6, 10)
    parts = [
        (Fraction(25, 100), Fraction(1, 4), 4),
        (Fraction(70, 100), Fraction(1), 2),
        (Fraction(99, 100), Fraction(3, 4), 4),
    ]
    assert result.reliability == pytest.approx(float(sum(n * (said - came) ** 2 for said, came, n in parts) / 10))
    assert result.resolution == pytest.approx(float(sum(n * (came - share) ** 2 for _, came, n in parts) / 10))
    assert result.uncertainty == pytest.approx(0.24)


@given(
    st.lists(
        st.tuples(st.sampled_from([10, 25, 30, 50, 70, 90, 99]), st.integers(0, 6), st.integers(1, 6)).filter(
            lambda row: row[1] <= row[2]
        ),
        min_size=1,
        max_size=6,
    )
)
def test_the_parts_sum_to_the_score(table):
    result = calibration(answers(table))
    assert result.reliability - result.resolution + result.uncertainty == pytest.approx(result.brier, abs=1e-12)
    assert 0 <= result.brier <= 1


def test_saying_fifty_to_everything_scores_a_quarter():
    assert calibration(answers([(50, 7, 10)])).brier == pytest.approx(ALWAYS_HALF)


def test_saying_the_base_rate_scores_the_uncertainty():
    result = calibration(answers([(70, 7, 10)]))
    assert result.brier == pytest.approx(result.uncertainty) == pytest.approx(0.21)


def test_without_graded_answers_there_is_no_calibration():
    assert calibration([]) is None


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "question", "correct": None},
        {"kind": "prediction"},
        {"confidence": None},
        {"dont_know": True},
        {"mode": "estimator"},
    ],
)
def test_only_what_the_app_grades_with_a_stated_confidence_counts(fields):
    assert graded([attempt(0, **fields)]) == []
    assert len(graded([attempt(0)])) == 1


def test_the_same_variant_answered_again_at_once_counts_once():
    assert len(graded([attempt(0, seed=7), attempt(1, day(0.01), seed=7)])) == 1


# The confidence of a drill is about 10%, while the card may ask for 3%.
@pytest.mark.parametrize(
    ("fields", "right"),
    [
        ({"number": 105.0, "truth": 100.0, "rtol": 0.03, "correct": False}, True),
        ({"number": 111.0, "truth": 100.0, "rtol": 0.03, "correct": False}, False),
        ({"number": 115.0, "truth": 100.0, "rtol": 0.2, "correct": True}, True),
        ({"number": -105.0, "truth": -100.0, "rtol": 0.03, "correct": False}, True),
        ({"number": None, "correct": False}, False),
        ({"kind": "mcq", "number": None, "truth": None, "correct": True}, True),
    ],
)
def test_what_a_confidence_is_about(fields, right):
    assert was_right(attempt(0, **fields)) is right


# Newcombe 1998, Statistics in Medicine 17, 857-872, table I, method 3 (score without continuity correction).
@pytest.mark.parametrize(
    ("right", "count", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_intervals_as_published(right, count, low, high):
    assert wilson(right, count) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(("right", "count"), [(0, 1), (1, 1), (5, 5), (0, 1_000)])
def test_wilson_stays_within_0_and_1_and_holds_the_share(right, count):
    low, high = wilson(right, count)
    assert 0 <= low <= right / count <= high <= 1


@pytest.mark.parametrize(("right", "count"), [(0, 0), (2, 1), (-1, 3)])
def test_wilson_refuses_what_is_no_share(right, count):
    with pytest.raises(ValueError, match="is no share"):
        wilson(right, count)


def test_bins_are_the_stated_confidences_and_thin_ones_are_marked():
    result = calibration(answers([(90, 17, 25), (50, 2, 4), (70, 3, 5)]))
    assert [(one.confidence, one.answers, one.is_thin) for one in result.bins] == [
        (50, 4, True),
        (70, 5, False),
        (90, 25, False),
    ]
    assert result.is_plottable
    assert (result.bins[-1].low, result.bins[-1].high) == wilson(17, 25)


def test_29_answers_are_too_few_to_plot():
    assert not calibration(answers([(90, 17, 29)])).is_plottable
    assert calibration(answers([(90, 17, 30)])).is_plottable


def test_a_bin_in_words():
    one = calibration(answers([(90, 17, 25)])).bins[0]
    assert in_words(one) == "When you say 90% you are right 68% of the time (17 of 25)"


def test_overconfidence_is_by_topic():
    log = answers([(90, 3, 6)]) + [
        attempt(100 + n, day(n), kind="mcq", topic="serving", confidence=70, number=None, truth=None) for n in range(6)
    ]
    topics = by_topic(log)
    assert topics["kv-cache"].gap_points == pytest.approx(40)
    assert topics["serving"].gap_points == pytest.approx(-30)
    assert is_overconfident(topics["kv-cache"])
    assert not is_overconfident(topics["serving"])


@pytest.mark.parametrize(
    ("table", "over"),
    [([(90, 3, 4)], False), ([(90, 4, 5)], False), ([(90, 3, 5)], True), ([(75, 6, 10)], False)],  # 10, 30, 15 points
)
def test_overconfident_is_more_than_15_points_over_five_answers(table, over):
    assert is_overconfident(calibration(answers(table))) is over


def test_no_answers_are_not_overconfident():
    assert not is_overconfident(None)


@pytest.mark.parametrize(
    ("number", "truth", "error"),
    [
        (100, 100, 0),
        (50, 100, 1),
        (400, 100, 2),
        (1e30, 1, 10),
        (0, 100, 10),
        (-50, 100, 10),
        (-50, -100, 1),
        (0, 0, 0),
    ],
)
def test_the_error_of_an_estimate_is_in_doublings(number, truth, error):
    assert log2_error(number, truth) == pytest.approx(error)


def test_estimator_error_is_the_median_over_all_numbers():
    log = [attempt(n, number=number, truth=100.0) for n, number in enumerate([100.0, 50.0, 1e9])]
    assert estimator_error(log) == pytest.approx(1.0)
    assert estimator_error([*log, attempt(9, kind="mcq", number=None, truth=None)]) == pytest.approx(1.0)


def test_estimates_count_though_they_are_not_graded():
    assert estimator_error([attempt(0, mode="estimator", number=200.0, truth=100.0)]) == pytest.approx(1.0)


def test_without_numbers_there_is_no_estimator_error():
    assert estimator_error([attempt(0, kind="mcq", number=None, truth=None)]) is None
