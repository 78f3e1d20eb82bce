"""Real traces that ship with the app, each with how it was recorded (tests/recording/record_traces.py)."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "catalog" / "traces"
_SUFFIX = ".json.gz"


@dataclass(frozen=True, slots=True)
class Example:
    """One recording."""

    name: str  # decode, training
    paths: tuple[Path, ...]  # one file for each rank, in order
    recorded: dict[str, str]  # what, date, gpu, torch, cuda, nccl, python

    def files(self) -> list[tuple[str, bytes]]:
        """Names and contents, as `reading.read_trace` takes them."""
        return [(path.name, path.read_bytes()) for path in self.paths]


def examples(folder: Path = FOLDER) -> dict[str, Example]:
    """All examples by name. Files name-rank0, name-rank1 and so on are the ranks of one."""
    by_name: dict[str, list[Path]] = {}
    for path in sorted(folder.glob(f"*{_SUFFIX}"), key=lambda path: (len(path.name), path.name)):
        by_name.setdefault(path.name.removesuffix(_SUFFIX).partition("-rank")[0], []).append(path)
    return {name: Example(name, tuple(paths), _recorded(paths[0])) for name, paths in sorted(by_name.items())}


def _recorded(path: Path) -> dict[str, str]:
    about = json.loads(gzip.decompress(path.read_bytes())).get("recorded", {})
    return {name: str(value) for name, value in about.items()}
