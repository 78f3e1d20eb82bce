"""The one home of prefixes: decimal for rates, parameters and paper tables, binary for device memory and allocators."""

import re

KB = 10**3
MB = 10**6
GB = 10**9
TB = 10**12

KIB = 2**10
MIB = 2**20
GIB = 2**30
TIB = 2**40

TFLOP = 10**12
PFLOP = 10**15

BITS_PER_BYTE = 8
MICROSECOND = 1e-6
MILLISECOND = 1e-3


def in_units(value: float, unit: float) -> float:
    """A quantity in base units as a number of ``unit``, for a box that a person edits."""
    return value / unit


def from_units(text: str, unit: float, *, whole: bool = False) -> float | int | None:
    """What a person typed into such a box, in base units; an empty box is None.

    Args:
        text: a number; commas may group thousands, and stand for nothing else.
        unit: base units that one shown unit holds.
        whole: round to a whole number of base units, at least 1.

    Raises:
        ValueError: the text is no number above zero.
        OverflowError: it is infinite, or too large for a number of base units.
    """
    if not text.strip():
        return None
    grouped = re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d*)?", text.strip())
    try:
        value = float(text.replace(",", "") if grouped else text) * unit
    except ValueError:
        value = 0.0
    if value == float("inf"):
        raise OverflowError(f"{text!r} is more than a number can be")
    if not value > 0:
        raise ValueError(f"{text!r} is not a number above zero")
    return max(round(value), 1) if whole else value
