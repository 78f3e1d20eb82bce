"""What one decode step reads and writes of the sequences it continues: cached entries, index keys, constant states.

Not what is held: a sparse layer keeps every token and reads the chosen ones, and a layer that shares another's cache
holds nothing and reads it all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats, one_of, whole
from core.dtypes import bytes_per_element
from core.kv_cache import Layout
from core.kv_layers import growing_cache, mixer_counts
from core.model_spec import Attention, ModelSpec
from core.paged_attention import MOST_TOKENS
from core.sequence_state import MOST_GPUS, MOST_SEQUENCES, state_bytes


def kv_read_bytes(
    model: ModelSpec,
    seq_len: ArrayLike,
    *,
    batch: ArrayLike = 1,
    kv_dtype: str = "bf16",
    layout: Layout = "latent",
    indexer_dtype: str | None = None,
    tensor_parallel: ArrayLike = 1,
) -> Floats:
    """Bytes of keys, values and index keys that one GPU reads in a decode step.

    Args:
        model: the model.
        seq_len: tokens of each sequence, the new one included. [tokens]
        batch: sequences that the step continues. [sequences]
        kv_dtype, layout, indexer_dtype: as in :class:`core.kv_cache.KvOptions`.
        tensor_parallel: GPUs that split the heads; bytes are those of the fullest one. [GPUs]

    Returns:
        [bytes per GPU and step], broadcast. For full attention it is the whole cache. A window is read as far as it is
        filled; sparse attention reads the entries that its indexer chose, and the index keys of all. Every query head
        of a group shares one read of its KV head.

    Sources: Pope et al. 2022, arXiv:2211.05102, section 2.1; DeepSeek-V3.2 report, section 2.1 (indexer).
    """
    tokens, sequences = whole("seq_len", seq_len, high=MOST_TOKENS), whole("batch", batch, high=MOST_SEQUENCES)
    gpus = whole("tensor_parallel", tensor_parallel, high=MOST_GPUS)
    expanded = one_of("layout", layout, get_args(Layout)) == "expanded"
    entries = index_keys = 0.0 * (tokens * gpus)
    for mixer, count in _readers(model):
        cache = growing_cache(mixer, gpus, expanded=expanded)
        if cache is None:
            continue
        exact, pooled = cache.entries(tokens, np.ones(()), uniform=False)
        chosen = _chosen(mixer)
        read_exact = np.minimum(exact, chosen) if not cache.ratio else exact
        entries = entries + count * cache.elements * (read_exact + np.minimum(pooled, chosen))
        if cache.index_elements:
            index_keys = index_keys + count * cache.index_elements * (pooled if cache.ratio else exact)
    return sequences * (
        entries * bytes_per_element(kv_dtype) + index_keys * bytes_per_element(indexer_dtype or kv_dtype)
    )


def state_traffic_bytes(
    model: ModelSpec,
    *,
    batch: ArrayLike = 1,
    state_dtype: str = "fp32",
    conv_dtype: str = "fp32",
    tensor_parallel: ArrayLike = 1,
) -> Floats:
    """Bytes that one GPU moves for constant states in a decode step: each is read and written back. [bytes]"""
    held = state_bytes(
        model, batch=batch, state_dtype=state_dtype, conv_dtype=conv_dtype, tensor_parallel=tensor_parallel
    )
    return 2 * held


@lru_cache(maxsize=64)
def _readers(model: ModelSpec) -> tuple[tuple[Any, int], ...]:
    """Each distinct mixer as the owner of the cache that it reads, and its number of layers."""
    return tuple(_owners(model))


def _owners(model: ModelSpec) -> Iterator[tuple[Any, int]]:
    for mixer, count in mixer_counts(model).items():
        shares = isinstance(mixer, Attention) and mixer.shares_kv
        yield (mixer.model_copy(update={"shares_kv": False}) if shares else mixer), count


def picks_tokens(mixer: Any) -> bool:
    """Whether it is sparse attention, which reads chosen entries and not all of them."""
    return _chosen(mixer) < np.inf


def _chosen(mixer: Any) -> float:
    """Entries that sparse attention reads at most; infinite where it reads all."""
    indexer = getattr(mixer, "indexer", None)
    top_k = indexer.top_k if indexer is not None else getattr(mixer, "shared_top_k", None)
    return np.inf if top_k is None else float(top_k)
