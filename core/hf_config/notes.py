"""What surrounds the language model in a config: where it lies, what is left out, how its weights ship."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.hf_config.errors import ConfigError
from core.hf_config.fields import Fields, show

NESTED = ("text_config", "llm_config", "language_config", "thinker_config")
TOWERS = {"vision_config": "vision", "audio_config": "audio", "vision_tower": "vision", "visual": "vision"}
MTP_FIELDS = ("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules", "mtp_transformer_layers")
WEIGHT_DTYPES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32", "float8_e4m3fn": "fp8"}


def language_part(config: Mapping[str, Any]) -> Fields:
    """The fields of the language model: the object itself, or the one nested in a multimodal config."""
    path, part = "", config
    for _ in range(3):  # thinker_config.text_config is the deepest seen
        name = next((name for name in NESTED if isinstance(part.get(name), Mapping)), None)
        if name is None:
            break
        path, part = f"{path}{name}.", part[name]
    fields = Fields(part, path=path, outer=config)
    if fields.has("hidden_size"):
        return fields
    wrong = next((name for name in NESTED if part.get(name) is not None), None)
    if not path and wrong is None and any(name in config for name in TOWERS):
        raise ConfigError("text_config is missing: the language model's fields of a multimodal config; add it")
    if wrong:
        raise ConfigError(
            f"{path}{wrong}={show(part[wrong])} is not an object; write the language model's fields as {{...}}"
        )
    return fields


def add_notes(f: Fields) -> None:
    """Say what of the file the model leaves out, and how its weights are stored."""
    towers = {kind for name, kind in TOWERS.items() if f.outer.get(name) or f.raw.get(name)}
    if towers:
        f.note(f"Language model only: the {' and '.join(sorted(towers))} part is left out.")
    for name in MTP_FIELDS:
        modules = f.raw.get(name)
        if isinstance(modules, int) and not isinstance(modules, bool) and modules > 0:
            f.note(f"Multi-token prediction ({name}={modules}) is left out of all counts.")
            break
    quantization = f.raw.get("quantization_config") or f.outer.get("quantization_config")
    if isinstance(quantization, Mapping):
        method = show(quantization.get("quant_method"))
        f.note(
            f"The checkpoint stores quantized weights (quant_method {method}); parameter counts are not changed by it."
        )


def weight_dtype(f: Fields) -> str:
    """The number format the file names for its weights, bf16 where it names none. See :mod:`core.dtypes`."""
    for source in (f.raw, f.outer):
        for name in ("dtype", "torch_dtype"):
            value = source.get(name)
            if isinstance(value, str) and value in WEIGHT_DTYPES:
                return WEIGHT_DTYPES[value]
    return "bf16"
