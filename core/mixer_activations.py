"""What the token mixer of a layer keeps for its backward pass: every kind of attention, linear attention, state space.

Each tensor is kept because some gradient needs it, and says which. Inputs of the projections and norms around the mixer
are common to all kinds and lie in :mod:`core.activations`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from core.kept_tensors import FP32_BYTES, INT32_BYTES, MASK_BYTES, Kept, Run
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

CHUNK_TOKENS = 64  # tokens that the chunked kernels of the delta rules solve together; flash-linear-attention's default


def attention_core(num_heads: int, run: Run) -> Iterator[Kept]:
    """Between Q, K, V and the output: nothing but statistics when tiled, else every score."""
    split = run.by_heads(num_heads)
    if run.fused_attention:  # scores are made again, tile by tile; the statistics rescale them
        yield Kept("softmax statistics", num_heads, split, "to remake the scores", FP32_BYTES, core=True)
        return
    # A plain kernel computes all scores, windows or not: masking hides them, it does not save them.
    scores: ArrayLike = np.asarray(run.seq_len) * num_heads
    yield Kept("attention weights", scores, split, "softmax output: its own gradient, and that of V", core=True)
    if run.dropout:
        yield Kept("dropout mask of the weights", scores, split, "which weights were dropped", MASK_BYTES, core=True)
        yield Kept("attention weights after dropout", scores, split, "gradient of V", core=True)


def attention_tensors(mixer: Attention, run: Run) -> Iterator[Kept]:
    """Full, sliding and chunked attention. A window does not shrink Q, K and V: training holds the whole sequence."""
    split, kv_split = run.by_heads(mixer.num_heads), run.by_heads(mixer.num_kv_heads)
    queries, keys = mixer.num_heads * mixer.head_dim, mixer.num_kv_heads * mixer.head_dim
    values, outputs = mixer.num_kv_heads * mixer.v_head_dim, mixer.num_heads * mixer.v_head_dim
    yield Kept("queries", queries, split, "gradient of K")
    if mixer.qk_norm != "none":
        yield Kept("queries before their norm", queries, split, "gradient of the norm")
    if not mixer.shares_kv:  # else they are an earlier layer's, and counted there
        yield Kept("keys", keys, kv_split, "gradient of Q")
        yield Kept("values", values, kv_split, "gradient of the attention weights")
        if mixer.qk_norm != "none":
            yield Kept("keys before their norm", keys, kv_split, "gradient of the norm")
        if mixer.v_norm:
            yield Kept("values before their norm", values, kv_split, "gradient of the norm")
    yield from attention_core(mixer.num_heads, run)
    if mixer.output_gate:
        yield Kept("output gate", outputs, split, "gradient of the attention output")
        yield Kept("attention output before the gate", outputs, split, "gradient of the gate")
    yield Kept("attention output", outputs, split, "gradient of the output projection")


def indexer_tensors(indexer: Indexer, choices: ArrayLike, run: Run) -> Iterator[Kept]:
    """Sparse attention's chooser: small projections, and which entries each token reads; its own loss is left out."""
    width = indexer.num_heads * indexer.head_dim + indexer.head_dim + indexer.num_heads
    yield Kept("indexer queries, key and head weights", width, run.whole, "gradient of the indexer")
    yield Kept("chosen entries", np.minimum(indexer.top_k, choices), run.whole, "to read them again", INT32_BYTES)


def latent_tensors(mixer: LatentAttention, run: Run) -> Iterator[Kept]:
    """MLA in training: keys and values of every head are expanded, as full attention needs them."""
    split = run.by_heads(mixer.num_heads)
    head = mixer.qk_nope_head_dim + mixer.qk_rope_head_dim
    outputs = mixer.num_heads * mixer.v_head_dim
    if mixer.q_lora_rank is not None:
        yield Kept("query latent, before and after its norm", 2 * mixer.q_lora_rank, run.whole, "norm, up-projection")
    yield Kept("key/value latent, before and after its norm", 2 * mixer.kv_lora_rank, run.whole, "norm, up-projection")
    yield Kept("queries", mixer.num_heads * head, split, "gradient of K")
    yield Kept("keys", mixer.num_heads * head, split, "gradient of Q")
    yield Kept("values", outputs, split, "gradient of the attention weights")
    if mixer.indexer:
        yield from indexer_tensors(mixer.indexer, run.seq_len, run)
    yield from attention_core(mixer.num_heads, run)
    if mixer.output_gate:
        yield Kept("output gate", outputs, split, "gradient of the attention output")
        yield Kept("attention output before the gate", outputs, split, "gradient of the gate")
    yield Kept("attention output", outputs, split, "gradient of the output projection")


