"""Floating-point formats by their bits: how large, how small and how fine the numbers of each are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from core.checks import positive


@dataclass(frozen=True, slots=True)
class FloatFormat:
    """A sign bit, ``exponent_bits`` and ``mantissa_bits`` stored ones; the leading 1 of a normal number is implied.

    ``specials`` says what the topmost exponent holds beside numbers: "ieee" infinities and NaNs alone, "nan" a NaN in
    its last code and numbers in the others (E4M3), "none" numbers alone (E2M1).
    """

    name: str
    exponent_bits: int
    mantissa_bits: int
    specials: Literal["ieee", "nan", "none"] = "ieee"
    source: str = "IEEE 754-2019, section 3"

    @property
    def bias(self) -> int:
        """What is subtracted from the stored exponent."""
        return int(2 ** (self.exponent_bits - 1) - 1)

    @property
    def largest(self) -> float:
        """The largest finite number."""
        if self.specials == "ieee":  # all ones of the mantissa, one exponent below the topmost
            return float((2 - 2.0**-self.mantissa_bits) * 2.0**self.bias)
        unused = 1 if self.specials == "nan" else 0  # codes at the very top
        return float((2 - (1 + unused) * 2.0**-self.mantissa_bits) * 2.0 ** (self.bias + 1))

    @property
    def smallest_normal(self) -> float:
        """The smallest number with all its mantissa bits; below it precision is lost bit by bit."""
        return float(2.0 ** (1 - self.bias))

    @property
    def smallest(self) -> float:
        """The smallest number above zero, a subnormal with one bit left; half of it rounds to zero."""
        return float(self.smallest_normal * 2.0**-self.mantissa_bits)

    def spacing(self, value: float) -> float:
        """The distance from a positive number, or the one below it, to the next larger one."""
        exponent = math.floor(math.log2(float(positive("value", value))))
        return float(max(2.0 ** (exponent - self.mantissa_bits), self.smallest))


_FP8 = "Micikevicius et al. 2022, arXiv:2209.05433, table 1"

FLOAT_FORMATS: dict[str, FloatFormat] = {
    row.name: row
    for row in (
        FloatFormat("fp32", 8, 23),
        FloatFormat("bf16", 8, 7, source="Kalamkar et al. 2019, arXiv:1905.12322, section 2"),
        FloatFormat("fp16", 5, 10),
        FloatFormat("e5m2", 5, 2, source=_FP8),
        FloatFormat("e4m3", 4, 3, "nan", source=_FP8),
        FloatFormat("e2m1", 2, 1, "none", source="OCP Microscaling Formats (MX) Specification 1.0, section 5.3.3"),
    )
}
