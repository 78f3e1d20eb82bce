"""Gemma 3n: per-layer embeddings, a low-rank bypass (LAuReL) and alternating updates (AltUp) around each layer."""

from __future__ import annotations

from core.hf_config.fields import Fields
from core.hf_config.frame import decoder, each_once, window_size
from core.hf_config.gemma4 import FULL, kinds, per_layer_inputs, shared_layers
from core.hf_config.parts import gqa, hidden_size, mlp, num_layers
from core.model_spec import Layer, ModelSpec


def widths(f: Fields) -> list[int]:
    """MLP width of each layer: one number for all, or a list."""
    name, value = f.find("intermediate_size")
    if not isinstance(value, list | tuple):
        return [f.integer("intermediate_size")] * num_layers(f)
    entries = f.items("intermediate_size", length=num_layers(f)) or []
    return [f.whole(f"{name}[{index}]", entry, purpose="an MLP's width") for index, entry in enumerate(entries)]


def gemma3n(f: Fields) -> ModelSpec:
    """Gemma 3n E2B and E4B.

    Source: config.json of google/gemma-3n-E4B; the parts follow the model's public implementation in transformers.
    """
    f.with_defaults(
        "Gemma 3n",
        vocab_size=262_400,
        num_attention_heads=8,
        num_key_value_heads=2,
        head_dim=256,
        max_position_embeddings=32_768,
        sliding_window=512,
        vocab_size_per_layer_input=262_144,
        hidden_size_per_layer_input=256,
        num_kv_shared_layers=15,
    )
    hidden = hidden_size(f)
    streams = f.integer("altup_num_inputs", default=4, purpose="the residual copies of AltUp")
    rank = f.integer("laurel_rank", default=64, purpose="the rank of the bypass")
    inside, tables, beside = per_layer_inputs(f, hidden)
    # AltUp predicts and corrects n copies: n x n^2 and n x n coefficients from a router, its norm, an output scale.
    altup = streams**3 + streams**2 + hidden * streams + 2 * hidden
    extras = (*inside, ("low-rank bypass (LAuReL)", 2 * hidden * rank + hidden), ("alternating updates (AltUp)", altup))

    def layer(key: tuple[str, bool, int]) -> Layer:
        kind, shared, width = key
        window = None if kind == FULL else window_size(f)
        mixer = gqa(f, qk_norm="head", v_norm=True, window=window, shares_kv=shared)
        return Layer(mixer=mixer, mlp=mlp(f, width=width), norm_params=4 * hidden, extras=extras)

    layers = each_once(zip(kinds(f, every=5), shared_layers(f), widths(f), strict=True), layer)
    copies = (("projections to and from the AltUp copies", 2 * (streams - 1) * hidden * hidden),)
    return decoder(f, layers, tie_default=True, lookup_tables=tables, embedding_extras=(*beside, *copies))
