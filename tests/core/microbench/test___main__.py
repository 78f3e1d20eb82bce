"""``python -m core.microbench`` is the command."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_help_lists_the_options():
    words = [sys.executable, "-m", "core.microbench", "--help"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    for option in ("--out", "--set", "--device", "--model", "--max-seconds", "--memory-share"):
        assert option in done.stdout
