"""Refuse a bad number in words: the field, the value, the rule. Every check takes scalars and arrays alike."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def numbers(name: str, value: ArrayLike) -> Floats:
    """The value as float64, if all of it is finite numbers."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name}={value!r} is not a number") from None
    _refuse(name, array, ~np.isfinite(array), "must be a finite number")
    return array


def positive(name: str, value: ArrayLike) -> Floats:
    """Finite and greater than zero."""
    array = numbers(name, value)
    _refuse(name, array, array <= 0, "must be greater than 0")
    return array


def not_negative(name: str, value: ArrayLike) -> Floats:
    """Finite, zero or greater."""
    array = numbers(name, value)
    _refuse(name, array, array < 0, "must be 0 or greater")
    return array


def whole(name: str, value: ArrayLike, *, low: int = 1, high: int | None = None) -> Floats:
    """Whole numbers from ``low`` to ``high``, both included."""
    array = numbers(name, value)
    rule = (
        f"must be a whole number from {low} to {high}" if high is not None else f"must be a whole number, {low} or more"
    )
    outside = (array < low) | (array != np.floor(array))
    _refuse(name, array, outside if high is None else outside | (array > high), rule)
    return array


def share(name: str, value: ArrayLike) -> Floats:
    """From 0 to 1, both included."""
    array = numbers(name, value)
    _refuse(name, array, (array < 0) | (array > 1), "must be a share from 0 to 1")
    return array


def one_of(name: str, value: str, choices: Collection[str]) -> str:
    """One of the named choices."""
    if value not in choices:
        raise ValueError(f"{name}={value!r} is not known; choose one of {sorted(choices)}")
    return value


def divides(name: str, divisor: ArrayLike, of_name: str, of_value: ArrayLike) -> None:
    """Each divisor leaves no remainder; the message lists the divisors that would serve."""
    parts, whole_value = np.broadcast_arrays(whole(name, divisor), whole(of_name, of_value))
    bad = np.argwhere(np.atleast_1d(whole_value % parts != 0))
    if len(bad):
        part, of = (int(np.atleast_1d(a)[tuple(bad[0])]) for a in (parts, whole_value))
        serve = [n for n in range(1, min(of, 1024) + 1) if of % n == 0]
        raise ValueError(f"{name}={part} does not divide {of_name}={of}; choose one of {serve}")


def _refuse(name: str, array: Floats, bad: NDArray[np.bool_] | np.bool_, rule: str) -> None:
    if np.any(bad):
        raise ValueError(f"{name}={_show(array[np.asarray(bad)].flat[0])} {rule}")


def _show(value: Any) -> str:
    return f"{float(value):.12g}"
