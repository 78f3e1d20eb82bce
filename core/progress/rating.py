"""The four FSRS ratings from what a learner did, not from four buttons.

People use "Hard" for a fail, and a schedule from two grades fits nearly as well (open-spaced-repetition/fsrs4anki,
issue 560). So the app decides: Again is a miss, the other three are shades of a hit.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

from core.progress.document import Kind, Mode, Rating

SURE = 90  # percent, from which a quick right answer is Easy
NEAR_TOLERANCES = 2  # a drill's answer within so many tolerances is a rounding slip, no miss
# Step pages show the method before they ask; an estimate within a factor of two is no recall.
NOT_SCHEDULED: frozenset[Mode] = frozenset({"learn", "estimator", "prediction"})


def rating(
    *,
    correct: bool,
    near: bool = False,
    dont_know: bool = False,
    hints_used: int = 0,
    confidence: int | None = None,
    milliseconds: int,
    target_seconds: float,
) -> Rating:
    """The rating of a drill or an MCQ.

    Args:
        correct: inside the tolerance, or the right option.
        near: outside the tolerance of a drill but inside twice that (:func:`is_near`).
        dont_know: committed without an answer.
        hints_used: hints taken before the answer.
        confidence: how sure the learner was, in percent; None if not asked.
        milliseconds: from the prompt to the commit.
        target_seconds: the time that the card should take.
    """
    if dont_know or not (correct or near):
        return "again"
    if near or hints_used > 0:
        return "hard"
    quick = milliseconds < target_seconds * 1000 / 2
    return "easy" if quick and confidence is not None and confidence >= SURE else "good"


def rating_from_scores(scores: Mapping[str, int]) -> Rating:
    """The rating of an open question from the learner's own marks, 1 to 4 for each line of the rubric.

    Raises:
        ValueError: no line was marked.
    """
    if not scores:
        raise ValueError("scores is empty; mark at least one line of the rubric")
    mean = fmean(scores.values())
    steps: tuple[tuple[float, Rating], ...] = ((1.5, "again"), (2.3, "hard"), (3.3, "good"))
    return next((name for highest, name in steps if mean <= highest), "easy")


def is_near(number: float, truth: float, rtol: float) -> bool:
    """Within twice the tolerance, but not within it.

    Not within a factor of two: the commonest slips (keys without values, one way of two) are off by just that.
    """
    error = abs(number - truth)
    return rtol * abs(truth) < error <= NEAR_TOLERANCES * rtol * abs(truth)


def counts_for_schedule(mode: Mode, kind: Kind) -> bool:
    """Whether an answer given in this mode moves the card's next date."""
    return kind != "prediction" and mode not in NOT_SCHEDULED
