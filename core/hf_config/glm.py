"""GLM-4 and 4.5: biased queries, keys and values, partial rotary positions; experts as in DeepSeek-V3."""

from __future__ import annotations

from core.hf_config.deepseek import over_deepseek_mlps
from core.hf_config.fields import Fields
from core.hf_config.frame import decoder, uniform
from core.hf_config.parts import gqa, hidden_size, mlp
from core.model_spec import Layer, ModelSpec


def glm(f: Fields) -> ModelSpec:
    """GLM-4-9B. Source: config.json of zai-org/glm-4-9b-chat-hf."""
    layer = Layer(mixer=gqa(f, qkv_bias=f.flag("attention_bias")), mlp=mlp(f), norm_params=2 * hidden_size(f))
    return decoder(f, uniform(f, layer))


def glm4(f: Fields) -> ModelSpec:
    """GLM-4-0414: norms also after attention and MLP. Source: config.json of zai-org/GLM-4-32B-0414."""
    layer = Layer(mixer=gqa(f, qkv_bias=f.flag("attention_bias")), mlp=mlp(f), norm_params=4 * hidden_size(f))
    return decoder(f, uniform(f, layer))


def glm4_moe(f: Fields) -> ModelSpec:
    """GLM-4.5 to 4.7. Source: arXiv:2508.06471, table 1; config.json of zai-org/GLM-4.5."""
    norm = "head" if f.flag("use_qk_norm") else "none"
    return over_deepseek_mlps(f, gqa(f, qkv_bias=f.flag("attention_bias"), qk_norm=norm))


def deepseek_moe(f: Fields) -> ModelSpec:
    """DeepSeekMoE 16B: ordinary attention under DeepSeek's experts. Source: arXiv:2401.06066, table 7."""
    bias = f.flag("attention_bias")
    return over_deepseek_mlps(f, gqa(f, qkv_bias=bias, output_bias=bias))


def dots1(f: Fields) -> ModelSpec:
    """dots.llm1 and Hunyuan 3: as GLM-4.5, with a norm on each query and key head. Source: arXiv:2506.05767."""
    bias = f.flag("attention_bias")
    return over_deepseek_mlps(f, gqa(f, qkv_bias=bias, output_bias=bias, qk_norm="head"))
