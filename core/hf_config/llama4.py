"""Llama 4: chunked attention on three of four layers, one routed expert beside a shared one."""

from __future__ import annotations

from core.hf_config.fields import Fields
from core.hf_config.parts import decoder, gqa, hidden_size, layer_types, mlp, moe, num_layers
from core.model_spec import Layer, ModelSpec

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
    made: dict[tuple[bool, bool], Layer] = {}
    layers = []
    for index, chunked in enumerate(chunked_layers(f)):
        key = (chunked, index in sparse)
        if key not in made:
            mixer = attention
            if chunked:
                chunk = f.integer("attention_chunk_size", purpose="the tokens of one attention chunk")
                mixer = attention.model_copy(update={"window": chunk, "window_kind": "chunked"})
            width = f.integer("intermediate_size")
            wide = "intermediate_size_mlp"
            part = (
                moe(f, width=width, shared=width)
                if index in sparse
                else mlp(f, width=f.integer(wide, purpose="the width of a dense MLP"))
            )
            made[key] = Layer(mixer=mixer, mlp=part, norm_params=2 * hidden_size(f))
        layers.append(made[key])
    return decoder(f, layers)
