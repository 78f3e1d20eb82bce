"""A number with its derivation: the formula in symbols, the same with the values put in, and where it comes from.

The last line is arithmetic that anyone can type into a calculator; a test does, and holds it to the function's value.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True)
class Term:
    """One labelled part of a sum, with its values put in."""

    label: str
    expression: str
    value: float
    unit: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Working:
    """A headline number: ``value`` is what the formula's function returned, ``terms`` how a person gets there."""

    name: str
    formula: str
    terms: tuple[Term, ...]
    value: float
    unit: str
    assumptions: tuple[str, ...] = ()
    source: str = ""

    @property
    def substitution(self) -> str:
        """The formula with every value put in: the terms' expressions, added up."""
        return " + ".join(term.expression for term in self.terms)

    @property
    def lines(self) -> tuple[str, str, str]:
        """Formula, values put in, result."""
        return self.formula, f"= {self.substitution}", f"= {number(self.value)} {self.unit}"


_FLOAT_NOISE = 1e-14  # of the value: a few steps of a double; 41,943,040.00000001 adapters are 41,943,040

_MEANT_DIGITS = 12  # nobody states more: 9.999999999999999e-06 was 1e-05 before a product


def number(value: ArrayLike) -> str:
    """A number as it stands in a derivation: every digit that means something, thousands grouped."""
    x = float(np.asarray(value, dtype=np.float64))
    nearest = round(x)
    if abs(x - nearest) <= _FLOAT_NOISE * abs(x) and abs(x) < 2**53:  # whole
        return f"{nearest:,}"
    short = float(f"{x:.{_MEANT_DIGITS}g}")
    return f"{short if abs(x - short) <= _FLOAT_NOISE * abs(x) else x:,}"


def product(*factors: ArrayLike) -> str:
    """Factors joined by a multiplication sign; strings stand as they are, so a group can bring its own brackets."""
    return " × ".join(factor if isinstance(factor, str) else number(factor) for factor in factors)


def scalar(name: str, value: ArrayLike) -> float:
    """The one number a derivation is about; a sweep has many, and is refused."""
    array = np.asarray(value, dtype=np.float64)
    if array.size != 1:
        raise ValueError(f"{name} has {array.size} values; a derivation shows one, so pick one row of the sweep")
    return float(array.reshape(()))
