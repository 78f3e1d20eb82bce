"""What a sequence keeps between decode steps: keys and values that grow with its length, and states that do not.

Conventions in which papers and engines differ are options (:class:`KvOptions`), each with its default named there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypedDict, Unpack, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.checks import Floats, numbers, one_of, whole
from core.dtypes import bytes_per_element
from core.kv_layers import GrowingCache, growing_caches
from core.model_spec import ModelSpec
from core.paged_attention import MOST_BYTES, MOST_TOKENS
from core.sequence_state import MOST_GPUS, MOST_SEQUENCES, StateParts, state_bytes, state_parts

__all__ = [
    "KvOptions",
    "KvParts",
    "StateParts",
    "kv_bytes",
    "kv_bytes_per_token",
    "kv_parts",
    "max_batch",
    "state_bytes",
    "state_parts",
]

Layout = Literal["latent", "expanded"]
Reservation = Literal["ideal", "uniform"]
IndexKeys = Literal["usual", "included", "excluded"]


class KvOptions(TypedDict, total=False):
    """How the growing part is kept and counted.

    kv_dtype: format of keys and values, block scales included; "bf16".
    layout: for MLA. "latent" (default): one compressed vector a token. "expanded": keys and values of every head, as
        engines without MLA support keep them.
    reservation: "ideal" (default): a layer keeps the tokens that it can see. "uniform": every layer has pages for every
        token, windows or not, as engines without a hybrid cache manager reserve.
    page_tokens: tokens are rounded up to whole pages of so many; 1 (default) rounds nothing. [tokens]
    indexer: "usual" (default): index keys count where the figure usually given for the model counts them, in
        DeepSeek-V4's pooled entries (6,880 bytes a token of Flash) and not beside DeepSeek-V3.2's latents (70,272, as
        DeepSeek-V3). "included": what memory holds; plan capacity with it. "excluded": keys and values alone.
    indexer_dtype: format of index keys; None (default): as kv_dtype. DeepSeek-V3.2 keeps them in fp8.
    tensor_parallel: GPUs that split the heads; bytes are those of the fullest one; 1. [GPUs]
    """

    kv_dtype: str
    layout: Layout
    reservation: Reservation
    page_tokens: ArrayLike
    indexer: IndexKeys
    indexer_dtype: str | None
    tensor_parallel: ArrayLike


@dataclass(frozen=True, slots=True)
class KvParts:
    """The growing part by name; each field has the broadcast shape of the inputs."""

    keys_values_bytes: Floats
    indexer_bytes: Floats

    @property
    def total_bytes(self) -> Floats:
        """Both together. [bytes per GPU]"""
        return self.keys_values_bytes + self.indexer_bytes


def kv_parts(model: ModelSpec, seq_len: ArrayLike, *, batch: ArrayLike = 1, **options: Unpack[KvOptions]) -> KvParts:
    """Bytes of KV cache on one GPU for ``batch`` sequences of ``seq_len`` tokens: keys and values, and index keys.

    Full attention keeps every token. A sliding window keeps the last ``window`` tokens, the newest included, and
    chunked attention (Llama 4) one chunk: min(seq_len, window) of both, the most that they have held. DeepSeek-V4 keeps
    its window and one pooled entry for each full ``ratio`` tokens; left out is what its compressor holds of tokens that
    wait for their entry (at most 12 MB a sequence of Flash, in fp32). A layer that shares another's cache adds nothing;
    linear attention and Mamba-2 are in :func:`state_bytes`.

    Args:
        model: the model.
        seq_len: tokens of each sequence, prompt and answer. [tokens]
        batch: sequences held at once on this GPU. [sequences]
        options: conventions, see :class:`KvOptions`.

    Returns:
        [bytes per GPU]. (B, 1) batches against (S,) lengths give (B, S).

    Sources: Shazeer 2019, arXiv:1911.02150 (shared heads); DeepSeek-AI 2024, arXiv:2405.04434, section 2.1 (latents).
    """
    page = whole("page_tokens", options.get("page_tokens", 1), high=MOST_TOKENS)
    tokens, page = np.broadcast_arrays(whole("seq_len", seq_len, high=MOST_TOKENS), page)
    sequences = whole("batch", batch, high=MOST_SEQUENCES)

    def entries(cache: GrowingCache, uniform: bool) -> tuple[Floats, Floats]:
        return cache.entries(tokens, page, uniform=uniform)

    return _parts(model, sequences, tokens, entries, options)


def kv_bytes(model: ModelSpec, seq_len: ArrayLike, *, batch: ArrayLike = 1, **options: Unpack[KvOptions]) -> Floats:
    """Bytes of KV cache on one GPU for ``batch`` sequences of ``seq_len`` tokens: the sum of :func:`kv_parts`."""
    return kv_parts(model, seq_len, batch=batch, **options).total_bytes


def kv_bytes_per_token(model: ModelSpec, seq_len: ArrayLike, **options: Unpack[KvOptions]) -> Floats:
    """Bytes that token number ``seq_len`` adds to its sequence: kv_bytes(n) - kv_bytes(n - 1), pages not rounded.

    A layer whose window is full adds nothing. DeepSeek-V4 pools once every ``ratio`` tokens; each token carries its
    1 / ratio of that entry here, so that the sum over whole pools is the cache exactly.

    Args:
        model: the model.
        seq_len: the token's position, counted from 1. [tokens]
        options: conventions, see :class:`KvOptions`; ``page_tokens`` has no effect.

    Returns:
        [bytes per token and GPU], in the broadcast shape of the inputs.
    """
    position = whole("seq_len", seq_len, high=MOST_TOKENS)

    def entries(cache: GrowingCache, uniform: bool) -> tuple[Floats, Floats]:
        grows = (cache.held_tokens(position, uniform=uniform) == position).astype(np.float64)
        return grows, np.full_like(grows, 1 / cache.ratio if cache.ratio else 0.0)

    return _parts(model, np.ones(()), position, entries, options).total_bytes


def max_batch(
    model: ModelSpec,
    seq_len: ArrayLike,
    *,
    free_bytes: ArrayLike,
    state_dtype: str = "fp32",
    conv_dtype: str = "fp32",
    **options: Unpack[KvOptions],
) -> NDArray[np.int64]:
    """Most sequences of ``seq_len`` tokens whose KV cache and states fit into ``free_bytes`` of one GPU.

    Args:
        model: the model.
        seq_len: tokens of each sequence, prompt and answer. [tokens]
        free_bytes: memory left beside weights and activations; a negative amount holds no sequence. [bytes]
        state_dtype: as in :func:`state_parts`.
        conv_dtype: as in :func:`state_parts`.
        options: conventions, see :class:`KvOptions`.

    Returns:
        [sequences], whole ones, in the broadcast shape of the inputs.

    Raises:
        ValueError: ``free_bytes`` is no finite number, or the model keeps nothing for a sequence.
    """
    free = numbers("free_bytes", free_bytes)
    gpus = options.get("tensor_parallel", 1)
    states = state_bytes(model, state_dtype=state_dtype, conv_dtype=conv_dtype, tensor_parallel=gpus)
    each = kv_bytes(model, seq_len, **options) + states
    if not each.all():
        raise ValueError(f"{model.name} keeps nothing for a sequence, so memory sets no limit; choose a batch by hand")
    return np.floor_divide(np.clip(free, 0.0, MOST_BYTES), each).astype(np.int64)


def _parts(
    model: ModelSpec,
    sequences: Floats,
    tokens: Floats,
    entries: Callable[[GrowingCache, bool], tuple[Floats, Floats]],
    options: KvOptions,
) -> KvParts:
    """Sum over layers of entries (exact ones, pooled ones) times elements, in bytes."""
    unknown = options.keys() - KvOptions.__annotations__.keys()
    if unknown:
        raise TypeError(f"unknown options {sorted(unknown)}; choose from {sorted(KvOptions.__annotations__)}")
    expanded = one_of("layout", options.get("layout", "latent"), get_args(Layout)) == "expanded"
    uniform = one_of("reservation", options.get("reservation", "ideal"), get_args(Reservation)) == "uniform"
    indexer = one_of("indexer", options.get("indexer", "usual"), get_args(IndexKeys))
    kv_dtype = options.get("kv_dtype", "bf16")
    gpus = whole("tensor_parallel", options.get("tensor_parallel", 1), high=MOST_GPUS)

    keys_values = index_keys = 0.0 * (tokens * gpus)
    for count, cache in growing_caches(model, gpus, expanded=expanded):
        exact, pooled = entries(cache, uniform)
        keys_values = keys_values + count * cache.elements * (exact + pooled)
        if cache.counts_index(indexer):
            index_keys = index_keys + count * cache.index_elements * (pooled if cache.ratio else exact)
    return KvParts(
        keys_values_bytes=sequences * keys_values * bytes_per_element(kv_dtype),
        indexer_bytes=sequences * index_keys * bytes_per_element(options.get("indexer_dtype") or kv_dtype),
    )
