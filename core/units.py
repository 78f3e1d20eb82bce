"""The one home of prefixes: decimal for rates, parameters and paper tables, binary for device memory and allocators."""

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

    Raises:
        ValueError: the text is no finite number above zero.
    """
    if not text.strip():
        return None
    value = float(text.replace(",", "")) * unit
    if not 0 < value < float("inf"):
        raise ValueError(f"{text!r} is not a number above zero")
    return round(value) if whole else value
