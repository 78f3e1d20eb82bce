"""Is the learner as right as they are sure? Brier score with Murphy's parts, reliability bins, estimator error.

Only what the app grades counts: drills and MCQs with a stated confidence. Open questions are marked by the learner, and
"I do not know" states no confidence. A drill asks "how sure are you that this is within 10%?", so that is what is
scored, whatever the card's own tolerance.

Sources: Brier 1950 (Monthly Weather Review 78, 1-3), Murphy 1973 (Journal of Applied Meteorology 12, 595-600),
Wilson 1927 (Journal of the American Statistical Association 22, 209-212).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean, median

from core.prediction import RIGHT_WITHIN
from core.progress.document import Attempt
from core.progress.schedule import first_answers

FEWEST_FOR_PLOT = 30  # graded answers
FEWEST_IN_BIN = 5
OVERCONFIDENT_POINTS = 15.0
ALWAYS_HALF = 0.25  # Brier score of saying 50% to everything
MAX_LOG2_ERROR = 10.0  # a factor of 1,024; further off, or of the wrong sign, is no worse
Z_95 = 1.959964  # normal quantile of a two-sided 95% interval


@dataclass(frozen=True, slots=True)
class Bin:
    """All answers given with one confidence; ``low`` and ``high`` bound the true share (Wilson, 95%)."""

    confidence: int  # percent
    answers: int
    right: int
    low: float
    high: float

    @property
    def share_right(self) -> float:
        """0 to 1."""
        return self.right / self.answers

    @property
    def is_thin(self) -> bool:
        """Too few answers to say anything: greyed."""
        return self.answers < FEWEST_IN_BIN


@dataclass(frozen=True, slots=True)
class Calibration:
    """``brier == reliability - resolution + uncertainty``, exactly, since each bin holds one stated confidence."""

    answers: int
    accuracy: float  # share right
    mean_confidence: float  # 0 to 1
    gap_points: float  # mean confidence minus accuracy, in points: above zero is overconfident
    brier: float  # 0 is perfect
    reliability: float  # how far the shares lie from what was said; 0 is perfect
    resolution: float  # how far they lie from the average; more is better
    uncertainty: float  # accuracy x (1 - accuracy): the Brier score of always saying the average
    bins: tuple[Bin, ...]

    @property
    def is_plottable(self) -> bool:
        """Enough answers to draw the reliability plot."""
        return self.answers >= FEWEST_FOR_PLOT


def graded(attempts: Iterable[Attempt]) -> list[Attempt]:
    """First answers to drills and MCQs that stated a confidence, in order of time."""
    return [
        attempt
        for attempt in first_answers(attempts)
        if attempt.kind in ("drill", "mcq")
        and attempt.mode != "estimator"  # another question: within a factor of two
        and attempt.confidence is not None
        and attempt.correct is not None
        and not attempt.dont_know
    ]


def was_right(attempt: Attempt) -> bool:
    """Whether what the confidence was about came true: the right option, or a number within 10% of the truth."""
    if attempt.correct or attempt.kind != "drill" or attempt.number is None or attempt.truth is None:
        return bool(attempt.correct)  # a card may allow more than 10%
    return abs(attempt.number - attempt.truth) <= RIGHT_WITHIN * abs(attempt.truth)


def calibration(attempts: Iterable[Attempt]) -> Calibration | None:
    """Of all graded answers among the attempts; None if there is none."""
    answers = graded(attempts)
    if not answers:
        return None
    outcomes: dict[int, list[bool]] = defaultdict(list)
    for attempt in answers:
        assert attempt.confidence is not None, "graded answers state one"
        outcomes[attempt.confidence].append(was_right(attempt))
    total = len(answers)
    right = sum(map(sum, outcomes.values()))
    percents = sum(said * len(came) for said, came in outcomes.items())
    accuracy = right / total
    shares = {said: (said / 100, fmean(came), len(came)) for said, came in outcomes.items()}
    return Calibration(
        answers=total,
        accuracy=accuracy,
        mean_confidence=percents / 100 / total,
        gap_points=(percents - 100 * right) / total,  # in whole numbers, so that 15 points are 15
        brier=sum((said / 100 - came) ** 2 for said, results in outcomes.items() for came in results) / total,
        reliability=sum(count * (said - share) ** 2 for said, share, count in shares.values()) / total,
        resolution=sum(count * (share - accuracy) ** 2 for _, share, count in shares.values()) / total,
        uncertainty=accuracy * (1 - accuracy),
        bins=tuple(
            Bin(said, len(results), sum(results), *wilson(sum(results), len(results)))
            for said, results in sorted(outcomes.items())
        ),
    )


def by_topic(attempts: Iterable[Attempt]) -> dict[str, Calibration]:
    """The calibration of each topic that has graded answers."""
    topics: dict[str, list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        topics[attempt.topic].append(attempt)
    found = {topic: calibration(members) for topic, members in topics.items()}
    return {topic: result for topic, result in found.items() if result is not None}


def is_overconfident(result: Calibration | None) -> bool:
    """More than 15 points surer than right, over at least five answers."""
    return result is not None and result.answers >= FEWEST_IN_BIN and result.gap_points > OVERCONFIDENT_POINTS


def wilson(right: int, answers: int) -> tuple[float, float]:
    """The 95% score interval of a share, both ends within 0 to 1.

    Raises:
        ValueError: no answers, or more right than given.
    """
    if not 0 <= right <= answers or answers == 0:
        raise ValueError(f"{right=} of {answers=} is no share; give at least one answer")
    share, z2 = right / answers, Z_95**2
    middle = (share + z2 / (2 * answers)) / (1 + z2 / answers)
    half = Z_95 / (1 + z2 / answers) * math.sqrt(share * (1 - share) / answers + z2 / (4 * answers**2))
    # At none or all right one end is 0 or 1, but for rounding.
    return middle - half if right else 0.0, middle + half if right < answers else 1.0


def in_words(one: Bin) -> str:
    """When you say 90% you are right 68% of the time (17 of 25)."""
    return (
        f"When you say {one.confidence}% you are right {one.share_right:.0%} of the time "
        f"({one.right:,} of {one.answers:,})"
    )


def estimator_error(attempts: Iterable[Attempt]) -> float | None:
    """Median of ``|log2(guess / truth)|`` over all numbers given: 1 is a factor of two off. None without numbers.

    Estimates of every mode count; goals are 1 when estimating and 0.15 (11%) in the interview.
    """
    errors = [
        log2_error(attempt.number, attempt.truth)
        for attempt in first_answers(attempts)
        if attempt.number is not None and attempt.truth is not None
    ]
    return median(errors) if errors else None


def error_in_words(error: float) -> str:
    """An :func:`estimator_error` as a factor."""
    return f"Half of your numbers are within a factor of {2**error:.2f} of the truth."


def log2_error(number: float, truth: float) -> float:
    """How many doublings a guess is off, at most ten; ten also if the signs differ or one is zero."""
    if number == truth:
        return 0.0
    if number * truth <= 0:
        return MAX_LOG2_ERROR
    return min(MAX_LOG2_ERROR, abs(math.log2(number / truth)))
