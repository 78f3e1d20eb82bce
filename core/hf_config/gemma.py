"""Gemma 1 to 3: wide heads, tied embedding; from Gemma 2 on four norms a layer and sliding layers."""

from __future__ import annotations

from core.hf_config.fields import Fields
from core.hf_config.frame import by_window, decoder, uniform, windows
from core.hf_config.parts import gqa, hidden_size, mlp
from core.model_spec import Attention, Layer, ModelSpec


def _attention(f: Fields, *, qk_norm: str = "none") -> Attention:
    bias = f.flag("attention_bias")
    return gqa(f, qkv_bias=bias, output_bias=bias, qk_norm=qk_norm)


def gemma(f: Fields) -> ModelSpec:
    """Gemma 1. Source: arXiv:2403.08295, table 1."""
    f.with_defaults("Gemma", head_dim=256)
    layer = Layer(mixer=_attention(f), mlp=mlp(f), norm_params=2 * hidden_size(f))
    return decoder(f, uniform(f, layer), tie_default=True)


def gemma2(f: Fields) -> ModelSpec:
    """Gemma 2: every second layer slides, the first one included. Source: arXiv:2408.00118, table 1."""
    f.with_defaults("Gemma 2", head_dim=256, sliding_window=4096, max_position_embeddings=8192)
    layers = by_window(f, _attention(f), windows(f, every=2), mlp=mlp(f), norm_params=4 * hidden_size(f))
    return decoder(f, layers, tie_default=True)


def gemma3(f: Fields) -> ModelSpec:
    """Gemma 3: five sliding layers to one full, a norm on each query and key head. Source: arXiv:2503.19786, section 2.

    The published files of the 4B to 27B models leave out what equals the defaults of the software.
    """
    f.with_defaults(
        "Gemma 3",
        vocab_size=262_208,
        num_attention_heads=8,
        num_key_value_heads=4,
        head_dim=256,
        max_position_embeddings=131_072,
        sliding_window=4096,
    )
    every = f.integer("sliding_window_pattern", default=6, purpose="every how many layers one sees everything")
    attention = _attention(f, qk_norm="head")
    layers = by_window(f, attention, windows(f, every=every), mlp=mlp(f), norm_params=4 * hidden_size(f))
    return decoder(f, layers, tie_default=True)
