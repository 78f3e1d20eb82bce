"""Baidu ERNIE 4.5 and Tencent Hunyuan with experts."""

from __future__ import annotations

from dataclasses import replace

from core.hf_config.errors import ConfigError
from core.hf_config.fields import Fields
from core.hf_config.frame import decoder, uniform
from core.hf_config.parts import gqa, hidden_size, mlp, moe, num_layers
from core.model_spec import Layer, ModelSpec


def ernie(f: Fields) -> ModelSpec:
    """ERNIE 4.5 0.3B: Llama with a tied head. Source: Baidu 2025, ERNIE 4.5 technical report, table 2."""
    bias = f.flag("use_bias")
    attention = gqa(f, qkv_bias=bias, output_bias=bias)
    layer = Layer(mixer=attention, mlp=mlp(f, bias=bias), norm_params=2 * hidden_size(f))
    return decoder(f, uniform(f, layer), tie_default=True)


def ernie_moe(f: Fields) -> ModelSpec:
    """ERNIE 4.5 21B-A3B and 300B-A47B: experts between two layer numbers, at an interval."""
    bias = f.flag("use_bias")
    count = num_layers(f)
    first = f.integer("moe_layer_start_index", default=1, minimum=0, purpose="the first layer with experts")
    last = f.integer("moe_layer_end_index", default=-1, minimum=-1, purpose="the last layer with experts")
    every = f.integer("moe_layer_interval", default=1, purpose="every how many layers one has experts")
    last = count - 1 if last == -1 else last
    shared = f.integer("n_shared_experts", default=0, minimum=0)
    width = f.integer("moe_intermediate_size")
    attention = gqa(f, qkv_bias=bias, output_bias=bias)
    # Here the balancing bias of the router is stored as a parameter.
    experts = moe(f, width=width, shared=shared * width, router_bias=True, shared_bias=bias)
    dense = Layer(mixer=attention, mlp=mlp(f, bias=bias), norm_params=2 * hidden_size(f))
    sparse = dense.model_copy(update={"mlp": experts})
    layers = [sparse if first <= index <= last and (index + 1) % every == 0 else dense for index in range(count)]
    return decoder(f, layers, tie_default=True, lm_head_bias=bias)


def one_for_all(f: Fields, name: str, purpose: str) -> int:
    """A number, or a list that gives the same number for every layer."""
    value = f.find(name)[1]
    if isinstance(value, list | tuple) and value:
        if any(entry != value[0] for entry in value):
            raise ConfigError(f"{f.path}{name} differs between layers, which is not read here; give one number")
        return f.whole(name, value[0], purpose=purpose, minimum=0)
    return f.integer(name, minimum=0, purpose=purpose)


def hunyuan_moe(f: Fields) -> ModelSpec:
    """Hunyuan-A13B: 64 experts beside one shared, a norm on each query and key head. Source: its config.json."""
    if f.flag("use_cla"):
        raise ConfigError("use_cla=true: layers share caches in a way that is not modelled; set it to false")
    top_k = one_for_all(f, "num_experts_per_tok", "how many routed experts a token uses")
    wide = f.has("moe_intermediate_size")
    width = one_for_all(f, "moe_intermediate_size" if wide else "intermediate_size", "the width of one routed expert")
    flat = replace(f, raw={**f.raw, "num_experts_per_tok": top_k})
    bias = f.flag("attention_bias")
    attention = gqa(
        f, qk_norm="head" if f.flag("use_qk_norm", default=True) else "none", qkv_bias=bias, output_bias=bias
    )
    shared = one_for_all(f, "n_shared_experts", "the number of shared experts") if f.has("n_shared_experts") else 1
    experts = moe(flat, width=width, shared=shared * f.integer("intermediate_size"))
    return decoder(f, uniform(f, Layer(mixer=attention, mlp=experts, norm_params=2 * hidden_size(f))))
