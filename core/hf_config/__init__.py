"""A Hugging Face ``config.json`` becomes a :class:`core.model_spec.ModelSpec`, or a sentence that says why not."""

from core.hf_config.errors import ConfigError
from core.hf_config.read import check_length, from_hf_config, parse_hf_config

__all__ = ["ConfigError", "check_length", "from_hf_config", "parse_hf_config"]
