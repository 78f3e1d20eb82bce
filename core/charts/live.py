"""A figure that follows a slider, described without Streamlit: one figure, and a table row for every position.

The formula is evaluated once over the slider's whole range (an array axis). The browser receives the tables
and picks row ``i`` while the hand moves; nothing is computed there. A trace names its role in ``meta``
(``{"role": "weights"}``), and the theme that is showing decides the colour.

    LiveFigure(
        figure,                                                  # traces as they stand at any one position
        (TraceTable(0, "x", weight_gb), ...),                    # (positions, points)
        LiveSlider("GPUs", ["1 GPU", "2 GPUs", ...], index=6),
        (Readout("stage 3 leaves, per GPU", ["1,129 GB", ...]),),
        alt=["With 1 GPU no stage fits ...", ...],
        limits=(Limit(85.5, "85.5 GB of HBM"),),
    )

Plotly draws every trace, shape and annotation again at each position. So stacked bars are one trace, whose points name
their part (``{"roles": [...], "parts": [...]}``), and ``Limit``, ``RowLabels`` and ``PointLabels`` are words and lines
that the browser lays over the picture.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from core.charts.theme import ROLES

DEFAULT_HEIGHT: Final = 320  # pixels; a figure's own layout.height wins
SIDES: Final = ("top left", "top right", "bottom left", "bottom right")
_ATTRIBUTE: Final = re.compile(r"[a-z]\w*(\.[a-z]\w*)*")


class PlotlyFigure(Protocol):
    """A plotly.graph_objects.Figure, by the one method that is used."""

    def to_plotly_json(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True, eq=False)
class TraceTable:
    """Values of one trace attribute, one row per slider position."""

    trace: int
    """Index of the trace in the figure."""
    attribute: str
    """``x``, ``y``, ``text``, or a path such as ``marker.size``."""
    values: NDArray[Any] | Sequence[Sequence[float]] | Sequence[Sequence[str]]
    """(positions, points). Numbers travel as float32; strings as they are."""


@dataclass(frozen=True, slots=True)
class LiveSlider:
    """The slider inside the chart."""

    label: str
    positions: Sequence[str]
    """What each position reads, with its unit: ``64 GPUs``. Also what a screen reader says."""
    index: int = 0
    """Where it starts. A later run with another index moves it there."""
    help: str | None = None


@dataclass(frozen=True, slots=True)
class Readout:
    """A large number beside the picture that follows the slider."""

    label: str
    values: Sequence[str]
    """One per position, with unit and two or three digits that mean something."""
    notes: Sequence[str] | None = None
    """One per position: what it means or how far it is from the pinned baseline, in words."""
    emphasis: bool = False
    """The number that binds."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A dashed line across the picture, with its name at its end. It stands still while the slider moves."""

    at: float
    """Where it crosses its axis, in the axis's own unit."""
    name: str
    """What it is, with its value: ``85.5 GB of HBM``."""
    axis: Literal["x", "y"] = "x"
    """The axis it crosses: a line across x stands upright."""


@dataclass(frozen=True, slots=True, eq=False)
class RowLabels:
    """Words at the right of each row of a chart whose y axis carries names; the margin there grows to hold them."""

    texts: Sequence[Sequence[str]]
    """(positions, rows), rows in the order of the axis."""
    cut: NDArray[np.bool_] | None = None
    """(positions, rows): whether the bar goes on past the end of the axis. It gets a break mark there."""
    bold: int | None = None
    """The row that is chosen, or that binds."""


@dataclass(frozen=True, slots=True, eq=False)
class PointLabels:
    """Words beside points that move with the slider; each array is (positions, labels). An empty text is not shown."""

    texts: Sequence[Sequence[str]]
    x: NDArray[np.float64]
    """Where the point stands, in the axes' own units."""
    y: NDArray[np.float64]
    sides: Sequence[Sequence[str]]
    """Which side of the point: one of ``SIDES``."""
    away: NDArray[np.float64]
    """How far from the point, so as to be clear of its marker. [pixels]"""


