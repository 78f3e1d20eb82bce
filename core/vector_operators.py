"""Operators beside the matrix units: norms, residuals, activation functions, lookups, loss, optimizer.

Bytes decide them. Traffic is that of fused kernels: a norm takes in the residual sum before it, a gate its activation.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from core.checks import Floats
from core.kv_layers import heads_per_gpu
from core.matrices import Size
from core.mixer_operators import cached_elements
from core.model_spec import Attention, CompressedAttention, LatentAttention, Layer, Mlp, ModelSpec, Moe
from core.work import NOTHING, Operator, Work
from core.zero import recipe_of

# A few for each element moved: far below the ridge of any vector unit, so that the exact number never matters.
FLOPS_PER_ELEMENT = 2
ADAM_FLOPS_PER_PARAM = 12  # two moving averages, two corrections, a root, a division, weight decay, the update


def layer_elementwise(layer: Layer, count: int, model: ModelSpec, rest: float, work: Work) -> Iterator[Operator]:
    """Elementwise work of ``count`` equal layers; ``rest`` are the weights in no matrix."""
    t = work.tensor_parallel
    parts = (layer.mixer is not None) + (layer.mlp is not None)
    # Around each part: sum and residual read, residual written, normed input written; backward as much again.
    streams = model.residual_streams
    around = 4 if streams == 1 else 4 + 2 * streams  # hyper-connections read and write all streams
    if parts:
        moved = around * model.hidden_size / work.whole
        yield _elementwise("norms and residuals", count * parts, moved, work, weights=rest / parts)
    match layer.mixer:
        case Attention() if not model.position_embeddings:  # learned positions are added to the embedding instead
            turned = heads_per_gpu(layer.mixer.num_heads, t) + heads_per_gpu(layer.mixer.num_kv_heads, t)
            yield _elementwise("rotary positions", count, 2 * turned * layer.mixer.head_dim, work)
        case LatentAttention() | CompressedAttention():
            turned = heads_per_gpu(layer.mixer.num_heads, t) + 1
            yield _elementwise("rotary positions", count, 2 * turned * layer.mixer.qk_rope_head_dim, work)
    match layer.mixer:
        case Attention(shares_kv=False) | LatentAttention() | CompressedAttention() if not work.trains:
            yield _cache_write(layer.mixer, count, work)
    match layer.mlp:
        case Mlp():
            yield _activation(layer.mlp, layer.mlp.intermediate_size / t, count, work)
        case Moe():
            chosen = layer.mlp.top_k * layer.mlp.expert_intermediate_size / t
            shared = layer.mlp.shared_intermediate_size / t
            yield _activation(layer.mlp, chosen + shared, count, work)
            if layer.mlp.parallel_dense:
                yield _activation(layer.mlp.parallel_dense, layer.mlp.parallel_dense.intermediate_size / t, count, work)
            # Sorted by expert and back: one row read and k written, k read and one written.
            copies = 2 * layer.mlp.top_k + 2
            width = copies * (layer.mlp.expert_hidden_size or model.hidden_size)
            yield _elementwise("routing and permutation", count, width, work)


def head_elementwise(model: ModelSpec, rest: float, work: Work) -> Iterator[Operator]:
    """The norm in front of the output head, and the loss: logits read twice and their gradient written."""
    yield _elementwise("final norm", 1, 4 * model.hidden_size / work.whole, work, weights=rest, remade_with="head")
    if work.trains:
        elements = 3 * work.tokens * model.vocab_size / work.tensor_parallel
        moved = work.activation_size * elements
        yield _vector("loss", "elementwise", 1, FLOPS_PER_ELEMENT * elements, moved, work, remade_with="head")


def embedding(model: ModelSpec, work: Work) -> Operator:
    """A row of each table for each token, read and written on; backward the rows' gradients are read and added up."""
    width = model.embedding_size or model.hidden_size
    moved = work.tokens * width * work.activation_size * (3 if work.trains else 1)
    rows: float = width + sum(params for _, params in model.lookup_tables) / model.vocab_size
    if model.position_embeddings:
        rows += model.position_embedding_size or model.hidden_size
    return _vector(
        "embedding", "embedding", 1, NOTHING, moved, work, weight_bytes=work.weight_size * work.tokens * rows
    )


def optimizer_step(params: Floats, recipe: str, shards: Floats) -> Operator:
    """One step over the weights that a GPU updates: gradient read, states read and written, weight written."""
    states = recipe_of(recipe)
    each = states.gradient_bytes + 2 * states.optimizer_bytes + states.weight_bytes
    owned = params / shards
    return Operator("optimizer step", "optimizer", 1, ADAM_FLOPS_PER_PARAM * owned, each * owned, NOTHING, NOTHING)


def _activation(mlp: Mlp | Moe, width: Size, count: int, work: Work) -> Operator:
    """The activation function. Gated: two read, one written; backward three read, two written. Plain: 2 and 3."""
    forward, backward = (3, 5) if mlp.gated else (2, 3)
    return _elementwise("activation function", count, forward * width, work, backward=backward / forward)


def _cache_write(mixer: Attention | LatentAttention | CompressedAttention, count: int, work: Work) -> Operator:
    """New keys and values, or latents, into the cache."""
    absorbed = True  # what is kept is the latent, however it is used in this pass
    elements = work.tokens * cached_elements(mixer, work.tensor_parallel, absorbed=absorbed)
    match mixer:
        case CompressedAttention() if mixer.ratio:
            elements = elements * (1 + 1 / mixer.ratio)
    index = getattr(mixer, "indexer", None)
    if index is not None:
        elements = elements + work.tokens * index.head_dim / (getattr(mixer, "ratio", 0) or 1)
    read = work.activation_size * elements
    return _vector("cache write", "elementwise", count, NOTHING, read, work, cache_bytes=work.kv_size * elements)


def _elementwise(
    label: str,
    count: int,
    width: Size,
    work: Work,
    *,
    backward: float = 1.0,
    weights: float = 0.0,
    remade_with: str = "elementwise",
) -> Operator:
    """``width`` elements moved for each token in the forward pass, and ``backward`` times as many in the backward."""
    forwards = work.forwards(remade_with)
    elements = (forwards + (backward if work.trains else 0.0)) * work.tokens * width
    return _vector(
        label,
        "elementwise",
        count,
        FLOPS_PER_ELEMENT * elements,
        work.activation_size * elements,
        work,
        weight_bytes=np.asarray((forwards + (2 if work.trains else 0)) * work.weight_size * weights),
        remade_with=remade_with,
    )


def _vector(
    label: str,
    kind: str,
    count: int,
    flops: Floats,
    activation_bytes: Floats,
    work: Work,
    *,
    weight_bytes: Floats = NOTHING,
    cache_bytes: Floats = NOTHING,
    remade_with: str | None = None,
) -> Operator:
    """``count`` times the given numbers, which hold for one occurrence with its backward pass."""
    return Operator(
        label=label,
        kind=kind,
        count=count * (work.forwards(remade_with or kind) + (1 if work.trains else 0)),
        flops=np.asarray(count * flops),
        weight_bytes=np.asarray(count * weight_bytes),
        activation_bytes=np.asarray(count * activation_bytes),
        cache_bytes=np.asarray(count * cache_bytes),
    )
