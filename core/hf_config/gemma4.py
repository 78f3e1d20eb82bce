"""Gemma 4: two widths of head, keys that serve as values, experts beside a dense MLP, embeddings for each layer."""

from __future__ import annotations

from core.hf_config.errors import ConfigError
from core.hf_config.fields import Fields
from core.hf_config.frame import decoder, each_once, layer_types, window_size
from core.hf_config.parts import gqa, hidden_size, mlp, moe, num_layers
from core.model_spec import Attention, Layer, Mlp, ModelSpec, Moe, Term

FULL, SLIDING = "full_attention", "sliding_attention"


def kinds(f: Fields, *, every: int) -> list[str]:
    """Sliding or full for each layer; without ``layer_types``, full on each ``every``-th."""
    types = layer_types(f, (FULL, SLIDING))
    return types or [FULL if (index + 1) % every == 0 else SLIDING for index in range(num_layers(f))]


def shared_layers(f: Fields) -> list[bool]:
    """The last ``num_kv_shared_layers`` layers read an earlier layer's cache and make no keys of their own."""
    count = num_layers(f)
    shared = f.integer("num_kv_shared_layers", default=0, minimum=0, purpose="the layers without a cache of their own")
    if shared >= count:
        raise ConfigError(
            f"{f.path}num_kv_shared_layers={shared} leaves none of num_hidden_layers={count} to make keys and values; "
            "at least one layer has to"
        )
    return [index >= count - shared for index in range(count)]


def per_layer_inputs(f: Fields, hidden: int) -> tuple[list[Term], tuple[Term, ...], tuple[Term, ...]]:
    """Per-layer embeddings: what a layer stores for them, the big table, and the projection beside the embedding."""
    if not f.raw.get("hidden_size_per_layer_input") and "hidden_size_per_layer_input" not in f.defaults:
        return [], (), ()
    width = f.integer("hidden_size_per_layer_input", purpose="the width of the embedding for each layer")
    rows = f.integer("vocab_size_per_layer_input", purpose="the rows of the per-layer embedding")
    packed = num_layers(f) * width
    inside = [("per-layer input gate and projection", 2 * hidden * width + hidden)]  # with the norm after it
    return inside, (("per-layer embedding", rows * packed),), (("per-layer input projection", hidden * packed + width),)


def head_sizes(f: Fields, index: int, kind: str) -> tuple[int, int]:
    """Head width and key/value heads: full layers have wider heads, and fewer where keys serve as values.

    Newer files list the exceptions by layer in ``per_layer_config`` instead.
    """
    width, kv_heads = f.integer("head_dim", default=256), f.integer("num_key_value_heads")
    table = f.section("per_layer_config")
    if table is not None:
        names = (str(index), f"{index:02d}", f"{index:03d}")  # keys are padded to one length
        own = next((section for section in map(table.section, names) if section), None)
        if own is None:
            return width, kv_heads
        return own.integer("head_dim", default=width), own.integer("num_key_value_heads", default=kv_heads)
    if kind == FULL:
        width = f.integer("global_head_dim", default=512, purpose="the head width of full layers")
        if f.flag("attention_k_eq_v"):
            purpose = "the key/value heads of full layers"
            kv_heads = f.integer("num_global_key_value_heads", default=kv_heads, purpose=purpose)
    return width, kv_heads


def attention(f: Fields, kind: str, sizes: tuple[int, int], *, shares_kv: bool) -> Attention:
    """Attention of one kind of layer with its head width and key/value heads."""
    reuse = kind == FULL and f.flag("attention_k_eq_v")
    bias = f.flag("attention_bias")
    return gqa(
        f,
        width=sizes[0],
        kv_heads=sizes[1],
        window=None if kind == FULL else window_size(f),
        qk_norm="head",
        v_norm=True,
        keys_are_values=reuse,
        shares_kv=shares_kv,
        qkv_bias=bias,
        output_bias=bias,
    )


def channel_mlp(f: Fields, dense: Mlp, hidden: int) -> Mlp | Moe:
    """The dense MLP, or experts beside it. The router scales its input channels and its experts' outputs."""
    if not f.flag("enable_moe_block"):
        return dense
    scales = hidden + f.integer("num_experts")
    return moe(f, parallel_dense=dense, router_norm_params=scales)


def gemma4(f: Fields) -> ModelSpec:
    """Gemma 4, from E2B to 31B and 26B-A4B.

    Source: config.json of google/gemma-4-26B-A4B; the layer follows the model's public implementation in transformers.
    """
    hidden = hidden_size(f)
    inside, tables, beside = per_layer_inputs(f, hidden)
    norms = (7 if f.flag("enable_moe_block") else 4) * hidden
    double = f.flag("use_double_wide_mlp")
    types = kinds(f, every=6)
    if types[-1] != FULL:
        f.note("The last layer is read as full attention, as the software of Gemma 4 does.")

    def layer(key: tuple[str, bool, tuple[int, int]]) -> Layer:
        kind, shared, sizes = key
        dense = mlp(f, width=f.integer("intermediate_size") * (2 if double and shared else 1))
        return Layer(
            mixer=attention(f, kind, sizes, shares_kv=shared),
            mlp=channel_mlp(f, dense, hidden),
            norm_params=norms,
            extras=tuple(inside),
        )

    types = [*types[:-1], FULL]
    sizes = [head_sizes(f, index, kind) for index, kind in enumerate(types)]
    layers = each_once(zip(types, shared_layers(f), sizes, strict=True), layer)
    return decoder(f, layers, tie_default=True, lookup_tables=tables, embedding_extras=beside)
