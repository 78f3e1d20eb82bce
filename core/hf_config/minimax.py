"""MiniMax: Text-01 and M1 with seven lightning-attention layers to one of softmax attention; M2 with softmax only."""

from __future__ import annotations

from core.hf_config.fields import Fields
from core.hf_config.frame import decoder, each_once, layer_types, uniform
from core.hf_config.parts import gqa, head_dim, hidden_size, moe, num_layers
from core.model_spec import Layer, LinearAttention, ModelSpec

FULL, LINEAR = "full_attention", "linear_attention"


def linear_layers(f: Fields) -> list[bool]:
    """``layer_types``, or ``attn_type_list`` with 0 for lightning and 1 for softmax attention."""
    types = layer_types(f, (FULL, LINEAR))
    if types is not None:
        return [kind == LINEAR for kind in types]
    listed = f.items("attn_type_list", length=num_layers(f))
    if listed is None:
        raise f.missing("attn_type_list", "for each layer, 0 for lightning and 1 for softmax attention")
    f.each("attn_type_list", listed, (0, 1), "is neither 0 (lightning) nor 1 (softmax attention)")
    return [entry == 0 for entry in listed]


def minimax(f: Fields) -> ModelSpec:
    """MiniMax-Text-01 and M1. Source: MiniMax 2025, arXiv:2501.08313, section 2."""
    heads = f.integer("num_attention_heads")
    width = head_dim(f, heads)
    lightning = LinearAttention(
        rule="lightning",
        num_key_heads=heads,
        num_value_heads=heads,
        key_head_dim=width,
        value_head_dim=width,
        conv_kernel=0,
    )
    shared = f.integer("shared_intermediate_size", default=0, minimum=0, purpose="the width of the shared expert")
    experts = moe(f, width=f.integer("intermediate_size"), shared=shared)

    def layer(linear: bool) -> Layer:
        return Layer(mixer=lightning if linear else gqa(f), mlp=experts, norm_params=2 * hidden_size(f))

    return decoder(f, each_once(linear_layers(f), layer))


def minimax_m2(f: Fields) -> ModelSpec:
    """MiniMax-M2 and M2.5: one norm over all query heads and one over all key heads. Source: config.json of M2.5."""
    f.with_defaults("MiniMax-M2", head_dim=128)
    norm = "width" if f.flag("use_qk_norm", default=True) else "none"
    shared = f.integer("shared_intermediate_size", default=0, minimum=0, purpose="the width of the shared expert")
    experts = moe(f, width=f.integer("intermediate_size"), shared=shared)
    layer = Layer(mixer=gqa(f, qk_norm=norm), mlp=experts, norm_params=2 * hidden_size(f))
    return decoder(f, uniform(f, layer))