@dataclass(frozen=True, slots=True, eq=False)
class LiveFigure:
    """Everything the live chart draws. Checked when made, so a wrong shape names itself on the server."""

    figure: PlotlyFigure | Mapping[str, Any]
    frames: tuple[TraceTable, ...] = ()
    slider: LiveSlider | None = None
    readouts: tuple[Readout, ...] = ()
    alt: Sequence[str] = ()
    """The takeaway of each position in a sentence, read in place of the picture."""
    limits: tuple[Limit, ...] = ()
    labels: RowLabels | None = None
    point_labels: PointLabels | None = None

    @property
    def count(self) -> int:
        """Number of positions; one if there is no slider."""
        return len(self.slider.positions) if self.slider else 1

    def __post_init__(self) -> None:
        if self.slider is not None:
            if not self.slider.positions:
                raise ValueError(f"slider {self.slider.label!r} has no positions")
            if not 0 <= self.slider.index < self.count:
                raise ValueError(
                    f"slider {self.slider.label!r}: index {self.slider.index} is outside its {self.count} positions"
                )
        _check_rows("alt", self.alt, self.count)
        for readout in self.readouts:
            _check_rows(f"readout {readout.label!r}: values", readout.values, self.count)
            if readout.notes is not None:
                _check_rows(f"readout {readout.label!r}: notes", readout.notes, self.count)
        for limit in self.limits:
            if not np.isfinite(limit.at):
                raise ValueError(f"limit {limit.name!r} stands at {limit.at}, which is not finite")
        if self.labels is not None:
            _check_labels(self.labels, self.count)
        if self.point_labels is not None:
            _check_point_labels(self.point_labels, self.count)

    def payload(self) -> dict[str, Any]:
        """What the browser needs, as JSON values; number tables are base64 float32, row by row."""
        figure = _plain_figure(self.figure)
        tables = [_table_payload(table, figure["data"], self.count) for table in self.frames]
        return {
            "figure": figure,
            "height": int(figure["layout"].get("height") or DEFAULT_HEIGHT),
            "frames": self.count,
            "tables": tables,
            "signature": hashlib.blake2b(json.dumps(tables).encode(), digest_size=12).hexdigest(),
            "slider": self.slider
            and {"label": self.slider.label, "positions": list(self.slider.positions), "help": self.slider.help},
            "readouts": [
                {
                    "label": readout.label,
                    "values": list(readout.values),
                    "notes": None if readout.notes is None else list(readout.notes),
                    "emphasis": readout.emphasis,
                }
                for readout in self.readouts
            ],
            "alt": list(self.alt),
            "limits": [{"at": float(limit.at), "name": limit.name, "axis": limit.axis} for limit in self.limits],
            "labels": self.labels
            and {
                "texts": [list(row) for row in self.labels.texts],
                "cut": None if self.labels.cut is None else np.asarray(self.labels.cut, dtype=int).tolist(),
                "bold": self.labels.bold,
            },
            "points": self.point_labels
            and {
                "texts": [list(row) for row in self.point_labels.texts],
                "x": _four_digits(self.point_labels.x),
                "y": _four_digits(self.point_labels.y),
                "sides": [list(row) for row in self.point_labels.sides],
                "away": np.round(self.point_labels.away).astype(int).tolist(),
            },
        }


def _check_labels(labels: RowLabels, count: int) -> None:
    if len(labels.texts) != count:
        raise ValueError(f"row labels have {len(labels.texts)} rows for {count} slider positions")
    rows = len(labels.texts[0])
    for row in labels.texts:
        _check_rows("row labels at a position", row, rows, of="rows of the picture")
    if labels.cut is not None and np.shape(labels.cut) != (count, rows):
        raise ValueError(f"row labels: cut has shape {np.shape(labels.cut)}, not {(count, rows)} as the texts")
    if labels.bold is not None and not 0 <= labels.bold < rows:
        raise ValueError(f"row labels: bold is {labels.bold}, outside the {rows} rows")


def _check_point_labels(labels: PointLabels, count: int) -> None:
    shape = (count, len(labels.texts[0]) if labels.texts else 0)
    for name in ("texts", "x", "y", "sides", "away"):
        if np.shape(getattr(labels, name)) != shape:
            raise ValueError(f"point labels: {name} has shape {np.shape(getattr(labels, name))}, not {shape}")
    for side in {side for row in labels.sides for side in row} - set(SIDES):
        raise ValueError(f"point labels: the side {side!r} is not known; choose one of {list(SIDES)}")
    if not all(np.isfinite(values).all() for values in (labels.x, labels.y, labels.away)):
        raise ValueError("point labels stand at a point that is not finite")


def _four_digits(values: NDArray[np.float64]) -> list[list[float]]:
    """Enough for a place on the screen."""
    return [[float(f"{value:.4g}") for value in row] for row in np.asarray(values).tolist()]


