"""What formulas take of a run of our benchmark: a document ``microbench/1``, or a part of it, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Entry = Mapping[str, Any]  # a result, or one of its measurements; validated before it gets here


def median_s(measurement: Entry) -> float:
    """The median of a measurement's samples. [s]"""
    return float(measurement["time"]["median_s"])
