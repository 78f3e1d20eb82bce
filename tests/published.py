"""Published numbers as parametrised test cases, and the tolerance that their printed digits give."""

import json
from pathlib import Path
from typing import Any

import pytest

ROWS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "data/published_partition.json").read_text())["rows"]


def rows(topic: str) -> pytest.MarkDecorator:
    """Parametrise ``row`` with every row of one topic, its id shown."""
    chosen = [row for row in ROWS if row["topic"] == topic]
    assert chosen, f"no row has the topic {topic}"
    return pytest.mark.parametrize("row", chosen, ids=[row["id"] for row in chosen])


def as_printed(row: dict[str, Any]) -> Any:
    """Equal to the last printed digit; within 5% where the row says why the digits differ."""
    if "reason" in row and row["half_digit"] != 1.0:
        return pytest.approx(row["expected"], rel=0.05)
    return pytest.approx(row["expected"], abs=row["half_digit"] * (1 + 1e-9))
