"""Microsoft Phi: 1 to 2 with biases everywhere, 3 and 4 like Llama, Phi-3.5-MoE with both."""

from __future__ import annotations

from core.hf_config.fields import Fields
from core.hf_config.frame import by_window, decoder, uniform, window_size, windows
from core.hf_config.parts import gqa, hidden_size, mlp, moe, num_layers
from core.model_spec import Layer, ModelSpec


def phi(f: Fields) -> ModelSpec:
    """Phi-1.5 and 2: attention and MLP side by side under one norm with bias. Source: arXiv:2309.05463, section 2."""
    hidden = hidden_size(f)
    attention = gqa(f, qkv_bias=True, output_bias=True)
    extras = (("norms of queries and keys", 4 * attention.head_dim),) if f.flag("qk_layernorm") else ()
    layer = Layer(mixer=attention, mlp=mlp(f, gated=False, bias=True), norm_params=2 * hidden, extras=extras)
    return decoder(f, uniform(f, layer), final_norm=2 * hidden, lm_head_bias=True)


def phi3(f: Fields) -> ModelSpec:
    """Phi-3-mini and medium, Phi-4 and 4-mini: no biases; all layers slide where ``sliding_window`` is set.

    Source: arXiv:2404.14219, section 2; config.json of microsoft/phi-4.
    """
    sees = [window_size(f)] * num_layers(f) if f.has("sliding_window") and not f.has("layer_types") else windows(f)
    return decoder(f, by_window(f, gqa(f), sees, mlp=mlp(f), norm_params=2 * hidden_size(f)))


def phimoe(f: Fields) -> ModelSpec:
    """Phi-3.5-MoE: 16 experts of full width, norms with bias. Source: config.json of microsoft/Phi-3.5-MoE-instruct."""
    hidden = hidden_size(f)
    bias = f.flag("attention_bias")
    window = window_size(f) if f.has("sliding_window") else None
    attention = gqa(f, qkv_bias=bias, output_bias=bias, window=window)
    layer = Layer(mixer=attention, mlp=moe(f, width=f.integer("intermediate_size")), norm_params=4 * hidden)
    return decoder(f, uniform(f, layer), final_norm=2 * hidden, lm_head_bias=f.flag("lm_head_bias"))
