"""From a file's text or a parsed object to the reader of its family, and back with a model or a plain refusal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from core.hf_config.errors import ConfigError
from core.hf_config.fields import Fields, show
from core.hf_config.generic import refuse_unmodelled, unknown
from core.hf_config.notes import add_notes, language_part, weight_dtype
from core.hf_config.registry import READERS
from core.model_spec import ModelSpec
from core.units import KB, MB

MAX_BYTES = MB  # the longest real config.json of 2026 has 32 kB


def parse_hf_config(text: str) -> ModelSpec:
    """Read the text of a ``config.json``, as pasted or uploaded.

    Raises:
        ConfigError: too long, no JSON (with line and column), no object, or a config that cannot be read.
    """
    check_length(text)
    try:
        config = json.loads(text.removeprefix("\ufeff"))  # a byte order mark, as some editors write it
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise ConfigError(f"The text is not JSON: {error.msg} at {where}; paste config.json unchanged") from None
    except RecursionError:
        raise ConfigError("The text is nested too deeply; a config.json has three or four levels") from None
    except ValueError:
        raise ConfigError("The text holds a number of more than 4,300 digits; a config.json has none") from None
    return from_hf_config(config)


def check_length(text: str) -> None:
    """Raise ConfigError where a text is far longer than any config.json."""
    size = len(text.encode("utf-8", errors="replace"))
    if size > MAX_BYTES:
        raise ConfigError(
            f"The text has {size / KB:,.0f} kB; a config.json may have {MAX_BYTES / KB:,.0f} kB here. "
            "Paste config.json, not the weights' index or the tokenizer"
        )


def from_hf_config(config: Mapping[str, Any]) -> ModelSpec:
    """Read a parsed ``config.json``; of a vision or speech model, the language part.

    Raises:
        ConfigError: a field is missing, of the wrong type, out of range or in conflict with another, or the model has
            a part whose memory is not modelled.
    """
    if not isinstance(config, Mapping):
        raise ConfigError(f"{show(config)} is not an object; a config.json starts with {{ and ends with }}")
    fields = language_part(config)
    refuse_unmodelled(fields)
    reader = READERS.get(model_type(fields)) or unknown
    try:
        model = reader(fields)
        add_notes(fields)
        return model.model_copy(update={"notes": tuple(fields.notes), "weight_dtype": weight_dtype(fields)})
    except ValidationError as error:  # a rule of the spec itself that no reader stated before
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"]) or error.title
        raise ConfigError(f"{name}={show(first['input'])}: {first['msg']}; correct the config") from None
    except RecursionError:
        raise ConfigError("The config is nested too deeply; a config.json has three or four levels") from None


def model_type(f: Fields) -> str:
    """``model_type``, or the known type that the first of ``architectures`` spells."""
    given = f.text("model_type")
    if given:
        return given
    names = f.items("architectures") or []
    spelled = str(names[0]).lower().removesuffix("forcausallm") if names else ""
    return next((known for known in READERS if known.replace("_", "") == spelled), "")
