"""The GPT line of 2019 to 2022: LayerNorm with bias, ungated MLPs, learned or relative positions."""

from __future__ import annotations

from core.hf_config.fields import Fields
from core.hf_config.frame import by_window, decoder, uniform
from core.hf_config.parts import gqa, hidden_size, mlp, num_layers
from core.model_spec import Attention, Layer, ModelSpec


def _width(f: Fields) -> int:
    """MLP width; four hidden sizes where the file leaves it out."""
    return f.integer("intermediate_size", default=4 * hidden_size(f))


def _block(f: Fields, attention: Attention, *, norms: int = 2, mlp_bias: bool = True) -> Layer:
    """A layer with LayerNorms, each with weight and bias."""
    dense = mlp(f, width=_width(f), gated=False, bias=mlp_bias)
    return Layer(mixer=attention, mlp=dense, norm_params=2 * norms * hidden_size(f))


def gpt2(f: Fields) -> ModelSpec:
    """GPT-2, and GPT-3-like shapes. Sources: Radford et al. 2019; Brown et al. 2020, arXiv:2005.14165, table 2.1."""
    attention = gqa(f, kv_heads=f.integer("num_attention_heads"), qkv_bias=True, output_bias=True)
    rows = f.integer("max_position_embeddings")
    layers = uniform(f, _block(f, attention))
    return decoder(f, layers, tie_default=True, position_embeddings=rows, final_norm=2 * hidden_size(f))


def gpt_bigcode(f: Fields) -> ModelSpec:
    """StarCoder 1 and SantaCoder: GPT-2 with one key/value head. Source: arXiv:2305.06161, section 4.2."""
    kv_heads = 1 if f.flag("multi_query", default=True) else f.integer("num_attention_heads")
    attention = gqa(f, kv_heads=kv_heads, qkv_bias=True, output_bias=True)
    rows = f.integer("max_position_embeddings")
    layers = uniform(f, _block(f, attention))
    return decoder(f, layers, tie_default=True, position_embeddings=rows, final_norm=2 * hidden_size(f))


def gptj(f: Fields) -> ModelSpec:
    """GPT-J: one norm for attention and MLP side by side, biases only in the MLP and the head."""
    attention = gqa(f, kv_heads=f.integer("num_attention_heads"))
    layers = uniform(f, _block(f, attention, norms=1))
    return decoder(f, layers, final_norm=2 * hidden_size(f), lm_head_bias=True)


def gpt_neo(f: Fields) -> ModelSpec:
    """GPT-Neo: every second layer sees 256 tokens. Source: config.json of EleutherAI/gpt-neo-2.7B."""
    count = num_layers(f)
    kinds = f.items("attention_layers", length=count) or ["global", "local"] * (count // 2) + ["global"] * (count % 2)
    f.each("attention_layers", kinds, ("global", "local"), "is neither global nor local")
    attention = gqa(f, kv_heads=f.integer("num_attention_heads"), output_bias=True)
    window = f.integer("window_size", default=256, purpose="the tokens that a local layer can see")
    windows = [window if kind == "local" else None for kind in kinds]
    part = mlp(f, width=_width(f), gated=False, bias=True)
    layers = by_window(f, attention, windows, mlp=part, norm_params=4 * hidden_size(f))
    rows = f.integer("max_position_embeddings")
    return decoder(f, layers, tie_default=True, position_embeddings=rows, final_norm=2 * hidden_size(f))


def gpt_neox(f: Fields) -> ModelSpec:
    """GPT-NeoX and Pythia. Source: Black et al. 2022, arXiv:2204.06745, section 2."""
    bias = f.flag("attention_bias", default=True)
    attention = gqa(f, kv_heads=f.integer("num_attention_heads"), qkv_bias=bias, output_bias=bias)
    return decoder(f, uniform(f, _block(f, attention)), final_norm=2 * hidden_size(f))


def opt(f: Fields) -> ModelSpec:
    """OPT: positions start at row 2, so the table has two more. Source: arXiv:2205.01068, table 1."""
    hidden = hidden_size(f)
    bias = f.flag("enable_bias", default=True)
    attention = gqa(f, kv_heads=f.integer("num_attention_heads"), qkv_bias=bias, output_bias=bias)
    affine = f.flag("layer_norm_elementwise_affine", default=True)
    layer = _block(f, attention, norms=2 if affine else 0, mlp_bias=bias)
    final = f.flag("do_layer_norm_before", default=True) and not f.flag("_remove_final_layer_norm") and affine
    width = f.integer("word_embed_proj_dim", default=hidden, purpose="the width of the embedding")
    projections = (("projections in and out", 2 * width * hidden),) if width != hidden else ()
    return decoder(
        f,
        uniform(f, layer),
        tie_default=True,
        position_embeddings=f.integer("max_position_embeddings") + 2,
        final_norm=2 * hidden if final else 0,
        embedding_size=width if width != hidden else None,
        embedding_extras=projections,
    )


def bloom(f: Fields) -> ModelSpec:
    """BLOOM: ALiBi, so no position table; a norm after the embedding. Source: arXiv:2211.05100, section 3.2."""
    f.with_defaults("BLOOM", max_position_embeddings=2048)
    hidden = hidden_size(f)
    attention = gqa(f, kv_heads=f.integer("num_attention_heads"), qkv_bias=True, output_bias=True)
    norm = (("norm of the embedding", 2 * hidden),)
    layers = uniform(f, _block(f, attention))
    return decoder(f, layers, tie_default=True, final_norm=2 * hidden, embedding_extras=norm)


def mpt(f: Fields) -> ModelSpec:
    """MPT: no biases at all, ALiBi. Source: config.json of mosaicml/mpt-7b."""
    hidden = hidden_size(f)
    ratio = f.integer("expansion_ratio", default=4, purpose="the MLP's width in hidden sizes")
    attention = gqa(f, kv_heads=f.integer("num_attention_heads"))
    layer = Layer(mixer=attention, mlp=mlp(f, width=ratio * hidden, gated=False), norm_params=2 * hidden)
    return decoder(f, uniform(f, layer), tie_default=True)


def falcon(f: Fields) -> ModelSpec:
    """Falcon: one or a few key/value heads, attention and MLP side by side. Source: arXiv:2311.16867, table 14."""
    f.with_defaults("Falcon", max_position_embeddings=2048)
    heads = f.integer("num_attention_heads")
    new = f.flag("new_decoder_architecture")
    parallel = f.flag("parallel_attn", default=True)
    kv_heads = f.integer("num_key_value_heads", default=heads) if new else heads
    if not new and f.flag("multi_query", default=True):
        kv_heads = 1
    bias = f.flag("bias")
    norms = f.integer("num_ln_in_parallel_attn", default=2 if new else 1, purpose="norms of a layer")
    attention = gqa(f, heads=heads, kv_heads=kv_heads, qkv_bias=bias, output_bias=bias)
    layer = _block(f, attention, norms=norms if parallel else 2, mlp_bias=bias)
    return decoder(f, uniform(f, layer), tie_default=True, final_norm=2 * hidden_size(f))
