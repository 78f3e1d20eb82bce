"""The machine and the versions that a measurement was made with, in one line."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import date
from importlib.metadata import version
from pathlib import Path

from tests.e2e.server import chromium_path


def describe() -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("streamlit", "plotly", "numpy", "pydantic"))
    browser = (
        subprocess.check_output([chromium_path(), "--version"], stderr=subprocess.DEVNULL, text=True)
        .strip()
        .split(" built ")[0]
    )
    return (
        f"{date.today().isoformat()}, {_cpu_model()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, {packages}, {browser}"
    )


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