def _check_rows(what: str, rows: Sequence[str], count: int, of: str = "slider positions") -> None:
    if isinstance(rows, str) or not all(isinstance(row, str) for row in rows):
        raise ValueError(f"{what} must be a sequence of strings, one for each of the {of}")
    if len(rows) != count:
        raise ValueError(f"{what} has {len(rows)} rows for {count} {of}")


def _plain_figure(figure: PlotlyFigure | Mapping[str, Any]) -> dict[str, Any]:
    """The figure as JSON values, without plotly's template: the browser side sets the page's own look."""
    raw = figure if isinstance(figure, Mapping) else figure.to_plotly_json()
    layout = {key: value for key, value in dict(raw.get("layout") or {}).items() if key != "template"}
    data = [_plain(trace, f"trace {index}") for index, trace in enumerate(raw.get("data") or ())]
    for index, trace in enumerate(data):
        _check_role(trace, index)
    return {"data": data, "layout": _plain(layout, "layout")}


def _check_role(trace: dict[str, Any], index: int) -> None:
    meta = trace.get("meta")
    if not isinstance(meta, dict):
        return
    named = meta.get("roles", ()) if meta.get("role") is None else [meta["role"]]
    if "parts" in meta and len(meta["parts"]) != len(named):
        raise ValueError(f"trace {index} names {len(meta['parts'])} parts for {len(named)} roles; one for each point")
    for role in named:
        if role not in ROLES:
            raise ValueError(f"trace {index} has the role {role!r}; choose one of {list(ROLES)}")


def _plain(value: Any, where: str) -> Any:
    """Arrays and NumPy scalars as lists and numbers; a number that JSON cannot carry is refused by name."""
    if isinstance(value, Mapping) and "bdata" in value:  # how a plotly Figure writes an array
        flat = np.frombuffer(base64.b64decode(value["bdata"]), value["dtype"])
        value = flat.reshape([int(side) for side in str(value.get("shape", flat.size)).split(",")])
    if isinstance(value, Mapping):
        return {str(key): _plain(inner, f"{where}: {key}") for key, inner in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(inner, where) for inner in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        raise ValueError(f"{where} holds a number that is not finite; leave the point out")
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise ValueError(f"{where} holds a {type(value).__name__}, which JSON cannot carry")


def _table_payload(table: TraceTable, traces: list[dict[str, Any]], count: int) -> dict[str, Any]:
    where = f"table of trace {table.trace}, {table.attribute!r}"
    if not 0 <= table.trace < len(traces):
        raise ValueError(f"{where}: the figure has {len(traces)} traces")
    if not _ATTRIBUTE.fullmatch(table.attribute):
        raise ValueError(f"{where}: not an attribute path such as 'y' or 'marker.size'")
    try:
        values = np.asarray(table.values)
    except ValueError:  # ragged rows
        raise ValueError(f"{where}: rows have different lengths") from None
    if values.ndim != 2:
        raise ValueError(f"{where}: shape {values.shape} is not (positions, points)")
    rows, points = values.shape
    if rows != count:
        raise ValueError(f"{where} has {rows} rows for {count} slider positions")
    _check_points(table, traces[table.trace], points, where)
    head = {"trace": table.trace, "path": table.attribute.split("."), "points": points}
    if values.dtype.kind in "UO":
        if not all(isinstance(cell, str) for row in values.tolist() for cell in row):
            raise ValueError(f"{where} mixes text and numbers")
        return {**head, "text": values.tolist()}
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{where} holds {values.dtype}, neither numbers nor text")
    with np.errstate(over="ignore"):  # reported just below
        numbers = np.ascontiguousarray(values, dtype="<f4")
    if not np.isfinite(numbers).all():
        row, point = np.argwhere(~np.isfinite(numbers))[0]
        raise ValueError(f"{where} is not finite at position {row}, point {point}: {values[row, point]}")
    return {**head, "float32": base64.b64encode(numbers.tobytes()).decode("ascii")}


def _check_points(table: TraceTable, trace: dict[str, Any], points: int, where: str) -> None:
    """The other coordinate, when it stands still, must have as many points."""
    other = {"x": "y", "y": "x"}.get(table.attribute)
    fixed = trace.get(other) if other else None
    if isinstance(fixed, list) and len(fixed) != points:
        raise ValueError(f"{where} has {points} points, but {other!r} of that trace has {len(fixed)}")
