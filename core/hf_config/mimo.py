"""MiMo-V2-Flash: sliding layers with more key/value heads than full ones, narrower values, sinks on the window."""

from __future__ import annotations

from core.hf_config.deepseek import expert_layers
from core.hf_config.fields import Fields
from core.hf_config.frame import decoder, each_once, layer_types, window_size
from core.hf_config.parts import gqa, hidden_size, mlp, moe, num_layers
from core.model_spec import Attention, Layer, ModelSpec


def pattern(f: Fields, name: str, ones: str, zeros: str, default: list[int]) -> list[bool]:
    """A list of 0 and 1, one a layer."""
    listed = f.items(name, length=num_layers(f))
    f.each(name, listed or (), (0, 1), f"is neither 0 ({zeros}) nor 1 ({ones})")
    return [entry == 1 for entry in (default if listed is None else listed)]


def sliding_layers(f: Fields) -> list[bool]:
    """``layer_types``, or ``hybrid_layer_pattern`` with 1 for sliding."""
    types = layer_types(f, ("full_attention", "sliding_attention"))
    if types is not None:
        return [kind == "sliding_attention" for kind in types]
    if not f.has("hybrid_layer_pattern"):
        raise f.missing("hybrid_layer_pattern", "for each layer, 1 for sliding and 0 for full attention")
    return pattern(f, "hybrid_layer_pattern", "sliding", "full", [])


def attention(f: Fields, *, sliding: bool) -> Attention:
    """Attention of one kind; the sliding one has its sizes under the prefix ``swa_``.

    Files written by transformers have no such fields: sliding layers have twice the key/value heads then.
    """
    prefix = "swa_" if sliding else ""
    kv_heads = f.integer("num_key_value_heads")
    if sliding:
        purpose = "the key/value heads of sliding layers"
        kv_heads = f.integer("swa_num_key_value_heads", default=2 * kv_heads, purpose=purpose)

    def size(name: str, purpose: str) -> int:
        own = prefix + name
        return f.integer(own, purpose=purpose) if f.has(own) else f.integer(name, purpose=purpose)

    bias = f.flag("attention_bias")
    return gqa(
        f,
        heads=size("num_attention_heads", "the number of query heads"),
        kv_heads=kv_heads,
        width=size("head_dim", "the width of a query or key head"),
        v_head_dim=size("v_head_dim", "the width of a value head"),
        window=window_size(f) if sliding else None,
        sinks=f.flag("add_swa_attention_sink_bias" if sliding else "add_full_attention_sink_bias", default=sliding),
        qkv_bias=bias,
    )


def mimo_v2(f: Fields) -> ModelSpec:
    """MiMo-V2-Flash. Source: config.json of XiaomiMiMo/MiMo-V2-Flash."""
    count = num_layers(f)
    width = f.integer("moe_intermediate_size")
    shared = f.integer("n_shared_experts", default=0, minimum=0)
    experts = moe(f, width=width, shared=shared * width)
    if f.has("mlp_layer_types"):
        sparse = expert_layers(f)
    else:
        sparse = pattern(f, "moe_layer_freq", "experts", "dense", [0] + [1] * (count - 1))

    def layer(key: tuple[bool, bool]) -> Layer:
        sliding, has_experts = key
        part = experts if has_experts else mlp(f)
        return Layer(mixer=attention(f, sliding=sliding), mlp=part, norm_params=2 * hidden_size(f))

    return decoder(f, each_once(zip(sliding_layers(f), sparse, strict=True), layer))
