"""Pieces that families share: grouped-query attention, MLPs, experts."""

from __future__ import annotations

from typing import Any

from core.hf_config.errors import ConfigError
from core.hf_config.fields import Fields, show
from core.model_spec import Attention, Mlp, Moe


def hidden_size(f: Fields) -> int:
    """Width of the residual stream. [elements]"""
    return f.integer("hidden_size")


def num_layers(f: Fields) -> int:
    """Entries of the layer list. [layers]"""
    return f.integer("num_hidden_layers")


def head_dim(f: Fields, heads: int) -> int:
    """Width of one head: the field, or hidden_size / heads where that is whole."""
    if f.has("head_dim"):
        return f.integer("head_dim")
    hidden = hidden_size(f)
    if hidden % heads:
        raise ConfigError(
            f"{f.path}hidden_size={hidden} is not divisible by num_attention_heads={heads} and head_dim is missing; "
            "give head_dim, or heads that divide the hidden size"
        )
    return hidden // heads


def gqa(
    f: Fields,
    *,
    heads: int | None = None,
    kv_heads: int | None = None,
    width: int | None = None,
    **traits: Any,
) -> Attention:
    """Attention with ``num_attention_heads`` over ``num_key_value_heads``; absent KV heads mean one a query head."""
    heads = heads or f.integer("num_attention_heads")
    if kv_heads is None and not f.has("num_key_value_heads"):
        f.note("The config does not give num_key_value_heads: each query head was read as having its own.")
    kv_heads = kv_heads or f.integer("num_key_value_heads", default=heads)
    if heads % kv_heads:
        valid = [n for n in range(1, min(heads, 512) + 1) if heads % n == 0]
        raise ConfigError(
            f"{f.path}num_key_value_heads={kv_heads} does not divide num_attention_heads={heads}; "
            f"choose one of {show(valid)}"
        )
    width = width or head_dim(f, heads)
    traits.setdefault("v_head_dim", width)
    return Attention(num_heads=heads, num_kv_heads=kv_heads, head_dim=width, **traits)


def mlp(f: Fields, *, width: int | None = None, gated: bool = True, bias: bool = False) -> Mlp:
    """Dense MLP of ``intermediate_size``."""
    return Mlp(intermediate_size=width or f.integer("intermediate_size"), gated=gated, bias=bias)


def moe(f: Fields, *, width: int | None = None, shared: int = 0, **traits: Any) -> Moe:
    """Routed experts of ``moe_intermediate_size``; ``shared`` is the width of all shared experts together."""
    experts = f.integer("num_experts")
    top_k = f.integer("num_experts_per_tok")
    if top_k > experts:
        raise ConfigError(
            f"{f.path}num_experts_per_tok={top_k} exceeds num_experts={experts}; "
            "a token cannot use more experts than a layer has: lower the first or raise the second"
        )
    return Moe(
        num_experts=experts,
        top_k=top_k,
        expert_intermediate_size=width or f.integer("moe_intermediate_size"),
        shared_intermediate_size=shared,
        **traits,
    )
