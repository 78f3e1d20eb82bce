"""How far off a guess is, in words, and the slip behind it."""

import pytest

from core.prediction import CONFIDENCES, Slip, matching_slip, ratio_in_words, within_2x

LIMIT = Slip(25.0, "the limit for many GPUs")
STAGE_2 = Slip(23.4375, "stage 2")
STAGE_3 = Slip(12.5, "stage 3")
SLIPS = (LIMIT, STAGE_2, STAGE_3)
TRUTH = 34.375  # 5.5 of 16 bytes


@pytest.mark.parametrize(
    ("guess", "truth", "words"),
    [
        (31, 10, "3.1x too high"),
        (10, 31, "3.1x too low"),
        (112, 100, "12% too high"),
        (88, 100, "12% too low"),
        (60, 100, "40% too low"),
        (50, 100, "2.0x too low"),
        (200, 100, "2.0x too high"),
        (101, 100, "right on"),
        (100, 100, "right on"),
        (0, 100, "not comparable"),
        (-5, 100, "not comparable"),
        (5, 0, "not comparable"),
        (float("nan"), 100, "not comparable"),
        (float("inf"), 100, "not comparable"),
    ],
)
def test_a_guess_beside_the_truth(guess, truth, words):
    assert ratio_in_words(guess, truth) == words


@pytest.mark.parametrize(
    ("guess", "slip"), [(25, LIMIT), (24.4, LIMIT), (23.5, STAGE_2), (12, STAGE_3), (13.1, STAGE_3)]
)
def test_a_usual_mistake_is_recognised_by_its_value(guess, slip):
    assert matching_slip(guess, TRUTH, SLIPS) is slip


@pytest.mark.parametrize("guess", [34.375, 33, 36, 50, 18, 0, -25, float("nan")])
def test_a_right_guess_or_an_unknown_mistake_matches_none(guess):
    assert matching_slip(guess, TRUTH, SLIPS) is None


def test_a_slip_beside_the_truth_does_not_blame_a_right_guess():
    assert matching_slip(34, TRUTH, (Slip(33.9, "close"),)) is None


@pytest.mark.parametrize(
    ("guess", "truth", "within"),
    [
        *((50, 100, True), (200, 100, True), (49, 100, False), (201, 100, False), (0.1, 0.2, True)),
        *((-60, -100, True), (-100, 100, False), (0, 100, False), (0, 0, False)),
        *((float("inf"), 100, False), (float("nan"), 100, False)),
    ],
)
def test_an_estimate_may_be_off_by_a_factor_of_two_either_way(guess, truth, within):
    assert within_2x(guess, truth) is within


def test_confidences_rise():
    assert list(CONFIDENCES) == sorted(CONFIDENCES)
