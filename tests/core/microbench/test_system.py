"""A result names the code that made it, by commit and checksum, and no person or host."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from core.microbench import system

PACKAGE = Path(system.__file__).parent
NOT_MEASURING = {"__init__", "__main__", "job", "probe", "reading", "recorded", "result", "standalone"}


def test_the_checksum_covers_every_module_that_measures():
    assert set(system.MODULES) | NOT_MEASURING == {path.stem for path in PACKAGE.glob("*.py")}
    assert list(system.MODULES) == sorted(system.MODULES)


def test_the_checksum_follows_the_code(monkeypatch):
    before = system.code_sha256()
    assert re.fullmatch("[0-9a-f]{64}", before)
    monkeypatch.setattr(system, "source_of", lambda module: "changed")
    assert system.code_sha256() != before


def test_sources_are_those_of_the_files():
    assert system.source_of("timing") == (PACKAGE / "timing.py").read_text()


def test_the_commit_is_that_of_the_checkout():
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=PACKAGE, capture_output=True, text=True, check=True)
    assert str(system.commit()).rstrip("+") == head.stdout.strip()


def test_without_git_there_is_no_commit(monkeypatch):
    monkeypatch.setattr(system, "_output", lambda words: None)
    assert system.commit() is None


def test_a_command_keeps_file_names_and_loses_their_folders(monkeypatch):
    monkeypatch.setattr(system.sys, "argv", ["/home/me/core/microbench/__main__.py", "--out", "/home/me/r.json"])
    assert system.command() == "python -m core.microbench --out r.json"


def test_numbers_of_nvidia_smi_may_be_missing():
    assert system._number("700.00") == 700.0
    assert system._number("[N/A]") is None
    assert system._number(None) is None
