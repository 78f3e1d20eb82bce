"""Published serving numbers as parametrised test cases; tolerances as in :mod:`tests.published`."""

import json
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parent / "data"
ROWS: list[dict[str, Any]] = json.loads((DATA / "published_serving.json").read_text())["rows"]


def serving_rows(topic: str) -> pytest.MarkDecorator:
    """Parametrise ``row`` with every row of one topic, its id shown."""
    chosen = [row for row in ROWS if row["topic"] == topic]
    assert chosen, f"no row has the topic {topic}"
    return pytest.mark.parametrize("row", chosen, ids=[row["id"] for row in chosen])
