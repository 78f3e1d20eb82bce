"""A run of our own benchmark as rows to read: the table beside each picture, and every measurement as columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from core.display import digits, show_bytes, show_percent, show_rate, show_seconds
from core.layer_memory import JudgedMemory
from core.layer_prediction import Judged, Score
from core.measured_collectives import Fit
from core.measured_curves import Curves
from core.measured_profile import Profile
from core.measured_roofline import Placed
from core.own_entry import Entry
from core.own_views import AttentionPair, Bandwidth, HostRow, LaunchView
from core.prediction_error import Errors

Row = dict[str, str]
_NAMED_KERNELS = 2
_SMALLEST = 1e-4  # the last digit that is shown of an error
MODE_WORDS = {"graph": "from a graph", "eager": "one by one"}


def roofline_rows(placed: Placed) -> list[Row]:
    """Each measured product."""
    sheet = placed.reached.datasheet_flops_per_s
    rows = []
    for at, label in enumerate(placed.labels):
        for column in np.flatnonzero(~placed.outside[at]):
            rate = float(placed.flops_per_s[at, column])
            row = {
                "weights": label,
                "rows": f"{placed.rows[at, column]:,.0f}",
                "FLOP/byte": digits(float(placed.intensity[at, column])),
                "reached": show_rate(rate, "FLOP"),
            }
            rows.append(row | ({} if sheet is None else {"of the datasheet": show_percent(rate / sheet)}))
    return rows


def bandwidth_rows(found: Bandwidth) -> list[Row]:
    """One row a size and direction."""
    sheet = found.datasheet_bytes_per_s
    return [
        {
            "what": curve.name,
            "buffer": show_bytes(float(x)),
            "median": show_rate(float(rate), "B"),
            "p10 to p90": f"{show_rate(float(low), 'B')} to {show_rate(float(high), 'B')}",
        }
        | ({} if sheet is None else {"of the datasheet": show_percent(float(rate) / sheet)})
        for curve in found.curves
        for x, rate, low, high in zip(curve.x, curve.median, curve.low, curve.high, strict=True)
    ]


def attention_rows(pair: AttentionPair, unit: str) -> list[Row]:
    """One row a length: both times, both peaks."""
    lengths = np.unique(np.concatenate([curve.x for curve in pair.seconds.values()]))
    rows = []
    for length in lengths:
        row = {"tokens": f"{length:,.0f}"}
        for name, curve in pair.seconds.items():
            here = np.flatnonzero(curve.x == length)
            row[name] = show_seconds(float(curve.median[here[0]])) if here.size else "not measured"
        for name, (x, peaks) in pair.peak_bytes.items():
            here = np.flatnonzero(x == length)
            row[f"{name}, peak memory"] = show_bytes(float(peaks[here[0]]), unit) if here.size else "not measured"
        rows.append(row)
    return rows


def launch_rows(view: LaunchView) -> list[Row]:
    """Each kernel against a launch, then each decode step in both modes."""
    rows = []
    for kernel in view.kernels:
        times = "" if view.eager_s is None else digits(kernel.seconds / view.eager_s, 2)
        rows.append({"kernel": kernel.name, "takes": show_seconds(kernel.seconds), "in launches": times})
    return rows


def step_rows(view: LaunchView) -> list[Row]:
    """Decode steps of one layer launched one by one, and from a graph."""
    return [
        {
            "step of one layer": name,
            "launched one by one": show_seconds(eager),
            "from a graph": show_seconds(graph),
            "gain": f"{digits(eager / graph, 2)} x",
        }
        for name, eager, graph in view.steps
    ]


def host_table(rows: Sequence[HostRow]) -> list[Row]:
    """Transfers between host and device: one row a size, a column for each direction and kind of host memory."""
    ways = dict.fromkeys((row.direction, row.pinned) for row in rows)
    cells = {(row.num_bytes, row.direction, row.pinned): row for row in rows}
    return [
        {"size": show_bytes(size)}
        | {
            f"{direction.replace('_', ' ')}, {'pinned' if pinned else 'pageable'}": _transfer(
                cells.get((size, direction, pinned))
            )
            for direction, pinned in ways
        }
        for size in sorted({row.num_bytes for row in rows})
    ]


def _transfer(row: HostRow | None) -> str:
    return "not measured" if row is None else f"{show_seconds(row.seconds)}, {show_rate(row.bytes_per_s, 'B')}"


def curve_rows(curves: Curves, name: str) -> list[Row]:
    """Measured cells of each curve; where a shape was not measured as it stands, the ends of the curve."""
    rows = []
    for curve in curves.curves:
        points = list(zip(curve.points_x, curve.points_s, strict=True))
        read = not points
        if read:
            places = np.unique(np.linspace(0, curve.x.size - 1, 8).astype(int))
            points = [(curve.x[at], curve.seconds[at]) for at in places]
        for x, seconds in points:
            floor = float(np.interp(x, curves.floor_x, curves.floor_s))
            row = {"system": curve.name, name: f"{x:,.0f}", "takes": show_seconds(float(seconds))}
            known = np.isfinite(floor)
            row["datasheet's floor"] = (
                f"{show_seconds(floor)} ({show_percent(floor / seconds)})" if known else "unknown"
            )
            row["how"] = "read between others" if read else "measured"
            rows.append(row)
    return rows


def fit_rows(op: str, fits: Sequence[Fit]) -> list[Row]:
    """A collective's start and rate."""
    return [
        {
            "collective": op.replace("_", "-"),
            "system": fit.name,
            "latency": show_seconds(fit.latency_s),
            "each GPU sends": show_rate(fit.bus_bytes_per_s, "B"),
            "link, one way": "unknown" if fit.link_bytes_per_s is None else show_rate(fit.link_bytes_per_s, "B"),
            "worst miss": show_percent(fit.worst),
        }
        for fit in fits
    ]


