"""Operators that mix tokens: attention cores, indexers, constant states; and the cache that they read and write."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from core.attention_io import BACKWARD_PASSES, FORWARD_PASSES
from core.checks import Floats
from core.kv_layers import growing_cache, heads_per_gpu
from core.mixer_params import mixer_label
from core.model_spec import (
    Attention,
    CompressedAttention,
    Indexer,
    LatentAttention,
    LinearAttention,
    Mixer,
    StateSpace,
)
from core.token_mixing import Mixing, latent_widths, mixing, pooled_entries, visible_tokens
from core.work import NOTHING, Operator, Work

SoftmaxMixer = Attention | LatentAttention | CompressedAttention


def mixing_operators(mixer: Mixer, count: int, work: Work, *, absorbed: bool) -> Iterator[Operator]:
    """The products of :func:`core.token_mixing.mixing`, with what they move, for ``count`` equal layers."""
    for part in mixing(mixer, work.seq_len, work.view, tensor_parallel=work.tensor_parallel, absorbed=absorbed):
        match mixer:
            case LatentAttention(indexer=Indexer() as indexer) if part.kind == "indexer":
                yield _indexer(indexer, 1, part, count, work)
            case CompressedAttention(indexer=Indexer() as indexer) if part.kind == "indexer":
                yield _indexer(indexer, mixer.ratio, part, count, work)
            case Attention() | LatentAttention() | CompressedAttention():
                yield _attention(mixer, part, count, work, absorbed=absorbed)
            case LinearAttention() | StateSpace():
                yield _state(mixer, part, count, work)


def cached_elements(mixer: SoftmaxMixer, gpus: Floats, *, absorbed: bool) -> Floats:
    """Elements that attention reads for each token or entry that a query sees. [elements]"""
    shares = isinstance(mixer, Attention) and mixer.shares_kv  # an earlier layer's cache is read all the same
    owner = mixer.model_copy(update={"shares_kv": False}) if shares else mixer
    cache = growing_cache(owner, gpus, expanded=not absorbed)
    assert cache is not None, f"{mixer.kind} keeps keys and values"
    return cache.elements


def seen_entries(mixer: SoftmaxMixer, seq_len: Floats) -> Floats:
    """Entries that the last query of a sequence reads. [entries]"""
    match mixer:
        case LatentAttention():
            return visible_tokens(seq_len, "last", limit=mixer.indexer.top_k if mixer.indexer else mixer.shared_top_k)
        case CompressedAttention():
            seen = visible_tokens(seq_len, "last", limit=mixer.window)
            if mixer.ratio:
                top_k = mixer.indexer.top_k if mixer.indexer else None
                seen = seen + pooled_entries(seq_len, "last", ratio=mixer.ratio, limit=top_k)
            return seen
        case Attention():
            return visible_tokens(seq_len, "last", limit=mixer.window)


def _widths(mixer: SoftmaxMixer, *, absorbed: bool) -> tuple[int, int]:
    """What a query head multiplies for each entry: with the key, and with the value. [elements]"""
    match mixer:
        case Attention():
            return mixer.head_dim, mixer.v_head_dim
        case LatentAttention():
            return latent_widths(mixer, absorbed=absorbed)
        case CompressedAttention():
            return mixer.head_dim, mixer.head_dim


def _attention(mixer: SoftmaxMixer, part: Mixing, count: int, work: Work, *, absorbed: bool) -> Operator:
    """Scores, softmax and values. Queries in, outputs out; keys and values from the cache, or of the same pass."""
    gpus = work.tensor_parallel
    heads, entry = heads_per_gpu(mixer.num_heads, gpus), cached_elements(mixer, gpus, absorbed=absorbed)
    moved = work.tokens * heads * sum(_widths(mixer, absorbed=absorbed))
    cache = NOTHING
    if work.phase == "decode":
        cache = count * work.kv_size * work.batch * entry * seen_entries(mixer, work.seq_len)
    else:
        moved = moved + work.tokens * entry
    forwards = work.forwards("attention")
    flops, passes = forwards * part.flops, float(forwards)
    if work.trains:  # four products; a tiled kernel makes the scores once more
        flops = flops + 2 * part.flops + (part.score_flops if work.fused_attention else 0.0)
        passes += 2  # Q, K, V and O are read again, dO is read, dQ, dK and dV are written
    scores: Floats | float = 0.0
    if not work.fused_attention:
        row = seen_entries(mixer, work.seq_len) if work.phase == "decode" else work.seq_len
        scores = (forwards * FORWARD_PASSES + (BACKWARD_PASSES if work.trains else 0)) * work.tokens * heads * row
    return Operator(
        label=mixer_label(mixer),
        kind="attention",
        count=count * int(passes),
        flops=count * work.tokens * flops,
        weight_bytes=NOTHING,
        activation_bytes=count * work.activation_size * (passes * moved + scores),
        cache_bytes=cache,
    )


def _indexer(indexer: Indexer, ratio: int, part: Mixing, count: int, work: Work) -> Operator:
    """Every candidate's key against the indexer's queries; scores are reduced to the top k on the chip."""
    candidates = pooled_entries(work.seq_len, "last", ratio=ratio)
    queries = work.tokens * (indexer.num_heads * (indexer.head_dim + 1) + indexer.top_k)  # and the choice, written
    keys = work.batch * candidates * indexer.head_dim
    passes = work.forwards("indexer") + (2 if work.trains else 0)
    decodes = work.phase == "decode"
    return Operator(
        label=part.label,
        kind="indexer",
        count=count * passes,
        flops=count * passes * work.tokens * part.flops,
        weight_bytes=NOTHING,
        activation_bytes=count * passes * work.activation_size * (queries + (0.0 if decodes else keys)),
        cache_bytes=count * work.kv_size * keys if decodes else NOTHING,
    )


def _state(mixer: LinearAttention | StateSpace, part: Mixing, count: int, work: Work) -> Operator:
    """Updates of a constant state. Decode reads and writes it; a chunked pass over a sequence writes it at its end."""
    gpus = work.tensor_parallel
    match mixer:
        case LinearAttention():
            keys = heads_per_gpu(mixer.num_key_heads, gpus) * mixer.key_head_dim
            values = heads_per_gpu(mixer.num_value_heads, gpus) * mixer.value_head_dim
            moved, state = 2 * keys + 2 * values, values * mixer.key_head_dim
        case StateSpace():
            inner = heads_per_gpu(mixer.num_heads, gpus) * mixer.head_dim
            groups = heads_per_gpu(mixer.num_groups, gpus) * mixer.state_size
            moved, state = 2 * inner + 2 * groups, inner * mixer.state_size
    passes = work.forwards("state") + (2 if work.trains else 0)
    touched = {"training": 0, "prefill": 1, "decode": 2}[work.phase]
    return Operator(
        label=part.label,
        kind="state",
        count=count * passes,
        flops=count * passes * work.tokens * part.flops,
        weight_bytes=NOTHING,
        activation_bytes=count * passes * work.activation_size * work.tokens * moved,
        cache_bytes=count * touched * work.state_size * work.batch * state * np.ones_like(work.seq_len),
    )
