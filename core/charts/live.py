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

Plotly draws every trace again at each position. So stacked bars are one trace, whose points name their part
(``{"roles": [...], "parts": [...]}``); and lines, words and dots that need no Plotly lie over the picture
(:mod:`core.charts.over_picture`). A figure without tables is drawn once.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from core.charts.over_picture import Dots, Limit, PointLabels, RowLabels, check_rows
from core.charts.theme import ROLES

DEFAULT_HEIGHT: Final = 320  # pixels; a figure's own layout.height wins
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
    """``x``, ``y``, or a path such as ``marker.size``."""
    values: NDArray[Any] | Sequence[Sequence[float]]
    """(positions, points), numbers. They travel as float32."""


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
    dots: Dots | None = None

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
        check_rows("alt", self.alt, self.count)
        for readout in self.readouts:
            check_rows(f"readout {readout.label!r}: values", readout.values, self.count)
            if readout.notes is not None:
                check_rows(f"readout {readout.label!r}: notes", readout.notes, self.count)
        for limit in self.limits:
            limit.check()
        for laid in (self.labels, self.point_labels, self.dots):
            if laid is not None:
                laid.check(self.count)

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
            "limits": [limit.payload() for limit in self.limits],
            "labels": self.labels and self.labels.payload(),
            "points": self.point_labels and self.point_labels.payload(),
            "dots": self.dots and self.dots.payload(),
        }


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
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{where} holds {values.dtype}, not numbers")
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
