"""Families of 2023 to 2026 that differ from Llama in norms, biases or the order of windows."""

from __future__ import annotations

from core.hf_config.errors import ConfigError
from core.hf_config.fields import Fields, show
from core.hf_config.frame import by_window, decoder, uniform, window_size, windows
from core.hf_config.parts import gqa, hidden_size, mlp, num_layers
from core.model_spec import Layer, ModelSpec


def tied_llama(f: Fields) -> ModelSpec:
    """SmolLM3: Llama whose head is the embedding unless the file says otherwise."""
    bias = f.flag("attention_bias")
    attention = gqa(f, qkv_bias=bias, output_bias=bias)
    dense = mlp(f, bias=f.flag("mlp_bias"))
    return decoder(f, by_window(f, attention, windows(f), mlp=dense, norm_params=2 * hidden_size(f)), tie_default=True)


def seed_oss(f: Fields) -> ModelSpec:
    """Seed-OSS: biases on queries, keys and values, not on the output. Source: config.json of Seed-OSS-36B-Base."""
    f.with_defaults("Seed-OSS", head_dim=128)
    qkv, output = f.flag("attention_bias", default=True), f.flag("attention_out_bias")
    layer = Layer(
        mixer=gqa(f, qkv_bias=qkv, output_bias=output),
        mlp=mlp(f, bias=f.flag("mlp_bias")),
        norm_params=2 * hidden_size(f),
    )
    return decoder(f, uniform(f, layer))


def cohere(f: Fields) -> ModelSpec:
    """Command R: attention and MLP side by side under one norm without bias.

    Source: config.json of CohereForAI/c4ai-command-r-v01.
    """
    norm = "width" if f.flag("use_qk_norm") else "none"
    bias = f.flag("attention_bias")
    attention = gqa(f, qk_norm=norm, qkv_bias=bias, output_bias=bias)
    return decoder(f, uniform(f, Layer(mixer=attention, mlp=mlp(f), norm_params=hidden_size(f))), tie_default=True)


def cohere2(f: Fields) -> ModelSpec:
    """Command R7B and A: three sliding layers to one full. Source: arXiv:2504.00698, section 2."""
    every = f.integer("sliding_window_pattern", default=4, purpose="every how many layers one sees everything")
    bias = f.flag("attention_bias")
    attention = gqa(f, qkv_bias=bias, output_bias=bias)
    layers = by_window(f, attention, windows(f, every=every), mlp=mlp(f), norm_params=hidden_size(f))
    return decoder(f, layers, tie_default=True)


def exaone4(f: Fields) -> ModelSpec:
    """EXAONE 4: norms after attention and MLP; the pattern is a number or letters, L sliding and G full.

    Source: LG AI Research 2025, arXiv:2507.11407, section 2.
    """
    pattern = f.raw.get("sliding_window_pattern")
    every: int | None = None
    if f.has("sliding_window") and not f.has("layer_types"):
        if isinstance(pattern, str):
            if not pattern or pattern.strip("L") not in ("", "G") or not pattern.endswith("G"):
                raise f.fail(
                    "sliding_window_pattern", pattern, "is not a run of L ended by G", 'write for example "LLLG"'
                )
            every = len(pattern)
        else:
            every = f.integer("sliding_window_pattern", default=4, purpose="every how many layers one sees everything")
    layers = by_window(f, gqa(f, qk_norm="head"), windows(f, every=every), mlp=mlp(f), norm_params=2 * hidden_size(f))
    return decoder(f, layers)


def starcoder2(f: Fields) -> ModelSpec:
    """StarCoder 2: biases, LayerNorm, ungated MLP, all layers sliding. Source: arXiv:2402.19173, table 8."""
    bias = f.flag("use_bias", default=True)
    hidden = hidden_size(f)
    sees = [window_size(f)] * num_layers(f) if f.has("sliding_window") else windows(f)
    attention = gqa(f, qkv_bias=bias, output_bias=bias)
    layers = by_window(f, attention, sees, mlp=mlp(f, gated=False, bias=bias), norm_params=4 * hidden)
    return decoder(f, layers, tie_default=True, final_norm=2 * hidden)


def stablelm(f: Fields) -> ModelSpec:
    """StableLM 3B to 12B: LayerNorm with bias, one a layer where attention and MLP run side by side."""
    hidden = hidden_size(f)
    norm = "width" if f.flag("qk_layernorm") else "none"
    norms = 1 if f.flag("use_parallel_residual") else 2
    attention = gqa(f, qkv_bias=f.flag("use_qkv_bias"), qk_norm=norm)
    layer = Layer(mixer=attention, mlp=mlp(f), norm_params=2 * norms * hidden)
    return decoder(f, uniform(f, layer), final_norm=2 * hidden)


def nemotron(f: Fields) -> ModelSpec:
    """Nemotron-4 and Minitron: squared ReLU without a gate, LayerNorm with bias. Source: arXiv:2402.16819, table 1."""
    hidden = hidden_size(f)
    bias = f.flag("attention_bias")
    dense = mlp(f, gated=False, bias=f.flag("mlp_bias"))
    layer = Layer(mixer=gqa(f, qkv_bias=bias, output_bias=bias), mlp=dense, norm_params=4 * hidden)
    return decoder(f, uniform(f, layer), final_norm=2 * hidden)


def arcee(f: Fields) -> ModelSpec:
    """AFM-4.5B: Llama with squared ReLU and no gate."""
    bias = f.flag("attention_bias")
    dense = mlp(f, gated=False, bias=f.flag("mlp_bias"))
    layer = Layer(mixer=gqa(f, qkv_bias=bias, output_bias=bias), mlp=dense, norm_params=2 * hidden_size(f))
    return decoder(f, uniform(f, layer))


def apertus(f: Fields) -> ModelSpec:
    """Apertus: no gate, a norm on each query and key head, two trained numbers in the activation. arXiv:2509.14233."""
    bias = f.flag("attention_bias")
    attention = gqa(f, qkv_bias=bias, output_bias=bias, qk_norm="head")
    extras = (("activation", 2),)
    layer = Layer(mixer=attention, mlp=mlp(f, gated=False), norm_params=2 * hidden_size(f), extras=extras)
    return decoder(f, uniform(f, layer))


def palm(f: Fields) -> ModelSpec:
    """PaLM, which never had a config.json: one norm a layer, gated MLP, one key/value head, no biases.

    Source: Chowdhery et al. 2022, arXiv:2204.02311, table 1 and section 2.
    """
    layer = Layer(mixer=gqa(f), mlp=mlp(f), norm_params=hidden_size(f))
    return decoder(f, uniform(f, layer), tie_default=True)


def hunyuan(f: Fields) -> ModelSpec:
    """Hunyuan dense: Llama with a norm on each query and key head. Source: config.json of Hunyuan-7B-Instruct."""
    if f.flag("use_cla"):
        share = show(f.raw.get("cla_share_factor"))
        raise ConfigError(f"use_cla=true: layers share caches (cla_share_factor={share}) in a way that is not modelled")
    bias = f.flag("attention_bias")
    attention = gqa(
        f, qk_norm="head" if f.flag("use_qk_norm", default=True) else "none", qkv_bias=bias, output_bias=bias
    )
    return decoder(f, uniform(f, Layer(mixer=attention, mlp=mlp(f), norm_params=2 * hidden_size(f))))
