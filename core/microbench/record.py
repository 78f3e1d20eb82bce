"""The document ``microbench/1`` while it is made: after each item the file is a whole, valid result, marked partial."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

FORMAT = "microbench/1"
UNFINISHED = "the run had not ended when this file was written"


@dataclass(slots=True)
class Record:
    """What a run has found so far."""

    run: dict[str, Any]
    system: dict[str, Any]
    measurements: list[dict[str, Any]] = field(default_factory=list)
    skipped: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    stopped: str | None = UNFINISHED  # why it is partial; None: it is complete

    def as_dict(self) -> dict[str, Any]:
        """The document."""
        return {
            "format": FORMAT,
            "status": "complete" if self.stopped is None else "partial",
            "stopped": self.stopped,
            "run": self.run,
            "system": self.system,
            "notes": self.notes,
            "measurements": self.measurements,
            "skipped": self.skipped,
        }

    def skip(self, item: str, reason: str, settings: dict[str, Any] | None = None) -> None:
        """Note what was not measured, and why."""
        self.skipped.append({"item": item, "reason": f"{reason:.500}", **({"settings": settings} if settings else {})})


def write(record: Record, path: Path) -> None:
    """Replace the file in one step: a reader finds the old one or the new one, never half of one."""
    text = json.dumps(record.as_dict(), allow_nan=False, indent=None, separators=(",", ":"))
    # A line for each measurement, so that a diff of two results can be read.
    for name in ("measurements", "skipped"):
        text = text.replace(f'"{name}":[', f'\n"{name}":[\n')
    text = text.replace('},{"kind":', '},\n{"kind":').replace('},{"item":', '},\n{"item":')
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        beside.write_text(f"{text}\n", encoding="utf-8")
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def utc_now() -> str:
    """2026-01-31T09:30:00Z."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
