"""IBM Granite: dense, with experts, and the Mamba-2 hybrids of Granite 4."""

from __future__ import annotations

from core.hf_config.errors import ConfigError
from core.hf_config.fields import Fields
from core.hf_config.frame import decoder, each_once, layer_types, uniform
from core.hf_config.parts import gqa, hidden_size, mlp, moe
from core.model_spec import Layer, Mlp, ModelSpec, Moe, StateSpace

KINDS = {"mamba": True, "linear_attention": True, "attention": False, "full_attention": False}  # True: state space


def granite(f: Fields) -> ModelSpec:
    """Granite 3: Llama with scaled residuals, which adds no weights. Source: config.json of granite-3.3-8b-base."""
    bias = f.flag("attention_bias")
    attention = gqa(f, qkv_bias=bias, output_bias=bias)
    layer = Layer(mixer=attention, mlp=mlp(f, bias=f.flag("mlp_bias")), norm_params=2 * hidden_size(f))
    return decoder(f, uniform(f, layer))


def granite_moe(f: Fields) -> ModelSpec:
    """Granite 3 with experts; the later ones add a shared expert. Source: config.json of granite-3.1-3b-a800m-base."""
    shared = f.integer("shared_intermediate_size", default=0, minimum=0, purpose="the width of the shared expert")
    experts = moe(f, width=f.integer("intermediate_size"), shared=shared)
    bias = f.flag("attention_bias")
    layer = Layer(mixer=gqa(f, qkv_bias=bias, output_bias=bias), mlp=experts, norm_params=2 * hidden_size(f))
    return decoder(f, uniform(f, layer))


def mamba2(f: Fields) -> StateSpace:
    """Mamba-2 mixer; "auto" heads split the inner width evenly."""
    heads = f.integer("mamba_n_heads", purpose="the heads of a Mamba-2 layer, one state each")
    inner = f.integer("mamba_expand", purpose="the inner width in hidden sizes") * hidden_size(f)
    width = f.raw.get("mamba_d_head")
    if width in (None, "auto"):
        if inner % heads:
            raise ConfigError(
                f"{f.path}mamba_n_heads={heads} does not divide the inner width {inner}; choose a divisor"
            )
        width = inner // heads
    else:
        width = f.integer("mamba_d_head", purpose="the channels of a Mamba-2 head")
    return StateSpace(
        num_heads=heads,
        head_dim=width,
        state_size=f.integer("mamba_d_state", purpose="the state kept for each channel"),
        num_groups=f.integer("mamba_n_groups", purpose="the groups of heads that share B and C"),
        conv_kernel=f.integer("mamba_d_conv", purpose="the tokens that the short convolution keeps"),
        conv_bias=f.flag("mamba_conv_bias", default=True),
        proj_bias=f.flag("mamba_proj_bias"),
    )


def granite_hybrid(f: Fields) -> ModelSpec:
    """Granite 4: mostly Mamba-2 layers, some attention; a shared MLP, beside experts where there are any."""
    name = "layer_types" if f.has("layer_types") else "layers_block_type"
    kinds = layer_types(f, tuple(KINDS), name=name)
    if kinds is None:
        raise f.missing("layer_types", "for each layer, mamba or attention")
    shared = f.integer("shared_intermediate_size", purpose="the width of the MLP that every token passes")
    part: Mlp | Moe = mlp(f, width=shared)
    if f.find("num_experts")[1]:
        part = moe(f, width=f.integer("intermediate_size"), shared=shared)
    bias = f.flag("attention_bias")

    def layer(state_space: bool) -> Layer:
        mixer = mamba2(f) if state_space else gqa(f, qkv_bias=bias, output_bias=bias)
        return Layer(mixer=mixer, mlp=part, norm_params=2 * hidden_size(f))

    return decoder(f, each_once((KINDS[kind] for kind in kinds), layer))
