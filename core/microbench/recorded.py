"""Results that ship with the app: whatever lies in ``core/catalog/measured``, read and checked as an upload is."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from core.microbench.reading import read
from core.microbench.result import Result

FOLDER = Path(__file__).resolve().parents[1] / "catalog" / "measured"


def names(folder: Path = FOLDER) -> tuple[str, ...]:
    """Names of the recorded results, without reading them."""
    return tuple(path.stem for path in sorted(folder.glob("*.json")))


def recorded(name: str, folder: Path = FOLDER) -> Result:
    """One recorded result.

    Raises:
        ValueError: there is none of this name.
    """
    if name not in names(folder):
        raise ValueError(f"no result is recorded as {name!r}; there are {', '.join(names(folder)) or 'none'}")
    return _read(folder / f"{name}.json")


@lru_cache(maxsize=16)
def _read(path: Path) -> Result:
    return read(path.read_bytes())


def title(result: Result) -> str:
    """A result in one line: device, set, date."""
    part = "" if result.status == "complete" else ", partial"
    ranks = f" over {result.run.ranks}" if result.run.ranks > 1 else ""
    return f"{result.system.name}: {result.run.set} set{ranks}, {result.date:%Y-%m-%d}{part}"
