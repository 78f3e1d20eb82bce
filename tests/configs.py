"""The real ``config.json`` files of tests/data/configs, read once."""

import json
from functools import cache
from pathlib import Path

from core.model_spec import ModelSpec, from_hf_config

FILES = {path.stem: path for path in sorted((Path(__file__).parent / "data/configs").glob("*.json"))}


@cache
def model_of(name: str) -> ModelSpec:
    """The model that one of the files describes."""
    return from_hf_config(json.loads(FILES[name].read_text()))
