"""Traces, and what HolisticTraceAnalysis (Meta, MIT) said of each when ``tests/recording/hta.py`` asked it."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.trace.examples import examples
from tests.trace.build import Event, as_bytes, recording

RESULTS = Path(__file__).parents[1] / "data/hta_splits.json"

# The tool 0.5.0 keeps row numbers in a column as narrow as the correlations, which pandas 3 refuses to widen. So these
# count on from a number that needs as many bits as a row.
FIRST_LAUNCH = 1000


@dataclass(frozen=True)
class Independent:
    """What the tool says of one rank, in seconds."""

    whole_s: float
    compute_s: float
    idle_s: float
    non_compute_s: float
    overlap: float | None  # share of the communication that compute hides; None without communication
    host_wait_s: float  # on all streams, each on its own
    other_wait_s: float
    launch_calls_s: float  # sums over launches
    launch_delays_s: float
    launches: int


def of_seed(seed: int) -> bytes:
    """Whole microseconds, one to four steps."""
    return as_bytes(recording(seed, steps=1 + seed % 4, layers=5 + 5 * seed, first_launch=FIRST_LAUNCH))


def with_nanoseconds(seed: int) -> bytes:
    """Fractions of a microsecond, as the profiler has written them since 2024."""
    draw, events = random.Random(seed), recording(seed, first_launch=FIRST_LAUNCH)
    return as_bytes([event | {"dur": event["dur"] + draw.randrange(1000) / 1000} for event in events])


def on_one_stream(seed: int) -> bytes:
    """Where there is one stream, its gaps are the GPU's, and the tool's causes are comparable."""
    events: list[Event] = recording(seed, first_launch=FIRST_LAUNCH)
    assert len({event["args"].get("stream", 7) for event in events}) > 1
    return as_bytes([event for event in events if event["args"].get("stream", 7) == 7])


GENERATED = {f"seed {seed}": of_seed(seed) for seed in range(8)}
FINE = {f"nanoseconds, seed {seed}": with_nanoseconds(seed) for seed in range(4)}
ONE_STREAM = {f"one stream, seed {seed}": on_one_stream(seed) for seed in range(8)}
SHIPPED = {path.name: path.read_bytes() for example in examples().values() for path in example.paths}
TRACES = {**GENERATED, **FINE, **ONE_STREAM, **SHIPPED}


def checksum(content: bytes) -> str:
    """Of the file as it lies on a disk; it tells a changed generator from a changed reader."""
    return hashlib.sha256(content).hexdigest()


def written(about: Mapping[str, str], said: Mapping[str, Independent]) -> str:
    """The file of results, one line a trace."""
    head = [f" {json.dumps(name)}: {json.dumps(text)},\n" for name, text in about.items()]
    rows = [{"trace": name, "sha256": checksum(TRACES[name]), **vars(one)} for name, one in said.items()]
    return "{\n" + "".join(head) + ' "results": [\n  ' + ",\n  ".join(map(json.dumps, rows)) + "\n ]\n}\n"


def results() -> dict[str, Any]:
    """The file as it is read."""
    document: dict[str, Any] = json.loads(RESULTS.read_text())
    return document


def said(name: str) -> Independent:
    """What the tool said of that trace. Raises if it saw other bytes than those of ``TRACES``."""
    row = next(row for row in results()["results"] if row["trace"] == name)
    if row["sha256"] != checksum(TRACES[name]):
        raise ValueError(f"the trace {name!r} is not the one that was recorded; run tests/recording/hta.py again")
    return Independent(**{field: row[field] for field in Independent.__dataclass_fields__})
