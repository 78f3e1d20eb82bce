"""How well predictions hold, from the relative error of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True)
class Errors:
    """Sizes of errors, and which way they lean. [-]"""

    count: int
    median: float  # of the errors' sizes
    p90: float
    worst: float
    bias: float  # median of the errors themselves: below zero where predictions are too low


def errors_of(errors: ArrayLike) -> Errors | None:
    """The errors put together; None where there is none.

    Args:
        errors: prediction over measurement, less one. Shape (predictions,). [-]
    """
    values = np.asarray(errors, dtype=np.float64)
    if not values.size:
        return None
    size = np.abs(values)
    middle, far = (float(np.quantile(size, share)) for share in (0.5, 0.9))
    return Errors(values.size, middle, far, float(size.max()), float(np.median(values)))
