"""Configs for tests: the real files of tests/data/configs, and a plain Llama to change one field of."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from core.hf_config import ConfigError, from_hf_config
from core.model_spec import ModelSpec

CONFIGS = {path.stem: path for path in sorted((Path(__file__).parent / "data/configs").glob("*.json"))}

LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14_336,
    "vocab_size": 128_256,
    "max_position_embeddings": 8192,
}


def real(name: str) -> dict[str, Any]:
    """One of the real files, parsed anew, so that a test may change it."""
    return json.loads(CONFIGS[name].read_text())


@cache
def model_of(name: str) -> ModelSpec:
    """The model that one of the real files describes, read once."""
    return from_hf_config(real(name))


def llama(**changes: Any) -> dict[str, Any]:
    """A plain Llama with some fields changed; ``...`` takes one away."""
    return {key: value for key, value in {**LLAMA, **changes}.items() if value is not ...}


def refusal(config: Any) -> str:
    """The sentence with which a config is refused."""
    with pytest.raises(ConfigError) as caught:
        from_hf_config(config)
    return str(caught.value)
