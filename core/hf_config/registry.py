"""Which reader a ``model_type`` has."""

from __future__ import annotations

from collections.abc import Callable

from core.hf_config import deepseek, llama, mixtral, qwen
from core.hf_config.fields import Fields
from core.model_spec import ModelSpec

Reader = Callable[[Fields], ModelSpec]

READERS: dict[str, Reader] = {
    "llama": llama.llama,
    "mistral": llama.mistral,
    "mixtral": mixtral.mixtral,
    "qwen2": qwen.qwen2,
    "qwen2_moe": qwen.qwen2_moe,
    "qwen3": qwen.qwen3,
    "qwen3_moe": qwen.qwen3_moe,
    "qwen3_vl_text": qwen.qwen3,
    "deepseek_v2": deepseek.deepseek,
    "deepseek_v3": deepseek.deepseek,
    "kimi_k2": deepseek.deepseek,
    "deepseek_v32": deepseek.deepseek_sparse,
    "glm_moe_dsa": deepseek.deepseek_sparse,
}
