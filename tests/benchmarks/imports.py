"""How long the formulas take to import, beside the two libraries that they stand on."""

from __future__ import annotations

import statistics
import subprocess
import sys

from tests.e2e.server import ROOT


def formula_modules() -> list[str]:
    """Every flat module of core: what may import numpy and pydantic, and nothing else."""
    return [f"core.{path.stem}" for path in sorted((ROOT / "core").glob("*.py")) if path.stem != "__init__"]


def compare(rounds: int) -> tuple[float, float]:
    """Seconds to import all formulas, and to import numpy and pydantic, each in new processes by turns; medians."""
    # A bare "import pydantic" loads nearly nothing; the first model class loads the rest.
    candidates = [f"import {', '.join(formula_modules())}", "import numpy; from pydantic import BaseModel, Field"]
    for code in candidates:
        _run_s(code)  # fills the caches of compiled code
    seconds: list[list[float]] = [[], []]
    for _ in range(rounds):
        for code, times in zip(candidates, seconds, strict=True):
            times.append(_run_s(code))
    return statistics.median(seconds[0]), statistics.median(seconds[1])


def _run_s(code: str) -> float:
    timed = f"import time; start = time.perf_counter(); {code}; print(time.perf_counter() - start)"
    return float(subprocess.check_output([sys.executable, "-c", timed], cwd=ROOT, text=True))
