"""One script carries every module that measures, needs no package but torch, and is the same code."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from core.microbench.shapes import LayerShape
from core.microbench.standalone import NAME, build
from core.microbench.system import MODULES, code_sha256, source_of

BARE = [sys.executable, "-I", "-S"]  # no packages, no folder of ours
SHAPE = LayerShape("test/own", 64, 4, 2, 16, 96)


@pytest.mark.parametrize("module", MODULES)
def test_what_measures_imports_only_the_standard_library_and_its_own(module):
    """torch and the catalog inside functions; the catalog's absence is answered for (test_shapes)."""
    outside = []
    for node in ast.parse(source_of(module)).body:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
        outside += [
            name
            for name in names
            if name.split(".")[0] not in sys.stdlib_module_names and not name.startswith("core.microbench")
        ]
    assert outside == []


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / NAME).write_text(build([SHAPE], commit="a" * 40))
    return tmp_path


def test_without_any_package_it_starts_and_says_what_is_missing(folder):
    done = subprocess.run([*BARE, NAME, "--out", "r.json"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 3, done.stderr
    assert "torch is not installed here" in json.loads(done.stdout)["reason"]


INSIDE = f"""
import runpy, sys
script = runpy.run_path({NAME!r})
sys.meta_path.insert(0, script["Sources"]())
from core.microbench import plan, run, system
print(system.code_sha256(), script["COMMIT"], script["SHAPES"][0]["model"], system.commit())
"""


def test_it_is_the_same_code_and_knows_its_commit_and_shapes(folder):
    done = subprocess.run([*BARE, "-c", INSIDE], cwd=folder, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [code_sha256(), "a" * 40, "test/own", "None"]


def test_it_is_one_readable_file():
    script = build()
    ast.parse(script)
    assert len(script) < 200_000
    assert max(map(len, script.splitlines())) <= 120
    assert "/home/" not in script
    assert all(source_of(module) in script for module in MODULES)
