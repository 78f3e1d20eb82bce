"""No published number and no report goes missing: rows are counted, and each is asked for by a test that exists."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "tests/data"
TESTS = sorted((ROOT / "tests").glob("*/test_*.py"))
HELD_BY = json.loads((DATA / "held_by.json").read_text())

# The module whose ``rows`` a test takes, and the data that it reads.
READERS = {
    "published": "published_partition.json",
    "published_flops": "published_flops.json",
    "published_serving": "published_serving.json",
    "communication": "published_communication.json",
}

# digit: equal to half of the last printed digit. estimate: within the row's share, 5% at most. reason: looser, or
# apart, and the row says why.
COUNTS = {
    "published_partition.json": {"digit": 84, "reason": 34},
    "published_flops.json": {"digit": 41, "reason": 25},
    "published_serving.json": {"digit": 45, "reason": 6},
    "published_communication.json": {"digit": 19, "estimate": 31, "reason": 12},
}


def rows_of(name: str) -> list[dict[str, Any]]:
    return json.loads((DATA / name).read_text())["rows"]


def kind(row: dict[str, Any]) -> str:
    if "reason" in row:
        return "reason"
    return "estimate" if "within" in row else "digit"


def asked_topics(reader: str) -> set[str]:
    """Topics that tests take from one module, as ``@rows("zero_memory")``."""
    call = "serving_rows" if reader == "published_serving" else "rows"
    imported = re.compile(rf"from tests\.{reader} import .*\b{call}\b")
    texts = [text for path in TESTS if imported.search(text := path.read_text())]
    return {topic for text in texts for topic in re.findall(rf'^@{call}\("(\w+)"\)', text, re.MULTILINE)}


def test_every_file_of_published_rows_is_counted():
    assert set(COUNTS) == {path.name for path in DATA.glob("published_*.json")} == set(READERS.values())


@pytest.mark.parametrize("name", COUNTS)
def test_no_row_is_dropped_or_loosened_unseen(name):
    assert Counter(kind(row) for row in rows_of(name)) == COUNTS[name]


@pytest.mark.parametrize("name", COUNTS)
def test_rows_say_where_they_are_printed_and_how_close_they_must_come(name):
    rows = rows_of(name)
    assert len({row["id"] for row in rows}) == len(rows)
    for row in rows:
        assert row["source"]
        assert row["unit"]
        assert row.get("reason", "no reason is needed")
        assert "reason" in row or row.get("within", 0.0) <= 0.05, row["id"]
        assert "reason" in row or ("within" in row) != ("half_digit" in row), row["id"]


@pytest.mark.parametrize(("reader", "name"), READERS.items(), ids=READERS)
def test_every_topic_is_asked_for_by_a_test(reader, name):
    assert asked_topics(reader) == {row["topic"] for row in rows_of(name)}


def test_no_number_and_no_report_in_a_test_is_dropped_unseen():
    assert (len(HELD_BY["numbers"]), len(HELD_BY["reports"])) == (7, 27)


@pytest.mark.parametrize("entry", HELD_BY["numbers"] + HELD_BY["reports"], ids=lambda entry: entry["id"])
def test_the_test_that_holds_it_exists(entry):
    assert entry["held_by"]
    for test in entry["held_by"]:
        path, function = test.split("::")
        assert function in {node.name for node in ast.parse((ROOT / path).read_text()).body if hasattr(node, "name")}
