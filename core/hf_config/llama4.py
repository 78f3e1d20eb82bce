"""Llama 4: chunked attention on three of four layers, one routed expert beside a shared one."""

from __future__ import annotations

from core.hf_config.fields import Fields
from core.hf_config.frame import decoder, each_once, layer_types
from core.hf_config.parts import gqa, hidden_size, mlp, moe, num_layers
from core.model_spec import Layer, MlpKind, ModelSpec

FULL, CHUNKED = "full_attention", "chunked_attention"


def chunked_layers(f: Fields) -> list[bool]:
    """Layers with rotary positions are chunked; those without (every fourth) see everything."""
    count = num_layers(f)
    if not f.has("attention_chunk_size"):
        return [False] * count
    types = layer_types(f, (FULL, CHUNKED))
    if types is not None:
        return [kind == CHUNKED for kind in types]
    rotary = f.items("no_rope_layers")
    if rotary:  # despite its name, 1 means that the layer has rotary positions
        rotary = f.items("no_rope_layers", length=count) or []
        return [
            f.whole(f"no_rope_layers[{index}]", entry, purpose="1 for rotary, 0 for none", minimum=0, maximum=1) == 1
            for index, entry in enumerate(rotary)
        ]
    every = f.integer("no_rope_layer_interval", default=4, purpose="every how many layers one sees everything")
    return [(index + 1) % every != 0 for index in range(count)]


def expert_layers(f: Fields) -> set[int]:
    """Layers with experts: as listed, or every ``interleave_moe_layer_step``-th."""
    count = num_layers(f)
    listed = f.items("moe_layers")
    if listed is not None:
        purpose = "the index of a layer with experts"
        return {
            f.whole(f"moe_layers[{index}]", entry, purpose=purpose, minimum=0, maximum=count - 1)
            for index, entry in enumerate(listed)
        }
    every = f.integer("interleave_moe_layer_step", default=1, purpose="every how many layers one has experts")
    return set(range(every - 1, count, every))


def llama4(f: Fields) -> ModelSpec:
    """Llama 4 Scout and Maverick. Source: config.json of meta-llama/Llama-4-Scout-17B-16E-Instruct."""
    f.with_defaults("Llama 4", head_dim=128)
    sparse = expert_layers(f)
    bias = f.flag("attention_bias")
    attention = gqa(f, qkv_bias=bias, output_bias=bias)

    def layer(key: tuple[bool, bool]) -> Layer:
        chunked, has_experts = key
        mixer = attention
        if chunked:
            chunk = f.integer("attention_chunk_size", purpose="the tokens of one attention chunk")
            mixer = attention.model_copy(update={"window": chunk, "window_kind": "chunked"})
        width = f.integer("intermediate_size")
        part: MlpKind = moe(f, width=width, shared=width)
        if not has_experts:
            part = mlp(f, width=f.integer("intermediate_size_mlp", purpose="the width of a dense MLP"))
        return Layer(mixer=mixer, mlp=part, norm_params=2 * hidden_size(f))

    keys = ((chunked, index in sparse) for index, chunked in enumerate(chunked_layers(f)))
    return decoder(f, each_once(keys, layer))
