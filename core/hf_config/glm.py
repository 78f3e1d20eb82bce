"""GLM-4 and 4.5: biased queries, keys and values, partial rotary positions; experts as in DeepSeek-V3."""

from __future__ import annotations

from core.hf_config.deepseek import deepseek_mlps
from core.hf_config.fields import Fields
from core.hf_config.parts import decoder, gqa, hidden_size, mlp, uniform
from core.model_spec import Attention, Layer, ModelSpec


def glm(f: Fields) -> ModelSpec:
    """GLM-4-9B. Source: config.json of zai-org/glm-4-9b-chat-hf."""
    layer = Layer(mixer=gqa(f, qkv_bias=f.flag("attention_bias")), mlp=mlp(f), norm_params=2 * hidden_size(f))
    return decoder(f, uniform(f, layer))


def glm4(f: Fields) -> ModelSpec:
    """GLM-4-0414: norms also after attention and MLP. Source: config.json of zai-org/GLM-4-32B-0414."""
    layer = Layer(mixer=gqa(f, qkv_bias=f.flag("attention_bias")), mlp=mlp(f), norm_params=4 * hidden_size(f))
    return decoder(f, uniform(f, layer))


def with_deepseek_mlps(f: Fields, attention: Attention) -> ModelSpec:
    """One attention over dense layers first, then shared and routed experts."""
    made: dict[int, Layer] = {}
    layers = []
    for part in deepseek_mlps(f):
        if id(part) not in made:
            made[id(part)] = Layer(mixer=attention, mlp=part, norm_params=2 * hidden_size(f))
        layers.append(made[id(part)])
    return decoder(f, layers)


def glm4_moe(f: Fields) -> ModelSpec:
    """GLM-4.5 to 4.7. Source: arXiv:2508.06471, table 1; config.json of zai-org/GLM-4.5."""
    norm = "head" if f.flag("use_qk_norm") else "none"
    return with_deepseek_mlps(f, gqa(f, qkv_bias=f.flag("attention_bias"), qk_norm=norm))


def deepseek_moe(f: Fields) -> ModelSpec:
    """DeepSeekMoE 16B: ordinary attention under DeepSeek's experts. Source: arXiv:2401.06066, table 7."""
    bias = f.flag("attention_bias")
    return with_deepseek_mlps(f, gqa(f, qkv_bias=bias, output_bias=bias))


def dots1(f: Fields) -> ModelSpec:
    """dots.llm1 and Hunyuan 3: as GLM-4.5, with a norm on each query and key head. Source: arXiv:2506.05767."""
    bias = f.flag("attention_bias")
    return with_deepseek_mlps(f, gqa(f, qkv_bias=bias, output_bias=bias, qk_norm="head"))
