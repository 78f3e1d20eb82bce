"""Mixtral: Mistral with eight experts of full MLP width."""

from __future__ import annotations

from core.hf_config.fields import Fields
from core.hf_config.frame import by_window, decoder, window_size
from core.hf_config.parts import gqa, hidden_size, moe, num_layers
from core.model_spec import ModelSpec


def mixtral(f: Fields) -> ModelSpec:
    """Mixtral 8x7B and 8x22B. Source: Jiang et al. 2024, arXiv:2401.04088, table 1."""
    window = window_size(f) if f.has("sliding_window") else None
    experts = moe(f, width=f.integer("intermediate_size"))
    layers = by_window(f, gqa(f), [window] * num_layers(f), mlp=experts, norm_params=2 * hidden_size(f))
    return decoder(f, layers)