def table_ends(profile: Profile) -> list[Row]:
    """What each kind of table of a profile covers."""
    rows = [
        {
            "kind": f"products in {dtype}" if role == "forward" else f"products in {dtype}, {role.replace('_', ' ')}",
            "sizes": f"{_span(one.table.m)} rows; weights {_span(one.table.n)} x {_span(one.table.k)}",
            "kernels": one.table.kernel,
        }
        for (dtype, role), one in profile.products.items()
    ]
    for phase in dict.fromkeys(one.table.phase for one in profile.attention):
        tables = [one.table for one in profile.attention if one.table.phase == phase]
        batches, tokens = ({size for table in tables for size in getattr(table, name)} for name in ("batch", "tokens"))
        shapes = {(table.heads, table.kv_heads, table.head_dim) for table in tables}
        formats = ", ".join(dict.fromkeys(table.kv_dtype for table in tables))
        sizes = f"batch {_span(batches)}; {_span(tokens)} tokens; splits of heads: {len(shapes)}; cache in {formats}"
        rows.append({"kind": f"{phase} attention", "sizes": sizes, "kernels": _kernels(t.kernel for t in tables)})
    if profile.file.experts:
        tokens = {size for table in profile.file.experts for size in table.tokens}
        shapes_of_experts = {(shape.num_experts, shape.top_k, shape.hidden_size) for shape in profile.experts}
        sizes = f"{_span(tokens)} tokens; kinds of experts: {len(shapes_of_experts)}"
        rows.append(
            {"kind": "routed experts", "sizes": sizes, "kernels": _kernels(t.kernel for t in profile.file.experts)}
        )
    for op in dict.fromkeys(op for op, _ in profile.messages):
        mine = {ranks: one.row.num_bytes for (name, ranks), one in profile.messages.items() if name == op}
        sizes = "; ".join(f"{ranks} GPUs: {show_bytes(b[0])} to {show_bytes(b[-1])}" for ranks, b in mine.items())
        rows.append({"kind": op.replace("_", "-"), "sizes": sizes, "kernels": ""})
    if profile.file.vectors:
        ops = ", ".join(dict.fromkeys(row.op for row in profile.file.vectors))
        moved = {size for row in profile.file.vectors for size in row.num_bytes}
        rows.append(
            {
                "kind": "kernels between",
                "sizes": f"{ops}; {show_bytes(min(moved))} to {show_bytes(max(moved))}",
                "kernels": "PyTorch",
            }
        )
    return rows


def _span(sizes: Collection[int]) -> str:
    low, high = min(sizes), max(sizes)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _kernels(names: Iterable[str]) -> str:
    found = tuple(dict.fromkeys(names))
    return ", ".join(found) if len(found) <= _NAMED_KERNELS else f"{len(found)} kernels, one a kind"


