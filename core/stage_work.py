"""What one micro-batch costs a GPU of each pipeline stage: FLOPs of matrices and attention, and bytes between them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from core.activations import layer_activation_bytes, logits_bytes
from core.checks import Floats
from core.kept_tensors import ActivationOptions
from core.layout import Layout
from core.lora import named_recipe
from core.matrices import layer_matrices, outer_matrices
from core.memory import stage_params
from core.model_spec import Layer, ModelSpec
from core.parallelism import layer_stages
from core.token_mixing import View, mixing


@dataclass(frozen=True, slots=True)
class StageWork:
    """One micro-batch's forward pass on one GPU, and what recomputation adds; the last axis is the stage.

    The backward pass makes twice the FLOPs of the forward pass, half of them for the weights' gradients.
    """

    matrix_flops: Floats  # the output head included, on the last stage
    mixing_flops: Floats  # attention, indexer, state: what depends on the sequence
    moved_bytes: Floats  # elementwise kernels between the matrices: what their results occupy
    again_matrix_flops: Floats  # made again in the backward pass
    again_mixing_flops: Floats
    again_bytes: Floats


@lru_cache(maxsize=256)
def layers_by_stage(model: ModelSpec, pipeline_parallel: int, virtual_stages: int = 1) -> Floats:
    """How many of each distinct layer lie on each stage, shape (distinct layers, stages). [layers]"""
    place = {layer: row for row, layer in enumerate(model.layer_counts)}
    rows = np.array([place[layer] for layer in model.layers])
    stages = layer_stages(model.num_layers, pipeline_parallel, virtual_stages=virtual_stages)
    cells = np.bincount(rows * pipeline_parallel + stages, minlength=len(place) * pipeline_parallel)
    return cells.reshape(len(place), pipeline_parallel).astype(np.float64)


def per_stage(model: ModelSpec, layout: Layout, of_layer: dict[Layer, ArrayLike]) -> Floats:
    """A number of each distinct layer, summed over the layers of each stage; the last axis is the stage."""
    columns = np.broadcast_arrays(*(np.atleast_1d(of_layer[layer]) for layer in model.layer_counts))
    counts = layers_by_stage(model, layout.pipeline_parallel, layout.virtual_stages)
    return np.asarray(np.concatenate(columns, axis=-1) @ counts)


def stage_work(model: ModelSpec, layout: Layout) -> StageWork:
    """The work of one micro-batch on a GPU of each stage.

    Matrices are split as :mod:`core.matrices` says, the fullest GPU's share. A fused kernel skips what the causal mask
    hides; an unfused one computes every score. Bytes are those of the tensors that a layer keeps
    (:mod:`core.activations`) without recomputation: elementwise kernels write and read just these.

    Assumes even routing to experts and context shares of equal work (zigzag order).
    """
    tokens, split, last = layout.micro_batch_tokens, layout.tensor_parallel, layout.pipeline_parallel - 1
    view: View = "causal" if layout.fused_attention else "full"
    matrices: dict[Layer, ArrayLike] = {}
    mixed: dict[Layer, ArrayLike] = {}
    scores: dict[Layer, ArrayLike] = {}  # what selective recomputation makes again
    moved: dict[Layer, ArrayLike] = {}
    kept_when_selective: dict[Layer, ArrayLike] = {}
    run: ActivationOptions = {
        "seq_len": layout.seq_len,
        "micro_batch_size": layout.micro_batch_size,
        "tensor_parallel": split,
        "sequence_parallel": layout.sequence_parallel,
        "context_parallel": layout.context_parallel,
        "expert_parallel": layout.expert_parallel,
        "fused_attention": layout.fused_attention,
    }
    for layer in model.layer_counts:
        shapes = layer_matrices(layer, model, tensor_parallel=split)
        matrices[layer] = tokens * sum((m.flops for m in shapes), np.zeros(()))
        parts = list(mixing(layer.mixer, layout.seq_len, view, tensor_parallel=split)) if layer.mixer else []
        mixed[layer] = tokens * sum((part.flops for part in parts), np.zeros(()))
        scores[layer] = tokens * sum((part.flops for part in parts if part.kind == "attention"), np.zeros(()))
        streams = model.residual_streams
        moved[layer] = layer_activation_bytes(layer, model.hidden_size, residual_streams=streams, **run)
        kept_when_selective[layer] = layer_activation_bytes(
            layer, model.hidden_size, recompute="selective", residual_streams=streams, **run
        )
    matrix, mixing_flops, kept = (per_stage(model, layout, part) for part in (matrices, mixed, moved))
    core = kept - per_stage(model, layout, kept_when_selective)
    # Unfused attention moves two score-sized tensors, before and after the softmax, of which only the second is kept.
    scores_bytes = core if layout.fused_attention else 2 * core
    bytes_ = kept - core + scores_bytes
    outside = tokens * sum((m.flops for m in outer_matrices(model, tensor_parallel=split)), np.zeros(()))
    logits = logits_bytes(
        seq_len=layout.seq_len,
        micro_batch_size=layout.micro_batch_size,
        vocab_size=model.vocab_size,
        tensor_parallel=split,
        context_parallel=layout.context_parallel,
    )
    on_last = np.arange(layout.pipeline_parallel) == last
    nothing = np.zeros_like(matrix)
    again = {
        "none": (nothing, nothing, nothing),
        "selective": (
            nothing,
            per_stage(model, layout, scores),
            scores_bytes,
        ),
        "full": (matrix, mixing_flops, bytes_),
    }[layout.recompute]
    return StageWork(matrix + outside * on_last, mixing_flops, bytes_ + logits * on_last, *again)


def optimizer_bytes(model: ModelSpec, layout: Layout) -> Floats:
    """What the optimizer moves on a GPU of each stage: gradients and states read, states and weights written. [bytes]

    From ZeRO stage 1 on each GPU updates its share alone.
    """
    params = stage_params(model, layout.pipeline_parallel, layout.virtual_stages)
    recipe = named_recipe(model, layout.recipe)
    written = recipe.weight_bytes if recipe.updated_weight_bytes is None else recipe.updated_weight_bytes
    sharded, replicas = layout.zero_stage >= 1, layout.data_parallel * layout.context_parallel
    dense = params.dense / np.where(sharded, replicas, 1.0)
    experts = params.experts / np.where(sharded, replicas, layout.expert_parallel)
    moved = recipe.gradient_bytes + 2 * recipe.optimizer_bytes + written
    return np.asarray((dense + experts) / layout.tensor_parallel * moved)
