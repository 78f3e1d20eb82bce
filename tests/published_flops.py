"""Published numbers on FLOPs and attention traffic as parametrised test cases."""

import json
from pathlib import Path
from typing import Any

import pytest

ROWS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "data/published_flops.json").read_text())["rows"]


def rows(topic: str) -> pytest.MarkDecorator:
    """Parametrise ``row`` with every row of one topic, its id shown."""
    chosen = [row for row in ROWS if row["topic"] == topic]
    assert chosen, f"no row has the topic {topic}"
    return pytest.mark.parametrize("row", chosen, ids=[row["id"] for row in chosen])


def holds(value: Any, row: dict[str, Any]) -> None:
    """Equal to the last printed digit; within 5% where the row says why; apart where it says that nothing gives it."""
    exact = pytest.approx(row["expected"], abs=row["half_digit"] * (1 + 1e-9))
    close = pytest.approx(row["expected"], rel=0.05)
    if not row.get("reproduced", True):
        assert float(value) != close, "reproduced after all: take the mark away"
    elif "reason" in row:
        assert float(value) == close
        assert float(value) != exact, "exact after all: take the reason away"
    else:
        assert float(value) == exact
