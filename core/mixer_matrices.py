"""The weight matrices of the token mixer of a layer, on one GPU of a tensor-parallel group.

Heads are split (the fullest GPU's share where they do not divide); latents and indexers lie on every GPU.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats
from core.kv_layers import heads_per_gpu
from core.matrix import Matrix
from core.model_spec import (
    Attention,
    CompressedAttention,
    Indexer,
    LatentAttention,
    LinearAttention,
    LinearMixer,
    Mixer,
    StateSpace,
)

EXPANSION = "keys and values from the latent"  # of MLA; the one product that a cached token may meet again


def attention_matrices(mixer: Attention, hidden_size: int, gpus: Floats) -> Iterator[Matrix]:
    """Query, key and value projections as one product, for they share their input; and the output projection."""
    heads, kv_heads = heads_per_gpu(mixer.num_heads, gpus), heads_per_gpu(mixer.num_kv_heads, gpus)
    queries = heads * mixer.head_dim * (2 if mixer.output_gate else 1)  # the gate is a second set of queries
    if mixer.shares_kv:
        yield Matrix("query projection", hidden_size, queries)
    else:
        made = mixer.head_dim + (0 if mixer.keys_are_values else mixer.v_head_dim)
        yield Matrix("query, key and value projections", hidden_size, queries + kv_heads * made)
    yield Matrix("output projection", heads * mixer.v_head_dim, hidden_size)


def indexer_matrices(indexer: Indexer, hidden_size: int, query_width: int) -> Iterator[Matrix]:
    """Sparse attention's chooser: queries, one key, and a weight for each of its heads."""
    queries = indexer.num_heads * indexer.head_dim
    yield Matrix("indexer queries", query_width, queries, kind="indexer")
    yield Matrix("indexer key and head weights", hidden_size, indexer.head_dim + indexer.num_heads, kind="indexer")


def latent_matrices(mixer: LatentAttention, hidden_size: int, gpus: Floats, *, absorbed: bool) -> Iterator[Matrix]:
    """MLA. Expanded: keys and values of each head are made from the latent. Absorbed: queries go into the latent's

    space instead, and the mixed latents come out of it; the same weights, so as many FLOPs a token.
    """
    heads, rank = heads_per_gpu(mixer.num_heads, gpus), mixer.q_lora_rank
    latent = mixer.kv_lora_rank + mixer.qk_rope_head_dim
    queries = heads * (mixer.qk_nope_head_dim + mixer.qk_rope_head_dim)
    if rank is None:
        yield Matrix("query projection", hidden_size, queries)
        yield Matrix("key/value latent", hidden_size, latent)
    else:
        yield Matrix("query and key/value latents", hidden_size, rank + latent)
        yield Matrix("queries from their latent", rank, queries)
    if absorbed:
        yield Matrix("queries into the latent", mixer.qk_nope_head_dim, mixer.kv_lora_rank, heads, heads)
        yield Matrix("values out of the latent", mixer.kv_lora_rank, mixer.v_head_dim, heads, heads)
    else:
        expanded = heads * (mixer.qk_nope_head_dim + mixer.v_head_dim)
        yield Matrix(EXPANSION, mixer.kv_lora_rank, expanded)
    if mixer.output_gate:
        yield Matrix("output gate", hidden_size, heads * mixer.v_head_dim)
    yield Matrix("output projection", heads * mixer.v_head_dim, hidden_size)
    if mixer.indexer:
        yield from indexer_matrices(mixer.indexer, hidden_size, rank or hidden_size)


