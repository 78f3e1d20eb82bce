"""``python -m core.cards`` ends with the status of its command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "core.cards", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_a_command_runs():
    done = run("schema", "drill")
    assert (done.returncode, done.stdout[0]) == (0, "{")


def test_a_failure_is_the_status(tmp_path):
    done = run("check", "--content", str(tmp_path))
    assert (done.returncode, done.stderr) == (1, "")
    assert "holds no cards" in done.stdout
