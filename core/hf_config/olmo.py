"""OLMo 1 to 3 and OLMoE."""

from __future__ import annotations

from core.hf_config.fields import Fields
from core.hf_config.frame import by_window, decoder, uniform, windows
from core.hf_config.parts import gqa, hidden_size, mlp, moe
from core.model_spec import Attention, Layer, ModelSpec


def _attention(f: Fields) -> Attention:
    bias = f.flag("attention_bias")
    return gqa(f, qk_norm="width", qkv_bias=bias, output_bias=bias)


def olmo(f: Fields) -> ModelSpec:
    """OLMo 1: norms without weights. Source: arXiv:2402.00838, section 2.1."""
    bias = f.flag("attention_bias")
    layer = Layer(mixer=gqa(f, qkv_bias=bias, output_bias=bias), mlp=mlp(f))
    return decoder(f, uniform(f, layer), final_norm=0)


def olmo2(f: Fields) -> ModelSpec:
    """OLMo 2: norms after attention and MLP, and over all queries and all keys. Source: arXiv:2501.00656, section 3."""
    layer = Layer(mixer=_attention(f), mlp=mlp(f), norm_params=2 * hidden_size(f))
    return decoder(f, uniform(f, layer))


def olmo3(f: Fields) -> ModelSpec:
    """OLMo 3: three sliding layers to one full. Source: config.json of allenai/Olmo-3-1025-7B."""
    layers = by_window(f, _attention(f), windows(f, every=4), mlp=mlp(f), norm_params=2 * hidden_size(f))
    return decoder(f, layers)


def olmoe(f: Fields) -> ModelSpec:
    """OLMoE 1B-7B: 64 small experts, of which a token uses 8. Source: arXiv:2409.02060, table 1."""
    experts = moe(f, width=f.integer("intermediate_size"))
    layer = Layer(mixer=_attention(f), mlp=experts, norm_params=2 * hidden_size(f))
    return decoder(f, uniform(f, layer))
