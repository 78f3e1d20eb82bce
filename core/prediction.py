"""Predict, then reveal: what was asked, how far off a guess is, and which known slip it matches."""

from __future__ import annotations

import math
from dataclasses import dataclass

CONFIDENCES = (50, 70, 90)  # percent sure
RIGHT_WITHIN = 0.10  # of the truth: what a stated confidence is about


@dataclass(frozen=True, slots=True)
class Slip:
    """A usual mistake: the value it leads to, and what it overlooks."""

    value: float
    words: str


def ratio_in_words(guess: float, truth: float) -> str:
    """How a guess compares with the truth: "3.1x too low", "12% too high", "right on"."""
    if not _comparable(guess, truth):
        return "not comparable"
    ratio = guess / truth
    if abs(ratio - 1) < 0.02:
        return "right on"
    side, factor = ("high", ratio) if ratio > 1 else ("low", 1 / ratio)
    if factor < 2:
        return f"{abs(ratio - 1):.0%} too {side}"
    return f"{factor:.1f}x too {side}"


def right_on(guess: float, truth: float) -> bool:
    """Within 10% of the truth, which is what a stated confidence is about."""
    return _comparable(guess, truth) and abs(guess / truth - 1) <= RIGHT_WITHIN


def within_2x(guess: float, truth: float) -> bool:
    """Between half and twice the truth, both included: what counts as right where one only estimates."""
    low, high = sorted((truth / 2, truth * 2))
    return truth != 0 and low <= guess <= high


def matching_slip(guess: float, truth: float, slips: tuple[Slip, ...], *, tolerance: float = 0.05) -> Slip | None:
    """The slip nearest to a wrong guess, if one lies within the tolerance and the truth does not."""
    if not _comparable(guess, truth) or abs(guess / truth - 1) <= tolerance:
        return None
    near = [slip for slip in slips if slip.value > 0 and abs(math.log(guess / slip.value)) <= math.log1p(tolerance)]
    return min(near, key=lambda slip: abs(math.log(guess / slip.value)), default=None)


def _comparable(guess: float, truth: float) -> bool:
    return math.isfinite(guess) and math.isfinite(truth) and guess > 0 and truth > 0
