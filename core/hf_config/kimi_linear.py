"""Kimi Linear and Kimi K3: three layers of Kimi delta attention to one of latent attention without positions."""

from __future__ import annotations

from core.hf_config.deepseek import deepseek_experts, expert_layers, latent_attention
from core.hf_config.errors import ConfigError
from core.hf_config.fields import Fields, show
from core.hf_config.frame import decoder, each_once, layer_types
from core.hf_config.parts import hidden_size, mlp, num_layers
from core.model_spec import Layer, LinearAttention, ModelSpec

FULL, LINEAR = "full_attention", "linear_attention"


def linear_layers(f: Fields, section: Fields | None) -> list[bool]:
    """Which layers are linear; the lists of ``linear_attn_config`` count from 1."""
    count = num_layers(f)
    types = layer_types(f, (FULL, LINEAR))
    if types is not None:
        return [kind == LINEAR for kind in types]
    if section is None:
        raise f.missing("linear_attn_config", "which layers have Kimi delta attention, and its sizes")
    full = section.items("full_attn_layers") or []
    linear = section.items("kda_layers") or []
    for name, listed in (("full_attn_layers", full), ("kda_layers", linear)):
        for index, layer in enumerate(listed):
            section.whole(f"{name}[{index}]", layer, purpose="a layer's number, counted from 1", maximum=count)
    if sorted([*full, *linear]) != list(range(1, count + 1)):
        raise ConfigError(
            f"{section.path}full_attn_layers and kda_layers together name {len(full) + len(linear)} layers, "
            f"not each of 1 to {count} once; give every layer one kind"
        )
    return [number in set(linear) for number in range(1, count + 1)]


def kimi_delta(f: Fields, section: Fields | None) -> LinearAttention:
    """Kimi delta attention: a delta rule whose decay differs for each channel. Source: arXiv:2510.26692, section 3."""
    sizes = section or f
    heads = sizes.integer("num_heads" if section else "linear_num_heads", purpose="the heads of a linear layer")
    width = sizes.integer("head_dim" if section else "linear_head_dim", purpose="the width of a linear head")
    kernel = "short_conv_kernel_size" if section else "linear_conv_kernel_dim"
    return LinearAttention(
        rule="kda",
        num_key_heads=heads,
        num_value_heads=heads,
        key_head_dim=width,
        value_head_dim=width,
        conv_kernel=sizes.integer(kernel, purpose="the tokens that the short convolution keeps"),
        full_rank_gate=sizes.flag("use_full_rank_gate"),
    )


def kimi_linear(f: Fields) -> ModelSpec:
    """Kimi Linear 48B-A3B and the language part of Kimi K3.

    Sources: arXiv:2510.26692; config.json of moonshotai/Kimi-K3, whose extra flags (experts in a narrower space,
    full-rank gate, gated latent attention) are counted as the names say, since no implementation is public.
    """
    section = f.section("linear_attn_config")
    linear = linear_layers(f, section)
    if f.has("attn_res_block_size"):
        f.note(
            f"Attention residuals (attn_res_block_size={show(f.raw.get('attn_res_block_size'))}) are not counted: "
            "their weights are not published."
        )
    full = latent_attention(f, output_gate=f.flag("mla_use_output_gate"))
    delta = kimi_delta(f, section) if any(linear) else None
    sparse = expert_layers(f)
    space = "routed_expert_hidden_size"
    experts = deepseek_experts(
        f,
        expert_hidden_size=f.integer(space, purpose="the width in which experts work") if f.has(space) else None,
        latent_norm=f.flag("latent_moe_use_norm"),
    )

    def layer(key: tuple[bool, bool]) -> Layer:
        is_linear, has_experts = key
        part = experts if has_experts else mlp(f)
        return Layer(mixer=delta if is_linear else full, mlp=part, norm_params=2 * hidden_size(f))

    return decoder(f, each_once(zip(linear, sparse, strict=True), layer))
