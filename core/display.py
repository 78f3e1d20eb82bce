"""Numbers as a page shows them: three digits that mean something, the unit beside them, GB and GiB never mixed up."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from core.units import GB, GIB

BYTE_UNITS: dict[str, int] = {"GB": GB, "GiB": GIB}
_SMALLER = {"GB": (("kB", 10**3), ("MB", 10**6)), "GiB": (("KiB", 2**10), ("MiB", 2**20))}
_COUNT_STEPS = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))


def digits(value: float, significant: int = 3) -> str:
    """A number to so many significant digits, thousands grouped, never in exponent form."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    decimals = max(0, significant - 1 - math.floor(math.log10(abs(value))))
    rounded = round(value, decimals)
    # 9.996 rounds to 10.00: one digit fewer, so that the count of digits stays what was asked for.
    decimals = max(0, significant - 1 - math.floor(math.log10(abs(rounded)))) if rounded else decimals
    return f"{rounded:,.{decimals}f}"


def show_bytes(num_bytes: float, unit: str = "GB") -> str:
    """Bytes in the chosen family of units: GB, or below a tenth of it MB, kB and B (GiB: MiB, KiB, B)."""
    scale = BYTE_UNITS[unit]
    if abs(num_bytes) >= 0.1 * scale or num_bytes == 0:
        return f"{digits(num_bytes / scale)} {unit}"
    for name, size in reversed(_SMALLER[unit]):
        if abs(num_bytes) >= 0.1 * size:
            return f"{digits(num_bytes / size)} {name}"
    return f"{digits(num_bytes)} B"


def show_each(num_bytes: ArrayLike, unit: str = "GB") -> list[str]:
    """:func:`show_bytes` over a flat array."""
    return [show_bytes(float(value), unit) for value in np.ravel(num_bytes)]


def show_count(count: float) -> str:
    """A large count as the field writes it: 70.6B parameters, 1.01T, 512."""
    for size, letter in _COUNT_STEPS:
        if abs(count) >= size:
            return f"{digits(count / size)}{letter}"
    return digits(count) if count != int(count) else f"{int(count)}"


def show_difference(num_bytes: float, unit: str = "GB") -> str:
    """A signed difference of bytes; a plain word when nothing changed."""
    if abs(num_bytes) < 0.5:
        return "no change"
    return f"{'+' if num_bytes > 0 else '-'}{show_bytes(abs(num_bytes), unit)}"
