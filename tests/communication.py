"""Published numbers on communication, schedules and training speed as test cases, each with its tolerance."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.hf_config import from_hf_config
from core.model_spec import ModelSpec

ROWS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "data/published_communication.json").read_text())[
    "rows"
]


def rows(topic: str) -> pytest.MarkDecorator:
    """Parametrise ``row`` with every row of one topic, its id shown."""
    chosen = [row for row in ROWS if row["topic"] == topic]
    assert chosen, f"no row has the topic {topic}"
    return pytest.mark.parametrize("row", chosen, ids=[row["id"] for row in chosen])


def as_printed(row: dict[str, Any]) -> Any:
    """Equal to half of the last printed digit; an estimate, within the share that the row names."""
    if "within" in row:
        return pytest.approx(row["expected"], rel=row["within"])
    return pytest.approx(row["expected"], abs=row["half_digit"] * (1 + 1e-9))


def gpt(num_layers: int, hidden_size: int, num_heads: int) -> ModelSpec:
    """A GPT of Megatron-LM's papers: ungated MLP of four times the width, 51,200 padded tokens."""
    return from_hf_config(
        {
            "model_type": "gpt2",
            "n_layer": num_layers,
            "n_embd": hidden_size,
            "n_head": num_heads,
            "vocab_size": 51_200,
            "n_positions": 2048,
        }
    )
