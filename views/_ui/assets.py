"""Our own style sheets, scripts and mark-up, which components are given as text."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).resolve().parents[2] / "assets"


def asset(*names: str) -> str:
    """The named files of ``assets/``, one after the other."""
    return "".join((_FOLDER / name).read_text(encoding="utf-8") for name in names)
