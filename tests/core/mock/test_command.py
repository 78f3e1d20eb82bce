"""The command line: check, preview, schema."""

from __future__ import annotations

import json

import pytest

from core.cards.library import CONTENT
from core.mock.command import main
from tests.core.mock.made import PACK


def test_check_passes_on_what_is_shipped(capsys):
    assert main(["check"]) == 0
    assert capsys.readouterr().out.startswith("ok: ")


def test_check_shows_findings_of_the_named_files(tmp_path, capsys):
    for folder in ("mocks", "calibration"):
        (tmp_path / folder).mkdir()
    (tmp_path / "mocks" / "one.yaml").write_text("schema: mock/1\n")
    (tmp_path / "mocks" / "two.yaml").write_text("- a\n")
    assert main(["check", "mocks/two", "--content", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "mocks/two.yaml:1: is a table" in out
    assert "one.yaml" not in out
    assert "1 problems" in out


def test_check_of_nothing_is_no_success(tmp_path, capsys):
    assert main(["check", "--content", str(tmp_path)]) == 1
    assert "holds no packs" in capsys.readouterr().out
    assert main(["check", "mocks/nothing"]) == 1
    assert "begins with mocks/nothing" in capsys.readouterr().out


def test_preview_prints_the_pack_with_its_numbers(capsys):
    assert main(["preview", PACK]) == 0
    out = capsys.readouterr().out
    assert "[start] What does each figure count, and how can 35% and 62%" in out
    assert "twist padding" in out
    assert "## Strong" in out
    assert "{{" not in out


def test_preview_of_no_pack_says_so(capsys):
    assert main(["preview", "mock-none"]) == 1
    assert "is no pack that can be read" in capsys.readouterr().out


def test_preview_of_a_broken_pack_says_so(tmp_path, capsys):
    (tmp_path / "mocks").mkdir()
    (tmp_path / "mocks" / "train-serve-45.yaml").write_bytes((CONTENT / "mocks/train-serve-45.yaml").read_bytes())
    assert main(["preview", PACK, "--content", str(tmp_path)]) == 1
    assert "cannot be shown" in capsys.readouterr().out


@pytest.mark.parametrize(("kind", "title"), [("mock", "MockPack"), ("calibration", "Calibration")])
def test_schema_is_json(kind, title, capsys):
    assert main(["schema", kind]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == title
