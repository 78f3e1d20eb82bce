"""What mixing tokens costs: attention scores and values, an indexer's choice, updates and reads of a constant state.

These FLOPs belong to no weight. Each is for one token of one layer, averaged over a sequence or at its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats
from core.kv_layers import heads_per_gpu
from core.model_spec import (
    Attention,
    CompressedAttention,
    Indexer,
    LatentAttention,
    LinearAttention,
    Mixer,
    StateSpace,
)

# "causal": the mean over a sequence's queries of the tokens each sees. "full": every query charged with all tokens that
# the last one sees, as papers count that ignore the mask. "last": the last query alone, a decode step.
View = Literal["causal", "full", "last"]


@dataclass(frozen=True, slots=True)
class Mixing:
    """One product of token mixing, for one token of one layer on one GPU."""

    label: str
    kind: Literal["attention", "indexer", "state"]
    heads: Floats
    widths: tuple[int, ...]  # of the vectors that a head multiplies: with a key and a value, or with a row of the state
    rows: Floats | int  # how often: tokens or entries seen, or rows of the state

    @property
    def flops(self) -> Floats:
        """A multiplication and an addition for each element. [FLOP per token]"""
        return 2 * self.heads * sum(self.widths) * self.rows

    @property
    def score_flops(self) -> Floats:
        """Of attention, the products with keys, which a tiled backward pass makes again. [FLOP per token]"""
        return 2 * self.heads * self.widths[0] * self.rows


def visible_tokens(seq_len: ArrayLike, view: View, *, limit: int | None = None, chunked: bool = False) -> Floats:
    """Tokens that a query sees, itself included, among those of its sequence.

    Args:
        seq_len: tokens of the sequence. [tokens]
        view: which queries, see :data:`View`.
        limit: at most so many: a window, a chunk, or the top k of an indexer. [tokens]
        chunked: the limit is that of chunks, of which a query sees its own from its start. The last query is charged
            with a full chunk, the most that its cache holds.

    Returns:
        [tokens]. Without a limit and causal, the mean of 1, 2, ..., n is (n + 1) / 2.
    """
    n = np.asarray(seq_len, dtype=np.float64)
    most = n if limit is None else np.minimum(n, limit)
    if view != "causal":
        return most
    if chunked and limit is not None:
        chunks, rest = np.divmod(n, limit)
        return np.asarray((chunks * limit * (limit + 1) + rest * (rest + 1)) / (2 * n))
    return most - most * (most - 1) / (2 * n)  # the first `most` queries see 1, 2, ...; all others see `most`


def pooled_entries(seq_len: ArrayLike, view: View, *, ratio: int, limit: int | None = None) -> Floats:
    """Pooled entries that a query sees: one for each full ``ratio`` tokens up to it, at most ``limit``. [entries]"""
    n = np.asarray(seq_len, dtype=np.float64)
    if view != "causal":
        entries = n // ratio
        return entries if limit is None else np.minimum(entries, limit)
    ramp = n if limit is None else np.minimum(n, limit * ratio)  # queries before the limit is reached
    steps = ramp // ratio
    seen = ratio * steps * (steps - 1) / 2 + steps * (ramp - steps * ratio + 1)
    return (seen + (n - ramp) * (limit or 0)) / n


def mixing(
    mixer: Mixer, seq_len: ArrayLike, view: View, *, tensor_parallel: ArrayLike = 1, absorbed: bool = False
) -> Iterator[Mixing]:
    """All products of one layer's token mixing.

    Attention multiplies a query with each visible key and each weight with its value: two FLOP for each element of
    both. Absorbed latent attention does so in the latent's space. Linear attention and Mamba-2 count the multiply-adds
    of their recurrence, by which the model is defined: an update of the state and a read, and for delta rules the read
    of what the key already holds. Kernels work in chunks and do more; decays and gates are elementwise and left out.

    Sources: Dao and Gu 2024, arXiv:2405.21060; Yang et al. 2024, arXiv:2412.06464, equation 10; DeepSeek-V2,
    arXiv:2405.04434, appendix C (absorption); indexer: DeepSeek-V3.2 report, section 2.1, equation 1.
    """
    gpus = np.asarray(tensor_parallel, dtype=np.float64)
    match mixer:
        case Attention():
            seen = visible_tokens(seq_len, view, limit=mixer.window, chunked=mixer.window_kind == "chunked")
            heads = heads_per_gpu(mixer.num_heads, gpus)
            yield Mixing("attention", "attention", heads, (mixer.head_dim, mixer.v_head_dim), seen)
        case LatentAttention():
            chosen = mixer.indexer.top_k if mixer.indexer else mixer.shared_top_k
            seen = visible_tokens(seq_len, view, limit=chosen)
            widths = latent_widths(mixer, absorbed=absorbed)
            yield Mixing("attention", "attention", heads_per_gpu(mixer.num_heads, gpus), widths, seen)
            if mixer.indexer:
                yield _choice(mixer.indexer, visible_tokens(seq_len, view))
        case CompressedAttention():
            seen = visible_tokens(seq_len, view, limit=mixer.window)
            if mixer.ratio:
                top_k = mixer.indexer.top_k if mixer.indexer else None
                seen = seen + pooled_entries(seq_len, view, ratio=mixer.ratio, limit=top_k)
            widths = (mixer.head_dim, mixer.head_dim)  # one vector is key and value
            yield Mixing("attention", "attention", heads_per_gpu(mixer.num_heads, gpus), widths, seen)
            if mixer.indexer:
                yield _choice(mixer.indexer, pooled_entries(seq_len, view, ratio=mixer.ratio))
        case LinearAttention():
            products = 2 if mixer.rule == "lightning" else 3
            rows = (mixer.key_head_dim,) * products  # of each value's row of the state
            heads = heads_per_gpu(mixer.num_value_heads, gpus)
            yield Mixing("linear attention", "state", heads, rows, mixer.value_head_dim)
        case StateSpace():
            heads, rows = heads_per_gpu(mixer.num_heads, gpus), (mixer.state_size,) * 2
            yield Mixing("state space", "state", heads, rows, mixer.head_dim)


def latent_widths(mixer: LatentAttention, *, absorbed: bool) -> tuple[int, int]:
    """What a query head multiplies for each token: with the key, and with the value. [elements]"""
    if absorbed:
        return mixer.kv_lora_rank + mixer.qk_rope_head_dim, mixer.kv_lora_rank
    return mixer.qk_nope_head_dim + mixer.qk_rope_head_dim, mixer.v_head_dim


def _choice(indexer: Indexer, candidates: Floats) -> Mixing:
    """Every candidate's key against each indexer head, which every GPU does; and the weighted sum over heads."""
    return Mixing("indexer scores", "indexer", np.asarray(indexer.num_heads), (indexer.head_dim, 1), candidates)
