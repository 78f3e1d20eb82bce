"""How long the formulas take to import, beside the two libraries that they stand on."""

from __future__ import annotations

import statistics
import subprocess
import sys

from tests.e2e.server import ROOT

# What things are, and one module for each formula topic. Reports (training, inference) combine these for a scenario,
# and what only a page asks for (its words, questions, tables, derivations) stands on them: neither is a formula.
THINGS = ["units", "dtypes", "working", "hardware", "model_spec", "constraints", "scenario"]
TOPICS = ["params", "zero", "activations", "collectives", "parallelism", "kv_cache", "flops", "roofline"]
FORMULAS = [*THINGS, *TOPICS, "attention_io", "serving"]


def formula_modules() -> list[str]:
    """The modules of :data:`FORMULAS` by their full names."""
    return [f"core.{name}" for name in FORMULAS]


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
