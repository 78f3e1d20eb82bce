"""The command line for authors."""

from __future__ import annotations

import json

import pytest

from core.cards.command import SCHEMAS, main
from tests.core.cards.made import DRILL, DRILL_AT, FILES
from tests.core.cards.test_library import write


@pytest.fixture
def content(tmp_path):
    folder = tmp_path / "content"
    write(folder, FILES)
    return folder


def run(capsys, *words: object) -> tuple[int, str]:
    status = main([str(word) for word in words])
    return status, capsys.readouterr().out


def test_a_good_bank_is_counted(content, capsys):
    status, said = run(capsys, "check", "--content", content, "--seeds", 5)
    assert status == 0
    assert said.startswith("ok: 1 drills, 2 mcqs, 1 questions")
    assert "2 sources" in said
    assert "5 variants" in said


def test_findings_are_printed_and_the_status_says_so(content, capsys):
    write(content, {DRILL_AT: DRILL.replace("52.239", "53")})
    status, said = run(capsys, "check", "--content", content, "--seeds", 5)
    assert status == 1
    assert said.startswith("drills/hardware/read.md:23: golden: 53 is pinned")
    assert said.endswith("1 problems\n")


@pytest.mark.parametrize(
    ("path", "status"), [("drills/hardware", 1), ("content/drills", 1), ("./content/drills", 1), ("quizzes", 0)]
)
def test_findings_of_a_path(content, capsys, path, status):
    write(content, {DRILL_AT: DRILL.replace("52.239", "53")})
    assert run(capsys, "check", path, "--content", content, "--seeds", 5)[0] == status


def test_a_path_that_nothing_begins_with_is_no_success(content, capsys):
    status, said = run(capsys, "check", "drills/hardwear", "--content", content)
    assert status == 1
    assert "begins with drills/hardwear" in said


def test_an_empty_bank_is_no_success(tmp_path, capsys):
    status, said = run(capsys, "check", "--content", tmp_path)
    assert status == 1
    assert "holds no cards" in said


def test_preview_prints_five_variants(content, capsys):
    status, said = run(capsys, "preview", "d-hardware-read", "--content", content)
    assert status == 0
    assert said.count("--- seed") == 5
    assert "answer = 52.2388" in said
    assert "{{" not in said


def test_preview_of_what_cannot_be_drawn_says_so(content, capsys):
    write(content, {DRILL_AT: DRILL.replace("answer | 4g", "answr | 4g")})
    assert run(capsys, "preview", "d-hardware-none", "--content", content)[0] == 1
    status, said = run(capsys, "preview", "d-hardware-read", "--content", content)
    assert status == 1
    assert "cannot be drawn" in said


def test_new_writes_a_card_and_never_over_one(content, capsys):
    status, said = run(capsys, "new", "drill", "hardware", "fresh", "--content", content)
    assert status == 0
    assert "check drills/hardware/fresh.md" in said
    assert (content / "drills/hardware/fresh.md").read_text().startswith("---\nid: d-hardware-fresh")
    status, said = run(capsys, "new", "drill", "hardware", "fresh", "--content", content)
    assert status == 1
    assert "exists" in said
    assert run(capsys, "new", "drill", "nowhere", "fresh", "--content", content)[0] == 1


@pytest.mark.parametrize("kind", SCHEMAS)
def test_schema_prints_a_json_schema(kind, capsys):
    status, said = run(capsys, "schema", kind)
    assert status == 0
    assert json.loads(said)["type"] == "object"


@pytest.mark.parametrize("name", SCHEMAS)
def test_each_kind_has_a_json_schema(name):
    schema = SCHEMAS[name].model_json_schema()
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
