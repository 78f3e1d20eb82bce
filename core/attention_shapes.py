"""The softmax attention of a model as shapes: heads, widths, window, and how many layers have each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from core.kv_layers import heads_per_gpu
from core.model_spec import Attention, CompressedAttention, LatentAttention, ModelSpec


@dataclass(frozen=True, slots=True)
class AttentionShape:
    """One kind of attention layer on one GPU of a tensor-parallel group."""

    kind: str  # what it is called in a sentence
    heads: int
    kv_heads: int
    head_dim: int  # of queries and keys
    v_head_dim: int
    window: int | None = None
    chunked: bool = False
    picks: bool = False  # reads pooled or chosen entries in truth; counted here as if it read all
    layers: int = 1

    @property
    def in_words(self) -> str:
        """The shape in a few words."""
        width = str(self.head_dim) if self.head_dim == self.v_head_dim else f"{self.head_dim} and {self.v_head_dim}"
        shared = "" if self.kv_heads == self.heads else f" over {self.kv_heads} of keys and values"
        seen = f", {'chunks' if self.chunked else 'a window'} of {self.window:,} tokens" if self.window else ""
        return f"{self.heads} head{'s' if self.heads > 1 else ''} of {width}{shared}{seen}"


@lru_cache(maxsize=64)
def layer_shapes(model: ModelSpec, tensor_parallel: int = 1) -> tuple[AttentionShape, ...]:
    """Each shape once with its number of layers: those that see every token first. Empty without softmax attention."""
    counts: dict[AttentionShape, int] = {}
    for shape, layers in _shapes(model, tensor_parallel):
        counts[shape] = counts.get(shape, 0) + layers
    shapes = [replace(shape, layers=layers) for shape, layers in counts.items()]
    return tuple(sorted(shapes, key=lambda shape: shape.window is not None))


def _shapes(model: ModelSpec, gpus: int) -> Iterator[tuple[AttentionShape, int]]:
    def split(heads: int) -> int:
        return int(heads_per_gpu(heads, np.asarray(float(gpus))))

    for layer, layers in model.layer_counts.items():
        match layer.mixer:
            case Attention() as mixer:
                kind = "full attention" if mixer.window is None else f"{mixer.window_kind} attention"
                yield (
                    AttentionShape(
                        kind,
                        split(mixer.num_heads),
                        split(mixer.num_kv_heads),
                        mixer.head_dim,
                        mixer.v_head_dim,
                        mixer.window,
                        mixer.window_kind == "chunked",
                    ),
                    layers,
                )
            case LatentAttention() as mixer:  # training and prefill expand the latent to keys and values of every head
                heads, keys = split(mixer.num_heads), mixer.qk_nope_head_dim + mixer.qk_rope_head_dim
                picks = mixer.indexer is not None or mixer.shared_top_k is not None
                yield AttentionShape("latent attention", heads, heads, keys, mixer.v_head_dim, picks=picks), layers
            case CompressedAttention() as mixer:
                heads = split(mixer.num_heads)
                yield (
                    AttentionShape("compressed attention", heads, 1, mixer.head_dim, mixer.head_dim, picks=True),
                    layers,
                )
