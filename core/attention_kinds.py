"""Kinds of attention side by side on one model's shape: what each keeps and reads for a sequence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from core.attention_shapes import layer_shapes
from core.kv_cache import kv_bytes, kv_bytes_per_token, state_bytes
from core.kv_reads import kv_read_bytes, state_traffic_bytes
from core.model_spec import Attention, Indexer, LatentAttention, Layer, LinearAttention, Mixer, ModelSpec

LONG = 32_768
GROUP_HEADS = 8  # KV heads of most models that group
WINDOW = 4096  # Mistral 7B v0.1 in every layer; Gemma 3 has 1,024 in five of six
LATENT, ROPE = 512, 64  # DeepSeek-V2 and V3
TOP_K, INDEX_HEADS, INDEX_WIDTH = 2048, 64, 128  # DeepSeek-V3.2


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind: what it is, and its bytes for one sequence of :data:`LONG` tokens, all layers."""

    name: str
    about: str
    model: ModelSpec
    first_token_bytes: float  # what a token adds while every layer grows
    token_bytes: float  # what token number LONG adds
    state_bytes: float  # constant
    cache_bytes: float  # growing part and constant one
    read_bytes: float  # to decode one more token


@lru_cache(maxsize=32)
def kinds(model: ModelSpec, kv_dtype: str = "bf16") -> tuple[Kind, ...]:
    """The model as it is, then every kind in all of its token-mixing layers; empty where it has no attention heads."""
    shapes = layer_shapes(model)
    if not shapes:
        return ()
    heads, width = shapes[0].heads, shapes[0].v_head_dim
    groups = _group_heads(heads, shapes[0].kv_heads)

    def attention(kv_heads: int, window: int | None = None) -> Attention:
        return Attention(num_heads=heads, num_kv_heads=kv_heads, head_dim=width, v_head_dim=width, window=window)

    def latent(indexer: Indexer | None = None) -> LatentAttention:
        return LatentAttention(
            num_heads=heads,
            q_lora_rank=None,
            kv_lora_rank=LATENT,
            qk_nope_head_dim=width,
            qk_rope_head_dim=ROPE,
            v_head_dim=width,
            indexer=indexer,
        )

    linear = LinearAttention(
        rule="gated_delta",
        num_key_heads=heads,
        num_value_heads=heads,
        key_head_dim=width,
        value_head_dim=width,
        conv_kernel=4,
    )
    indexer = Indexer(num_heads=INDEX_HEADS, head_dim=INDEX_WIDTH, top_k=TOP_K)
    variants: list[tuple[str, str, Mixer]] = [
        ("MHA", f"keys and values for each of {heads} heads", attention(heads)),
        ("GQA", _groups_in_words(heads, groups), attention(groups)),
        ("MQA", "one KV head for all", attention(1)),
        ("MLA", f"one latent of {LATENT} + {ROPE} for all heads (DeepSeek-V2)", latent()),
        ("sliding", f"GQA that sees {WINDOW:,} tokens (Mistral 7B v0.1)", attention(groups, WINDOW)),
        ("sparse", f"MLA that reads {TOP_K:,} chosen tokens (DeepSeek-V3.2)", latent(indexer)),
        ("linear", f"gated delta rule: a {width} x {width} state a head, no cache", linear),
    ]
    own = _kind("as it is", model.name, model, kv_dtype)
    return own, *(_kind(name, about, _all_layers(model, mixer, name), kv_dtype) for name, about, mixer in variants)


def _group_heads(heads: int, own: int) -> int:
    """The model's own KV heads if it groups, else the most up to eight, fewer than heads, that share them evenly."""
    if 1 < own < heads:
        return own
    return max(groups for groups in range(1, max(min(GROUP_HEADS, heads - 1), 1) + 1) if heads % groups == 0)


def _groups_in_words(heads: int, groups: int) -> str:
    if groups == 1:
        return f"1 KV head for all {heads}: they have no other divisor up to {GROUP_HEADS}"
    each = heads // groups
    return f"{groups} KV heads, each for {each} query head{'s' if each > 1 else ''}"


def _all_layers(model: ModelSpec, mixer: Mixer, name: str) -> ModelSpec:
    """A model of this mixer alone, in as many layers as mix tokens here."""
    count = sum(layer.mixer is not None for layer in model.layers)
    return ModelSpec(
        id=f"example/{name}",
        name=name,
        model_type="example",
        hidden_size=model.hidden_size,
        vocab_size=model.vocab_size,
        tie_word_embeddings=True,
        max_position_embeddings=model.max_position_embeddings,
        layers=(Layer(mixer=mixer),) * count,
    )


def _kind(name: str, about: str, model: ModelSpec, kv_dtype: str) -> Kind:
    state = float(state_bytes(model))
    options = {"kv_dtype": kv_dtype, "indexer": "included"}
    return Kind(
        name=name,
        about=about,
        model=model,
        first_token_bytes=float(kv_bytes_per_token(model, 1, **options)),  # type: ignore[arg-type]
        token_bytes=float(kv_bytes_per_token(model, LONG, **options)),  # type: ignore[arg-type]
        state_bytes=state,
        cache_bytes=float(kv_bytes(model, LONG, **options)) + state,  # type: ignore[arg-type]
        read_bytes=float(kv_read_bytes(model, LONG, kv_dtype=kv_dtype)) + float(state_traffic_bytes(model)),
    )
