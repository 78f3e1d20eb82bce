"""Qwen 2 to 3, dense and with experts, and the language part of their vision models."""

from __future__ import annotations

from core.hf_config.fields import Fields
from core.hf_config.frame import by_window, decoder, each_once, window_size, windows
from core.hf_config.parts import gqa, hidden_size, mlp, moe, num_layers
from core.model_spec import Attention, Layer, ModelSpec, Moe


def _windows(f: Fields) -> list[int | None]:
    """``layer_types``, or the older rule: with ``use_sliding_window``, layers from ``max_window_layers`` on slide."""
    if f.has("layer_types") or not f.flag("use_sliding_window") or not f.has("sliding_window"):
        return windows(f)
    first = f.integer("max_window_layers", minimum=0, purpose="the number of layers before the first sliding one")
    window = window_size(f)
    return [window if index >= first else None for index in range(num_layers(f))]


def qwen2(f: Fields) -> ModelSpec:
    """Qwen2 and 2.5: biases on queries, keys and values only. Source: arXiv:2407.10671, section 2.2."""
    layers = by_window(f, gqa(f, qkv_bias=True), _windows(f), mlp=mlp(f), norm_params=2 * hidden_size(f))
    return decoder(f, layers)


def _qwen3_attention(f: Fields) -> Attention:
    bias = f.flag("attention_bias")
    return gqa(f, qk_norm="head", qkv_bias=bias, output_bias=bias)


def qwen3(f: Fields) -> ModelSpec:
    """Qwen3: no biases, a norm on each query and key head. Source: arXiv:2505.09388, section 2."""
    f.with_defaults("Qwen3", head_dim=128)
    layers = by_window(f, _qwen3_attention(f), _windows(f), mlp=mlp(f), norm_params=2 * hidden_size(f))
    return decoder(f, layers)


def dense_layers(f: Fields) -> set[int]:
    """Layers without experts: those listed, and those between the multiples of ``decoder_sparse_step``."""
    listed = f.items("mlp_only_layers") or []
    step = f.integer("decoder_sparse_step", default=1, purpose="every how many layers one has experts")
    for index, layer in enumerate(listed):
        f.whole(f"mlp_only_layers[{index}]", layer, purpose="a layer's index", minimum=0, maximum=num_layers(f) - 1)
    return {layer for layer in range(num_layers(f)) if layer in listed or (layer + 1) % step}


def mix(f: Fields, attention: Attention, experts: Moe) -> ModelSpec:
    """Layers with experts, except the dense ones."""
    dense = dense_layers(f)

    def layer(key: tuple[bool, int | None]) -> Layer:
        is_dense, window = key
        mixer = attention.model_copy(update={"window": window})
        return Layer(mixer=mixer, mlp=mlp(f) if is_dense else experts, norm_params=2 * hidden_size(f))

    keys = ((index in dense, window) for index, window in enumerate(_windows(f)))
    return decoder(f, each_once(keys, layer))


def qwen2_moe(f: Fields) -> ModelSpec:
    """Qwen1.5-MoE and Qwen2-57B-A14B: routed experts beside one gated shared expert."""
    shared = f.integer("shared_expert_intermediate_size", purpose="the width of the shared expert")
    experts = moe(f, shared=shared, shared_gate=True)
    attention = gqa(f, qkv_bias=f.flag("qkv_bias", default=True))
    return mix(f, attention, experts)


def qwen3_moe(f: Fields) -> ModelSpec:
    """Qwen3-30B-A3B, 235B-A22B and Coder: no shared expert. Source: arXiv:2505.09388, table 2."""
    return mix(f, _qwen3_attention(f), moe(f))
