"""Counts from quotients: rounded up or down, but not for the last bit of one that is whole on paper."""

from __future__ import annotations

import math

SLACK = 1e-9  # far above what rounding adds to a quotient below a million, far below any part of a thing that counts


def rounded_up(quotient: float) -> int:
    """The fewest whole things that reach a quotient: 0.3 / 0.1, which floats make 2.9999999999999996, is 3."""
    return math.ceil(float(quotient) - SLACK)


def rounded_down(quotient: float) -> int:
    """The most whole things that a quotient holds: 0.3 / 0.1 is 3 here as well."""
    return math.floor(float(quotient) + SLACK)
