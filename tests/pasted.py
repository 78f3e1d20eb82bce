"""Configs to paste in tests: the real files, a plain Llama to change one field of, and the sentence of a refusal."""

import json

import pytest

from core.hf_config import ConfigError, from_hf_config
from tests.configs import FILES

LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14_336,
    "vocab_size": 128_256,
    "max_position_embeddings": 8192,
}


def real(name):
    """One of the real files, parsed anew, so that a test may change it."""
    return json.loads(FILES[name].read_text())


def llama(**changes):
    """A plain Llama with some fields changed; ``...`` takes one away."""
    return {key: value for key, value in {**LLAMA, **changes}.items() if value is not ...}


def refusal(config):
    """The sentence with which a config is refused."""
    with pytest.raises(ConfigError) as caught:
        from_hf_config(config)
    return str(caught.value)
