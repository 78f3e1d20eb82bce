"""Measurements as a Markdown table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One quantity of the app and of its baseline; a target bounds their ratio."""

    what: str
    unit: str
    app: float
    baseline: float
    at_most: float | None = None
    at_least: float | None = None

    @property
    def ratio(self) -> float:
        return self.app / self.baseline

    @property
    def reached(self) -> bool:
        too_high = self.at_most is not None and self.ratio > self.at_most
        too_low = self.at_least is not None and self.ratio < self.at_least
        return not (too_high or too_low)

    @property
    def target(self) -> str:
        if self.at_most is not None:
            return f"at most {self.at_most:g}x"
        return "" if self.at_least is None else f"at least {self.at_least:g}x"

    @property
    def verdict(self) -> str:
        if not self.target:
            return ""
        return "reached" if self.reached else "MISSED"


def table(rows: Sequence[Row]) -> str:
    lines = ["| measured | app | baseline | ratio | target | |", "| --- | ---: | ---: | ---: | --- | --- |"]
    for row in rows:
        app, baseline = (f"{value:.3g} {row.unit}".rstrip() for value in (row.app, row.baseline))
        lines.append(f"| {row.what} | {app} | {baseline} | {row.ratio:.2f}x | {row.target} | {row.verdict} |")
    return "\n".join(lines)
