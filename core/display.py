"""Numbers as a page shows them: three digits that mean something, the unit beside them, GB and GiB never mixed up."""

from __future__ import annotations

import math

from core.units import GB, GIB

BYTE_UNITS: dict[str, int] = {"GB": GB, "GiB": GIB}
_SMALLER = {"GB": (("kB", 10**3), ("MB", 10**6)), "GiB": (("KiB", 2**10), ("MiB", 2**20))}
_COUNT_STEPS = ((1e12, "T"), (1e9, "B"), (1e6, "M"))


def digits(value: float, significant: int = 3) -> str:
    """A number to so many significant digits, thousands grouped, never in exponent form."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    # The exponent after rounding, so that 9.996 counts as 10.0 and keeps three digits.
    exponent = int(f"{value:.{significant - 1}e}".rpartition("e")[2])
    return f"{value:,.{max(0, significant - 1 - exponent)}f}"


def short(value: float) -> str:
    """Three digits without the zeros that end them: 1.5, 31.7, 98,304; never in exponent form."""
    text = digits(value)
    return text.rstrip("0").rstrip(".") if "." in text else text


def show_bytes(num_bytes: float, unit: str = "GB") -> str:
    """Bytes in the chosen family of units: GB, or below a tenth of it MB, kB and B (GiB: MiB, KiB, B)."""
    scale = BYTE_UNITS[unit]
    if abs(num_bytes) >= 0.1 * scale or num_bytes == 0:
        return f"{digits(num_bytes / scale)} {unit}"
    for name, size in reversed(_SMALLER[unit]):
        if abs(num_bytes) >= 0.1 * size:
            return f"{digits(num_bytes / size)} {name}"
    return f"{digits(num_bytes) if num_bytes % 1 else int(num_bytes)} B"


def show_count(count: float) -> str:
    """A large count as the field writes it: 70.6B parameters, 1.01T; below a million in full: 3,072."""
    if math.isinf(count):
        return "∞" if count > 0 else "-∞"
    for size, letter in _COUNT_STEPS:
        if abs(count) >= 0.9995 * size and abs(count) >= 1e6:  # 999.95B already reads 1.00T
            return f"{digits(count / size)}{letter}"
    return digits(count) if count % 1 else f"{int(count):,}"


def show_difference(num_bytes: float, unit: str = "GB") -> str:
    """A signed difference of bytes; a plain word when nothing changed."""
    if abs(num_bytes) < 0.5:
        return "no change"
    return f"{'+' if num_bytes > 0 else '-'}{show_bytes(abs(num_bytes), unit)}"


def show_seconds(seconds: float) -> str:
    """A time in the unit that keeps it readable: 1.10 us, 22.8 ms, 3.41 s; from two of them on min, h, days."""
    for size, name in ((86_400.0, "days"), (3_600.0, "h"), (60.0, "min")):
        if seconds >= 2 * size:
            return f"{digits(seconds / size)} {name}"
    for size, name in ((1, "s"), (1e-3, "ms")):
        if seconds >= 0.9995 * size:
            return f"{digits(seconds / size)} {name}"
    return f"{digits(seconds / 1e-6)} us"


def show_rate(per_second: float, of: str) -> str:
    """A rate with a decimal prefix, whatever family bytes are shown in: 989 TFLOP/s, 3.35 TB/s."""
    for size, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M")):
        if per_second >= 0.9995 * size and (prefix != "P" or per_second >= 10 * size):
            return f"{digits(per_second / size)} {prefix}{of}/s"
    return f"{digits(per_second)} {of}/s"


def show_percent(share: float) -> str:
    """A share as a percentage: 46.7%, 0.31%; from 100 on without decimals."""
    return f"{digits(100 * share)}%"
