"""gpt-oss: alternating windows, attention sinks, biases everywhere."""

from __future__ import annotations

from core.hf_config.fields import Fields
from core.hf_config.frame import by_window, decoder, windows
from core.hf_config.parts import gqa, hidden_size, moe
from core.model_spec import ModelSpec


def gpt_oss(f: Fields) -> ModelSpec:
    """gpt-oss-20b and 120b. Source: OpenAI 2025, gpt-oss model card, arXiv:2508.10925, section 2 and table 1."""
    f.with_defaults("gpt-oss", head_dim=64, sliding_window=128)
    bias = f.flag("attention_bias", default=True)
    attention = gqa(f, sinks=True, qkv_bias=bias, output_bias=bias)
    experts = moe(f, width=f.integer("intermediate_size"), expert_bias=True, router_bias=True)
    layers = by_window(f, attention, windows(f, every=2), mlp=experts, norm_params=2 * hidden_size(f))
    return decoder(f, layers)
