"""Pieces that families share: grouped-query attention, MLPs, experts, and the frame around a list of layers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from core.hf_config.errors import ConfigError
from core.hf_config.fields import Fields, show
from core.model_spec import Attention, LatentAttention, Layer, Mlp, ModelSpec, Moe, Term


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


def layer_types(
    f: Fields, known: Sequence[str], *, name: str = "layer_types", count: int | None = -1
) -> list[str] | None:
    """One entry of ``known`` a layer, or None where the config does not list them.

    ``count`` is the number of entries, None for any; left out, num_hidden_layers.

    Raises:
        ConfigError: another length than the layer list, or a kind of layer that is not modelled.
    """
    types = f.items(name, length=num_layers(f) if count == -1 else count)
    f.each(name, types or (), known, "is a kind of layer whose memory is not modelled here")
    return types


def window_size(f: Fields, *, needed_by: str = "sliding layers") -> int:
    """Tokens a sliding layer sees. [tokens]"""
    return f.integer("sliding_window", purpose=f"the tokens that {needed_by} can see")


def windows(f: Fields, *, every: int | None = None) -> list[int | None]:
    """A window or None for each layer, from ``layer_types``; where that is absent, full on each ``every``-th layer.

    ``every`` None without ``layer_types`` means that all layers see everything.
    """
    types = layer_types(f, ("full_attention", "sliding_attention"))
    if types is None:
        count = num_layers(f)
        types = [
            "full_attention" if every is None or (index + 1) % every == 0 else "sliding_attention"
            for index in range(count)
        ]
    if "sliding_attention" not in types:
        return [None] * len(types)
    window = window_size(f)
    return [window if kind == "sliding_attention" else None for kind in types]


def tied(f: Fields, *, default: bool) -> bool:
    """Whether the output head is the embedding: the outer file decides, then the language part, then the family."""
    outer = Fields(f.outer)
    if f.path and outer.has("tie_word_embeddings"):
        return outer.flag("tie_word_embeddings")
    return f.flag("tie_word_embeddings", default=default)


def decoder(
    f: Fields,
    layers: Iterable[Layer],
    *,
    tie_default: bool = False,
    final_norm: int | None = None,
    **traits: Any,
) -> ModelSpec:
    """The model around its layers: embedding, final norm (one weight a channel unless given) and output head."""
    hidden = hidden_size(f)
    return ModelSpec(
        id="custom",
        name=f.family or "custom",
        model_type=f.text("model_type") or "unknown",
        hidden_size=hidden,
        vocab_size=f.integer("vocab_size"),
        tie_word_embeddings=tied(f, default=tie_default),
        max_position_embeddings=f.integer("max_position_embeddings"),
        layers=tuple(layers),
        final_norm_params=hidden if final_norm is None else final_norm,
        **traits,
    )


def uniform(f: Fields, layer: Layer) -> list[Layer]:
    """``num_hidden_layers`` times the same layer."""
    return [layer] * num_layers(f)


def by_window(f: Fields, attention: Attention, windows_: Sequence[int | None], **parts: Any) -> list[Layer]:
    """Layers that differ only in their attention window; one object for each distinct window."""
    made = {
        window: Layer(mixer=attention.model_copy(update={"window": window}), **parts)
        for window in dict.fromkeys(windows_)
    }
    return [made[window] for window in windows_]


__all__ = [
    "Attention",
    "LatentAttention",
    "Layer",
    "ModelSpec",
    "Term",
    "by_window",
    "decoder",
    "gqa",
    "head_dim",
    "hidden_size",
    "layer_types",
    "mlp",
    "moe",
    "num_layers",
    "tied",
    "uniform",
    "window_size",
    "windows",
]
