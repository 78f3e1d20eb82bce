"""A thousand damaged traces: each gives a report that adds up, or a sentence. Never a traceback, never a warning."""

from __future__ import annotations

import copy
import gzip
import io
import json
import random
import zipfile
from typing import Any

import numpy as np
import pytest

from core.trace.columns import TraceError
from core.trace.reading import read_trace
from core.trace.report import report
from core.trace.verdict import LIMITS, verdict
from tests.trace.build import document, packed, recording

SEEDS = 1000
ODD_VALUES: list[Any] = [
    None,
    True,
    -1,
    0,
    -0.5,
    1e300,
    -1e300,
    float("nan"),
    float("inf"),
    10**30,
    2**63,
    "",
    "7",
    "nan",
    "x" * 2000,
    "\ud800",
    "\x00",
    "ProfilerStep#",
    "ProfilerStep#99999999999999999999",
    "ProfilerStep#3",
    "<((>",
    [],
    {},
    [1, [2, [3]]],
    {"device": []},
]


def damaged_value(draw: random.Random, trace: dict[str, Any]) -> None:
    """Put something odd in place of one to five values, fields and events."""
    events: list[Any] = trace["traceEvents"]
    for _ in range(draw.randint(1, 5)):
        where = draw.randrange(len(events))
        event = events[where]
        match draw.randrange(8):
            case 0:
                events[where] = draw.choice(ODD_VALUES)
            case 1 if isinstance(event, dict) and event:
                del event[draw.choice(list(event))]
            case 2 if isinstance(event, dict) and isinstance(event.get("args"), dict):
                event["args"][draw.choice(["device", "stream", "correlation", "dtype"])] = draw.choice(ODD_VALUES)
            case 3:
                trace[draw.choice(["distributedInfo", "deviceProperties", "schemaVersion"])] = draw.choice(ODD_VALUES)
            case 4:
                events.append(copy.deepcopy(event))
            case 5 if isinstance(event, dict) and isinstance(event.get("ts"), int | float):
                event["ts"] = event["ts"] + draw.choice([-1e9, -1e3, -20, 20, 1e4, 5e9])
            case 6:
                trace["traceEvents"] = events = events[: max(len(events) // 2, 1)]
            case _ if isinstance(event, dict) and event:
                event[draw.choice(list(event))] = draw.choice(ODD_VALUES)


def damaged_bytes(draw: random.Random, content: bytes) -> bytes:
    """Cut, overwrite, drop, repeat or insert bytes."""
    data = bytearray(content)
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(data) or 1)
        match draw.randrange(5):
            case 0:
                del data[at:]
            case 1 if data:
                data[at] = draw.randrange(256)
            case 2:
                del data[at : at + draw.randint(1, 50)]
            case 3:
                data[at:at] = data[at : at + draw.randint(1, 500)]
            case _:
                data[at:at] = draw.choice(
                    [b"{", b"}", b"[" * 3000, b'"', b"\\", b"\xff\xfe", b",", b"9" * 5000, b"null"]
                )
    return bytes(data)


def damaged(seed: int) -> list[tuple[str, bytes]]:
    """One upload of one to three files, damaged somewhere."""
    draw = random.Random(seed)
    files = []
    ranks = draw.choice([1, 1, 1, 2, 3])
    for rank in range(ranks):
        trace = document(recording(draw.randrange(5), steps=2, layers=3), rank, ranks)
        if draw.random() < 0.7:
            damaged_value(draw, trace)
        content = json.dumps(trace["traceEvents"] if draw.random() < 0.1 else trace).encode()
        if draw.random() < 0.4:
            content = damaged_bytes(draw, content)
        if draw.random() < 0.4:
            content = packed(content)
            if draw.random() < 0.5:
                content = damaged_bytes(draw, content)
        files.append((draw.choice(["a.json", "rank1.json.gz", f"rank{rank}.json", ""]), content))
    if draw.random() < 0.2:
        folder = io.BytesIO()
        with zipfile.ZipFile(folder, "w", zipfile.ZIP_DEFLATED) as archive:
            for number, (name, content) in enumerate(files):
                archive.writestr(f"{number}/{name or 'trace'}.json", content)
        content = folder.getvalue()
        files = [("all.zip", damaged_bytes(draw, content) if draw.random() < 0.6 else content)]
    return files


def outcome(files: list[tuple[str, bytes]]) -> str:
    """How one upload ends: "refused", "partial" or "whole". Everything a page would show is made, and checked."""
    try:
        trace = read_trace(files, max_bytes=50_000_000)
    except TraceError as error:
        return "refused" if str(error).encode().count(b" ") > 3 else repr(error)
    measured = report(trace)
    for gpu in measured.gpus:
        for split in (gpu.whole, gpu.by_step):
            parts = np.array(list(split.parts().values()))
            assert np.all(parts >= -1e-9)
            np.testing.assert_allclose(parts.sum(axis=0), split.whole_s, rtol=1e-9, atol=1e-9)
    found = verdict(measured)
    assert sum(found.shares.values()) == pytest.approx(1.0)
    assert found.limit in LIMITS
    "".join([found.title, found.advice, *found.evidence, *measured.notes]).encode()
    return "partial" if measured.notes else "whole"


@pytest.mark.parametrize("part", range(4))
def test_no_damage_ends_in_a_traceback(part):
    outcomes = [outcome(damaged(seed)) for seed in range(part * SEEDS // 4, (part + 1) * SEEDS // 4)]
    # The damage is neither so light that all are whole nor so heavy that nothing gets past the first check.
    assert min(outcomes.count(end) for end in ("refused", "partial", "whole")) > SEEDS // 100


def test_the_undamaged_trace_is_whole():
    content = json.dumps(document(recording(0, steps=2, layers=3), 0, 1)).encode()
    assert outcome([("trace.json", content)]) == outcome([("trace.json.gz", gzip.compress(content))]) == "whole"
