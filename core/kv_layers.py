"""What one layer of each kind keeps for every token, in elements on one GPU of a tensor-parallel group.

KV heads are split over the GPUs until each holds one, and copied from there on. MLA latents, DeepSeek-V4's shared keys
and an indexer's keys belong to all heads, so every GPU holds them whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.checks import Floats
from core.model_spec import Attention, CompressedAttention, LatentAttention, ModelSpec
from core.paged_attention import whole_pages


@dataclass(frozen=True, slots=True)
class GrowingCache:
    """Elements of one entry, and which tokens have one."""

    kind: str  # what a layer of this kind is called in a derivation
    heads: Floats  # on the fullest GPU; 1 where one vector serves all heads
    widths: tuple[int, ...]  # of the vectors that a head keeps for a token: key and value, latent and rotated part
    window: int | None = None  # tokens held exactly; None: all of them
    ratio: int = 0  # tokens pooled into one further entry of the same widths; 0: none
    index_elements: int = 0  # of the indexer's key; one for each entry that it picks from
    usually_counts_index: bool = False  # the figure usually given a token counts the index keys

    @property
    def elements(self) -> Floats:
        """Elements of one entry, index key apart. [elements]"""
        return self.heads * sum(self.widths)

    def held_tokens(self, seq_len: Floats, *, uniform: bool) -> Floats:
        """Tokens held exactly; uniform: those that pages of a full-attention layer have room for. [tokens]"""
        return seq_len if uniform or self.window is None else np.minimum(seq_len, self.window)

    def entries(self, seq_len: Floats, page_tokens: Floats, *, uniform: bool) -> tuple[Floats, Floats]:
        """Entries of exact tokens and of pooled ones, each rounded up to whole pages. [entries]"""
        held = whole_pages(self.held_tokens(seq_len, uniform=uniform), page_tokens)
        return held, whole_pages(seq_len, page_tokens) // self.ratio if self.ratio else 0.0 * held

    def counts_index(self, indexer: str) -> bool:
        """Whether index keys count under this convention; see :class:`core.kv_cache.KvOptions`."""
        return indexer == "included" or (indexer == "usual" and self.usually_counts_index)


def growing_caches(model: ModelSpec, gpus: Floats, *, expanded: bool) -> Iterator[tuple[int, GrowingCache]]:
    """The distinct caches of a model with the number of layers that keep each."""
    for mixer, count in mixer_counts(model).items():
        cache = growing_cache(mixer, gpus, expanded=expanded)
        if cache is not None:
            yield count, cache


def growing_cache(mixer: Any, gpus: Floats, *, expanded: bool) -> GrowingCache | None:
    """What a token mixer keeps for each token; None where nothing grows with the sequence."""
    match mixer:
        case Attention(shares_kv=False):  # keys_are_values too: keys are rotated after the split, so both are cached
            kind = f"{mixer.window_kind} attention" if mixer.window else "full attention"
            heads = heads_per_gpu(mixer.num_kv_heads, gpus)
            return GrowingCache(kind, heads, (mixer.head_dim, mixer.v_head_dim), mixer.window)
        case LatentAttention():
            index_elements = mixer.indexer.head_dim if mixer.indexer else 0
            if expanded:
                key_value = (mixer.qk_nope_head_dim, mixer.qk_rope_head_dim, mixer.v_head_dim)
                heads = heads_per_gpu(mixer.num_heads, gpus)
                return GrowingCache("MLA, expanded", heads, key_value, index_elements=index_elements)
            latent = (mixer.kv_lora_rank, mixer.qk_rope_head_dim)
            return GrowingCache("MLA, latent", np.ones_like(gpus), latent, index_elements=index_elements)
        case CompressedAttention():
            return GrowingCache(
                kind="window",
                heads=np.ones_like(gpus),
                widths=(mixer.head_dim,),  # key and value are one vector
                window=mixer.window,
                ratio=mixer.ratio,
                index_elements=mixer.indexer.head_dim if mixer.indexer else 0,
                usually_counts_index=True,
            )
    return None


def mixer_counts(model: ModelSpec) -> Counter[Any]:
    """Each distinct token mixer and the number of layers that have it."""
    counts: Counter[Any] = Counter()
    for layer, count in model.layer_counts.items():
        if layer.mixer is not None:
            counts[layer.mixer] += count
    return counts


def heads_per_gpu(heads: int, gpus: Floats) -> Floats:
    """Heads on the fullest GPU, never less than one: a head that cannot be split is copied. [heads]"""
    return np.ceil(heads / gpus)