def score_rows(scores: Sequence[Score]) -> list[Row]:
    """Errors by phase."""
    return [
        {
            "phase": score.phase,
            "launched": MODE_WORDS[score.mode],
            "steps": f"{score.count:,}",
            "median error": show_percent(score.median),
            "90th percentile": show_percent(score.p90),
            "worst": show_percent(score.worst),
            "tends to": f"{score.bias:+.1%}",
        }
        for score in scores
    ]


def judged_rows(judged: Sequence[Judged]) -> list[Row]:
    """Each step beside its prediction."""
    return [
        {
            "phase": one.phase,
            "model": one.model,
            "batch": f"{one.batch:,}",
            "tokens": f"{one.seq_len:,}",
            "launched": MODE_WORDS[one.mode],
            "measured": show_seconds(one.measured_s),
            "predicted": show_seconds(one.predicted_s),
            "error": f"{one.error:+.1%}",
            "read": "between measured cells" if one.inside else "continued beyond them",
        }
        for one in judged
    ]


def memory_score_row(score: Errors) -> Row:
    """Errors of the peaks, as a row below those of the times."""
    return {
        "phase": "training, peak memory",
        "launched": MODE_WORDS["eager"],
        "steps": f"{score.count:,}",
        "median error": _small(score.median),
        "90th percentile": _small(score.p90),
        "worst": _small(score.worst),
        "tends to": _small(score.bias, signed=True),
    }


def memory_rows(judged: Sequence[JudgedMemory], unit: str) -> list[Row]:
    """Each training step's memory beside its prediction."""
    return [
        {
            "model": one.model,
            "batch": f"{one.batch:,}",
            "tokens": f"{one.seq_len:,}",
            "kept, measured": "not measured" if one.kept_bytes is None else show_bytes(one.kept_bytes, unit),
            "kept, predicted": show_bytes(one.predicted.kept_bytes, unit),
            "peak, measured": show_bytes(one.peak_bytes, unit),
            "peak, predicted": show_bytes(one.predicted.peak.total_bytes, unit),
            "error of the peak": _small(one.error, signed=True),
            "peaks in the backward pass of": one.predicted.peak.name,
        }
        for one in judged
    ]


def _several(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _small(share: float, *, signed: bool = False) -> str:
    """An error that may be far below a percent."""
    if abs(share) < _SMALLEST / 2:
        return f"under {_SMALLEST:.2%}"
    return f"{share:+.2%}" if signed else f"{share:.2%}"


def measurement_columns(result: Entry) -> dict[str, list[object]]:
    """Every measurement as columns, settings and times, for a CSV."""
    rows = [
        {name: value for name, value in one.items() if name != "time"} | dict(one["time"])
        for one in result["measurements"]
    ]
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name, "") for row in rows] for name in names}


def fact_rows(result: Entry) -> list[Row]:
    """What a result says of itself."""
    system, run = result["system"], result["run"]
    versions = ", ".join(
        f"{name} {system[name]}" for name in ("torch", "cuda", "rocm", "nccl", "driver") if system[name]
    )
    facts = {
        "device": f"{system['name']}, {show_bytes(system['memory_bytes'])} of memory",
        "when": f"{run['started']:%Y-%m-%d %H:%M} UTC, {show_seconds(run['seconds'])}",
        "status": result["status"] if result["stopped"] is None else f"{result['status']}: {result['stopped']}",
        "command": run["command"],
        "versions": f"{versions}, Python {system['python']}",
        "host": f"{system['os']}, {system['machine']}, {_several(system['cpu_count'], 'CPU')}, "
        f"{_several(system['cpu_threads'], 'thread')}",
        "code": f"{run['commit'] or 'commit unknown'}, checksum {run['code_sha256'][:12]}",
        "measured": f"{_several(len(result['measurements']), 'point')}, {len(result['skipped']):,} skipped",
    }
    return [{"of the run": name, "is": value} for name, value in facts.items()]


def skipped_rows(result: Entry) -> list[Row]:
    """What was not measured, each reason once for an item."""
    found: dict[tuple[str, str], int] = {}
    for one in result["skipped"]:
        found[one["item"], one["reason"]] = found.get((one["item"], one["reason"]), 0) + 1
    return [
        {"item": item, "points": f"{count}", "why it was not measured": reason}
        for (item, reason), count in found.items()
    ]