def compressed_matrices(mixer: CompressedAttention, hidden_size: int, gpus: Floats) -> Iterator[Matrix]:
    """DeepSeek-V4: query latent, one shared key/value, compressor, and an output projection of groups."""
    heads, groups = heads_per_gpu(mixer.num_heads, gpus), heads_per_gpu(mixer.o_groups, gpus)
    yield Matrix("query latent and shared key/value", hidden_size, mixer.q_lora_rank + mixer.head_dim)
    yield Matrix("queries from their latent", mixer.q_lora_rank, heads * mixer.head_dim)
    if mixer.ratio:  # contents and pooling weights; twice where neighbouring groups overlap
        overlap = 2 if mixer.indexer else 1
        yield Matrix("compressor", hidden_size, 2 * overlap * mixer.head_dim)
    if mixer.indexer:
        yield from indexer_matrices(mixer.indexer, hidden_size, mixer.q_lora_rank)
        # Pooled keys in the place of plain ones: contents and weights, both twice, less the key counted above.
        yield Matrix("compressor of indexer keys", hidden_size, 3 * mixer.indexer.head_dim, kind="indexer")
    yield Matrix(
        "grouped output projection",
        mixer.num_heads * mixer.head_dim / mixer.o_groups,
        mixer.o_lora_rank,
        groups,
        groups,
    )
    yield Matrix("output projection", groups * mixer.o_lora_rank, hidden_size)


def linear_matrices(mixer: LinearAttention, hidden_size: int, gpus: Floats) -> Iterator[Matrix]:
    """Linear attention: projections with the gates that share their input, short convolution, output."""
    key_heads, heads = heads_per_gpu(mixer.num_key_heads, gpus), heads_per_gpu(mixer.num_value_heads, gpus)
    keys, values, narrow = key_heads * mixer.key_head_dim, heads * mixer.value_head_dim, mixer.value_head_dim
    mixed = 2 * keys + values
    low_rank_gate = mixer.rule == "kda" and not mixer.full_rank_gate
    beside = {"gated_delta": 2 * heads, "kda": key_heads, "lightning": 0.0 * heads}[mixer.rule]  # step size, decay
    yield Matrix("query, key, value and gate projections", hidden_size, mixed + beside + values * (not low_rank_gate))
    if mixer.rule == "kda":  # a decay for each channel, through a narrow pair; a low-rank gate has a pair of its own
        pairs = 2 if low_rank_gate else 1
        yield Matrix("decay and gate, narrow", hidden_size, pairs * narrow)
        yield Matrix("decay and gate, wide", narrow, values, pairs, pairs)
    if mixer.conv_kernel:
        yield Matrix("short convolution", mixer.conv_kernel, 1, mixed, mixed, "convolution")
    yield Matrix("output projection", values, hidden_size)


def state_space_matrices(mixer: StateSpace, hidden_size: int, gpus: Floats) -> Iterator[Matrix]:
    """Mamba-2: one projection to gate, input, B, C and step size; convolution; output."""
    heads = heads_per_gpu(mixer.num_heads, gpus)
    inner, groups = heads * mixer.head_dim, heads_per_gpu(mixer.num_groups, gpus)
    convolved = inner + 2 * groups * mixer.state_size
    yield Matrix("input projection", hidden_size, inner + convolved + heads)
    yield Matrix("short convolution", mixer.conv_kernel, 1, convolved, convolved, "convolution")
    yield Matrix("output projection", inner, hidden_size)


def mixer_matrices(
    mixer: Mixer, hidden_size: int, *, tensor_parallel: ArrayLike = 1, absorbed: bool = False
) -> Iterator[Matrix]:
    """All matrices of a token mixer on one GPU; ``absorbed`` is for latent attention."""
    gpus = np.asarray(tensor_parallel, dtype=np.float64)
    match mixer:
        case Attention():
            yield from attention_matrices(mixer, hidden_size, gpus)
        case LatentAttention():
            yield from latent_matrices(mixer, hidden_size, gpus, absorbed=absorbed)
        case CompressedAttention():
            yield from compressed_matrices(mixer, hidden_size, gpus)
        case LinearAttention():
            yield from linear_matrices(mixer, hidden_size, gpus)
        case StateSpace():
            yield from state_space_matrices(mixer, hidden_size, gpus)
        case LinearMixer():
            yield Matrix("matrix", hidden_size, hidden_size / gpus)
