"""Qwen3-Next and Qwen3.5: three gated-delta-rule layers with a constant state to one layer of gated attention."""

from __future__ import annotations

from collections.abc import Collection

from core.hf_config.errors import ConfigError
from core.hf_config.fields import Fields
from core.hf_config.frame import decoder, each_once, layer_types
from core.hf_config.parts import gqa, hidden_size, mlp, moe, num_layers
from core.hf_config.qwen import dense_layers
from core.model_spec import Attention, Layer, LinearAttention, ModelSpec, Moe

FULL, LINEAR = "full_attention", "linear_attention"


def kinds(f: Fields) -> list[str]:
    """``layer_types``, or attention on every ``full_attention_interval``-th layer."""
    types = layer_types(f, (FULL, LINEAR))
    if types is not None:
        return types
    every = f.integer("full_attention_interval", default=4, purpose="every how many layers one has attention")
    return [FULL if (index + 1) % every == 0 else LINEAR for index in range(num_layers(f))]


def delta_rule(f: Fields) -> LinearAttention:
    """Gated delta rule. Source: Yang et al. 2024, arXiv:2412.06464."""
    keys = f.integer("linear_num_key_heads", purpose="the key heads of a linear layer", minimum=1)
    values = f.integer("linear_num_value_heads", purpose="the value heads of a linear layer, one state each")
    if values % keys:
        raise ConfigError(
            f"{f.path}linear_num_value_heads={values} is not a multiple of linear_num_key_heads={keys}; "
            "each key head serves a whole number of value heads"
        )
    return LinearAttention(
        rule="gated_delta",
        num_key_heads=keys,
        num_value_heads=values,
        key_head_dim=f.integer("linear_key_head_dim", purpose="the key width of a linear layer's state"),
        value_head_dim=f.integer("linear_value_head_dim", purpose="the value width of a linear layer's state"),
        conv_kernel=f.integer("linear_conv_kernel_dim", purpose="the tokens that the short convolution keeps"),
    )


def gated_attention(f: Fields) -> Attention:
    """Attention whose output passes a gate made beside the queries."""
    f.with_defaults("Qwen3-Next", head_dim=256)
    bias = f.flag("attention_bias")
    gate = f.flag("attn_output_gate", default=True)
    return gqa(f, qk_norm="head", output_gate=gate, qkv_bias=bias, output_bias=bias)


def _hybrid(f: Fields, dense: Collection[int]) -> ModelSpec:
    mixers = {FULL: gated_attention, LINEAR: delta_rule}

    def layer(key: tuple[str, bool]) -> Layer:
        kind, is_dense = key
        return Layer(mixer=mixers[kind](f), mlp=mlp(f) if is_dense else experts(f), norm_params=2 * hidden_size(f))

    return decoder(f, each_once(((kind, index in dense) for index, kind in enumerate(kinds(f))), layer))


def experts(f: Fields) -> Moe:
    """Routed experts beside one gated shared expert."""
    shared = f.integer("shared_expert_intermediate_size", purpose="the width of the shared expert")
    return moe(f, shared=shared, shared_gate=True)


def hybrid_dense(f: Fields) -> ModelSpec:
    """Qwen3.5 and 3.6 without experts. Source: config.json of Qwen/Qwen3.5-27B."""
    return _hybrid(f, range(num_layers(f)))


def hybrid_moe(f: Fields) -> ModelSpec:
    """Qwen3-Next and Qwen3.5 with experts. Source: config.json of Qwen/Qwen3-Next-80B-A3B-Instruct."""
    return _hybrid(f, dense_layers(f))
