"""Llama and those that differ from it by a flag: RMSNorm, rotary positions, gated MLP, grouped-query attention."""

from __future__ import annotations

from core.hf_config.fields import Fields
from core.hf_config.frame import by_window, decoder, window_size, windows
from core.hf_config.parts import gqa, hidden_size, mlp, num_layers
from core.model_spec import ModelSpec


def llama(f: Fields) -> ModelSpec:
    """Llama 1 to 3, Yi, SmolLM3, Seed-OSS and kin; biases where the config asks for them.

    Source: Touvron et al. 2023, arXiv:2302.13971, section 2.2; Grattafiori et al. 2024, arXiv:2407.21783, table 3.
    """
    bias = f.flag("attention_bias")
    attention = gqa(f, qkv_bias=bias, output_bias=f.flag("attention_out_bias", default=bias))
    dense = mlp(f, bias=f.flag("mlp_bias"))
    return decoder(f, by_window(f, attention, windows(f), mlp=dense, norm_params=2 * hidden_size(f)))


def mistral(f: Fields) -> ModelSpec:
    """Mistral: Llama whose layers all slide where ``sliding_window`` is set.

    Source: Jiang et al. 2023, arXiv:2310.06825, section 2.
    """
    if f.has("layer_types"):
        return llama(f)
    window = window_size(f) if f.has("sliding_window") else None
    layers = by_window(f, gqa(f), [window] * num_layers(f), mlp=mlp(f), norm_params=2 * hidden_size(f))
    return decoder(f, layers)
