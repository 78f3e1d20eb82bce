"""DeepSeek-V4: a short exact window and pooled older entries, hyper-connections instead of one residual stream."""

from __future__ import annotations

from core.hf_config.deepseek import deepseek_experts, read_indexer
from core.hf_config.errors import ConfigError
from core.hf_config.fields import Fields
from core.hf_config.frame import decoder, each_once, layer_types, window_size
from core.hf_config.parts import hidden_size, num_layers
from core.model_spec import CompressedAttention, Layer, ModelSpec

# Kinds of layer by the tokens pooled into one entry; only the finer one has an indexer to choose among entries.
WINDOW, SPARSE, HEAVY = "sliding_attention", "compressed_sparse_attention", "heavily_compressed_attention"
DEFAULT_RATES = {WINDOW: 0, SPARSE: 4, HEAVY: 128}


def ratios(f: Fields) -> list[tuple[int, bool]]:
    """Pooling ratio of each layer and whether an indexer chooses among its entries."""
    count = num_layers(f)
    types = layer_types(f, tuple(DEFAULT_RATES))
    if types is not None:
        given = f.section("compress_rates")
        rates = dict(DEFAULT_RATES)
        for kind in (SPARSE, HEAVY):
            default = DEFAULT_RATES[kind]
            rates[kind] = given.integer(kind, default=default, purpose="tokens a pooled entry") if given else default
        return [(rates[kind], kind == SPARSE) for kind in types]
    listed = f.items("compress_ratios")
    if listed is None:
        raise f.missing("compress_ratios", "for each layer, how many older tokens are pooled into one cached entry")
    if len(listed) not in (count, count + 1):  # the file also lists the multi-token-prediction layer
        raise ConfigError(
            f"{f.path}compress_ratios has {len(listed)} entries but num_hidden_layers={count}; "
            "give one entry a layer (and at most one for the multi-token-prediction layer)"
        )
    known = tuple(DEFAULT_RATES.values())
    f.each("compress_ratios", listed, known, "is a kind of layer whose memory is not modelled")
    return [(int(ratio), ratio == DEFAULT_RATES[SPARSE]) for ratio in listed[:count]]


def deepseek_v4(f: Fields) -> ModelSpec:
    """DeepSeek-V4-Flash and Pro. Source: DeepSeek-AI 2026, DeepSeek-V4 report, section 2; config.json of V4-Flash."""
    kinds = ratios(f)
    head = f.integer("head_dim")
    heads = f.integer("num_attention_heads")
    groups = f.integer("o_groups", purpose="the head groups of the output projection")
    if heads % groups:
        raise ConfigError(f"{f.path}o_groups={groups} does not divide num_attention_heads={heads}; choose a divisor")
    experts = deepseek_experts(f)

    def layer(kind: tuple[int, bool]) -> Layer:
        ratio, indexed = kind
        mixer = CompressedAttention(
            num_heads=heads,
            head_dim=head,
            qk_rope_head_dim=f.integer("qk_rope_head_dim", default=64, purpose="the rotary part of a head"),
            q_lora_rank=f.integer("q_lora_rank", purpose="the width of the query latent"),
            o_groups=groups,
            o_lora_rank=f.integer("o_lora_rank", purpose="the width of a head group's output latent"),
            window=window_size(f),
            ratio=ratio,
            indexer=read_indexer(f) if indexed else None,
        )
        return Layer(mixer=mixer, mlp=experts, norm_params=2 * hidden_size(f))

    hashed = f.integer("num_hash_layers", default=0, minimum=0, purpose="the layers that route by a table of tokens")
    if hashed:
        f.note(f"{hashed} layers route by a fixed table of tokens (num_hash_layers); the table is no trained weight.")
    streams = f.integer("hc_mult", default=4, purpose="the residual streams of the hyper-connections")
    return decoder(f, each_once(kinds, layer), residual_streams=streams)