def compressed_tensors(mixer: CompressedAttention, run: Run) -> Iterator[Kept]:
    """DeepSeek-V4's windowed and pooled attention; an estimate, as its training kernels are not published."""
    split = run.by_heads(mixer.num_heads)
    heads = mixer.num_heads * mixer.head_dim
    yield Kept("query latent, before and after its norm", 2 * mixer.q_lora_rank, run.whole, "norm, up-projection")
    yield Kept("queries", heads, split, "gradient of the entries")
    yield Kept("shared key/value, before and after its norm", 2 * mixer.head_dim, run.whole, "norm, gradient of Q")
    if mixer.ratio:
        overlap = 2 if mixer.indexer else 1  # neighbouring groups overlap where an indexer chooses among entries
        yield Kept("pooling contents and weights", 2 * overlap * mixer.head_dim, run.whole, "gradient of the pooling")
        yield Kept("pooled entries", mixer.head_dim / mixer.ratio, run.whole, "gradient of Q")
        if mixer.indexer:
            yield from indexer_tensors(mixer.indexer, np.ceil(np.asarray(run.seq_len) / mixer.ratio), run)
    yield from attention_core(mixer.num_heads, run)
    yield Kept("attention output", heads, split, "gradient of the grouped projection")
    grouped = mixer.o_groups * mixer.o_lora_rank
    yield Kept("grouped output", grouped, run.by_heads(mixer.o_groups), "gradient of the output projection")


def linear_tensors(mixer: LinearAttention, run: Run) -> Iterator[Kept]:
    """Chunked linear attention: no scores and no state a token; states between chunks are computed again."""
    keys = mixer.num_key_heads * mixer.key_head_dim
    values = mixer.num_value_heads * mixer.value_head_dim
    split = run.by_heads(mixer.num_value_heads)
    if mixer.conv_kernel:
        yield Kept("input of the short convolution", 2 * keys + values, split, "gradient of the convolution")
    yield Kept("queries, keys and values", 2 * keys + values, split, "gradients of each other")
    if mixer.rule == "kda":  # decay for each key channel
        yield Kept("decay of each channel", keys, split, "gradient of the state", FP32_BYTES)
    if mixer.rule == "gated_delta":
        yield Kept("decay of each head", mixer.num_value_heads, split, "gradient of the state", FP32_BYTES)
    if mixer.rule != "lightning":
        yield Kept("step size of each head", mixer.num_value_heads, split, "gradient of the delta rule", FP32_BYTES)
        solved = mixer.num_value_heads * CHUNK_TOKENS
        yield Kept("inverse of each chunk", solved, split, "the delta rule, solved a chunk at a time")
    yield Kept("output gate", values, split, "gradient of the mixed values")
    yield Kept("mixed values, before the norm and gate", values, split, "gradient of the norm and gate")
    yield Kept("mixed values", values, split, "gradient of the output projection")


def state_space_tensors(mixer: StateSpace, run: Run) -> Iterator[Kept]:
    """Mamba-2's combined kernel: it keeps its one projection and makes convolution and states again."""
    inner = mixer.num_heads * mixer.head_dim
    projected = 2 * inner + 2 * mixer.num_groups * mixer.state_size + mixer.num_heads
    split = run.by_heads(mixer.num_heads)
    yield Kept("gate, input, B, C and step size", projected, split, "to remake convolution and states")
    yield Kept("scanned values, before the norm and gate", inner, split, "gradient of the norm and gate")
    yield Kept("scanned values", inner, split, "gradient of the output projection")


def mixer_tensors(mixer: Mixer, run: Run) -> Iterator[Kept]:
    """All of a mixer's own tensors, in the order in which the forward pass makes them."""
    match mixer:
        case Attention():
            yield from attention_tensors(mixer, run)
        case LatentAttention():
            yield from latent_tensors(mixer, run)
        case CompressedAttention():
            yield from compressed_tensors(mixer, run)
        case LinearAttention():
            yield from linear_tensors(mixer, run)
        case StateSpace():
            yield from state_space_tensors(mixer, run)
        case LinearMixer():  # its input is all that its gradient needs
            return
