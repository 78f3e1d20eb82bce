"""Lines, words and dots that the browser lays over a live figure.

Plotly draws everything that it holds again at each position of the slider. What is named here it need not hold, so a
figure whose slider moves only dots and words is drawn once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from core.charts.theme import ROLES
from core.checks import Floats

SIDES: Final = ("top left", "top right", "bottom left", "bottom right")


@dataclass(frozen=True, slots=True)
class Limit:
    """A dashed line across the picture, with its name at its end. It stands still while the slider moves."""

    at: float
    """Where it crosses its axis, in the axis's own unit."""
    name: str
    """What it is, with its value: ``85.5 GB of HBM``."""
    axis: Literal["x", "y"] = "x"
    """The axis it crosses: a line across x stands upright, its name on top; a level one has it at its left end."""
    role: Literal["limit", "muted"] = "limit"
    """``muted`` for a line that bounds nothing."""

    def check(self) -> None:
        """Refuse a place that is none."""
        if not np.isfinite(self.at):
            raise ValueError(f"limit {self.name!r} stands at {self.at}, which is not finite")

    def payload(self) -> dict[str, Any]:
        """As JSON values."""
        return {"at": float(self.at), "name": self.name, "axis": self.axis, "role": self.role}


@dataclass(frozen=True, slots=True, eq=False)
class RowLabels:
    """Words at the right of each row of a chart whose y axis carries names; the margin there grows to hold them."""

    texts: Sequence[Sequence[str]]
    """(positions, rows), rows in the order of the axis."""
    cut: NDArray[np.bool_] | None = None
    """(positions, rows): whether the bar goes on past the end of the axis. It gets a break mark there."""
    bold: int | None = None
    """The row that is chosen, or that binds."""

    def check(self, count: int) -> None:
        """Refuse words that do not fit the slider's positions, or each other."""
        if len(self.texts) != count:
            raise ValueError(f"row labels have {len(self.texts)} rows for {count} slider positions")
        rows = len(self.texts[0])
        for row in self.texts:
            check_rows("row labels at a position", row, rows, of="rows of the picture")
        if self.cut is not None and np.shape(self.cut) != (count, rows):
            raise ValueError(f"row labels: cut has shape {np.shape(self.cut)}, not {(count, rows)} as the texts")
        if self.bold is not None and not 0 <= self.bold < rows:
            raise ValueError(f"row labels: bold is {self.bold}, outside the {rows} rows")

    def payload(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "texts": [list(row) for row in self.texts],
            "cut": None if self.cut is None else np.asarray(self.cut, dtype=int).tolist(),
            "bold": self.bold,
        }


@dataclass(frozen=True, slots=True, eq=False)
class PointLabels:
    """Words beside points that move with the slider; each array is (positions, labels). An empty text is not shown."""

    texts: Sequence[Sequence[str]]
    x: Floats
    """Where the point stands, in the axes' own units."""
    y: Floats
    sides: Sequence[Sequence[str]]
    """Which side of the point: one of ``SIDES``."""
    away: Floats
    """How far from the point, so as to be clear of its marker. [pixels]"""

    def check(self, count: int) -> None:
        """Refuse arrays that do not fit the slider's positions, or each other."""
        shape = (count, len(self.texts[0]) if self.texts else 0)
        for name in ("texts", "x", "y", "sides", "away"):
            if np.shape(getattr(self, name)) != shape:
                raise ValueError(f"point labels: {name} has shape {np.shape(getattr(self, name))}, not {shape}")
        for side in {side for row in self.sides for side in row} - set(SIDES):
            raise ValueError(f"point labels: the side {side!r} is not known; choose one of {list(SIDES)}")
        if not all(np.isfinite(values).all() for values in (self.x, self.y, self.away)):
            raise ValueError("point labels stand at a point that is not finite")

    def payload(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "texts": [list(row) for row in self.texts],
            "x": _four_digits(self.x),
            "y": _four_digits(self.y),
            "sides": [list(row) for row in self.sides],
            "away": np.round(self.away).astype(int).tolist(),
        }


@dataclass(frozen=True, slots=True, eq=False)
class Dots:
    """Where the slider stands on lines that do not move; both arrays are (positions, dots)."""

    x: Floats
    """In the axes' own units."""
    y: Floats
    roles: Sequence[str]
    """One a dot: what gives it its colour."""

    def check(self, count: int) -> None:
        """Refuse arrays that do not fit the slider's positions, or each other."""
        shape = (count, len(self.roles))
        for name in ("x", "y"):
            values = np.asarray(getattr(self, name))
            if values.shape != shape:
                raise ValueError(f"dots: {name} has shape {values.shape}, not {shape}")
            if not np.isfinite(values).all():
                raise ValueError(f"dots: {name} is not finite")
        for role in self.roles:
            if role not in ROLES:
                raise ValueError(f"a dot has the role {role!r}; choose one of {list(ROLES)}")

    def payload(self) -> dict[str, Any]:
        """As JSON values."""
        return {"x": _four_digits(self.x), "y": _four_digits(self.y), "roles": list(self.roles)}


def check_rows(what: str, rows: Sequence[str], count: int, of: str = "slider positions") -> None:
    """Refuse anything but so many strings."""
    if isinstance(rows, str) or not all(isinstance(row, str) for row in rows):
        raise ValueError(f"{what} must be a sequence of strings, one for each of the {of}")
    if len(rows) != count:
        raise ValueError(f"{what} has {len(rows)} rows for {count} {of}")


def _four_digits(values: Floats) -> list[list[float]]:
    """Enough for a place on the screen."""
    return [[float(f"{value:.4g}") for value in row] for row in np.asarray(values).tolist()]
