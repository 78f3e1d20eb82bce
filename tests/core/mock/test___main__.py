"""The module runs as a program."""

from __future__ import annotations

import subprocess
import sys

from core.cards.library import CONTENT


def test_it_ends_with_the_status_of_the_command():
    command = [sys.executable, "-m", "core.mock"]
    good = subprocess.run([*command, "schema", "mock"], cwd=CONTENT.parent, capture_output=True, text=True)
    assert (good.returncode, good.stdout[:1]) == (0, "{")
    bad = subprocess.run([*command, "preview", "mock-none"], cwd=CONTENT.parent, capture_output=True, text=True)
    assert bad.returncode == 1
