"""Activations of a whole model, layer by layer and pipeline stage by pipeline stage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from core.activations import Recompute, layer_activation_bytes, logits_bytes
from core.checks import Floats
from core.kept_tensors import MASK_BYTES, ActivationOptions, Run
from core.model_spec import ModelSpec
from core.parallelism import in_flight_micro_batches, layer_stages


def model_activation_bytes(
    model: ModelSpec, *, recompute: Recompute = "none", **options: Unpack[ActivationOptions]
) -> Floats:
    """What each layer keeps for one micro-batch, first layer first: shape (..., num_layers). [bytes per GPU]

    Each distinct layer is counted once, so a model of equal layers costs one.
    """
    column = {layer: place for place, layer in enumerate(model.layer_counts)}
    distinct = [
        layer_activation_bytes(
            layer, model.hidden_size, recompute=recompute, residual_streams=model.residual_streams, **options
        )
        for layer in column
    ]
    columns = np.stack(np.broadcast_arrays(*distinct), axis=-1)
    return np.asarray(columns[..., [column[layer] for layer in model.layers]])


@dataclass(frozen=True, slots=True)
class StageActivations:
    """Activations of each pipeline stage at its fullest moment; the last axis is the stage. [bytes per GPU]"""

    layer_bytes: Floats  # of all micro-batches in flight
    embedding_bytes: Floats  # dropout masks behind the embedding, first stage
    head_bytes: Floats  # final norm and output head, last stage
    logits_bytes: Floats  # last stage
    in_flight: Floats  # micro-batches, shape (stages,)

    @property
    def total_bytes(self) -> Floats:
        """All parts together."""
        return self.layer_bytes + self.embedding_bytes + self.head_bytes + self.logits_bytes


def stage_activation_bytes(
    model: ModelSpec,
    *,
    pipeline_parallel: int = 1,
    num_micro_batches: int = 1,
    virtual_stages: int = 1,
    recompute: Recompute = "none",
    logits_copies: ArrayLike = 1,
    **options: Unpack[ActivationOptions],
) -> StageActivations:
    """Activations of every pipeline stage under 1F1B: layers weigh most on the first, logits lie on the last.

    Args:
        model: its layers are cut into stages by :func:`core.parallelism.layer_stages`.
        pipeline_parallel: p. [stages]
        num_micro_batches: micro-batches of one step. [micro-batches]
        virtual_stages: chunks of layers a stage holds when the schedule is interleaved. [chunks]
        recompute: as in :func:`core.activations.activation_bytes_per_layer`. The layer that is being made again comes
            on top for a moment: :func:`recompute_bytes`.
        logits_copies: as in :func:`core.activations.logits_bytes`.
        options: the run's, :class:`~core.kept_tensors.ActivationOptions`; seq_len is needed.

    The first stage holds L layers' worth of activations, as many as without pipeline parallelism: each of its L/p
    layers keeps p micro-batches.
    Source: Korthikanti et al. 2022, arXiv:2205.05198, sections 4.2.3 and 4.3.
    """
    run = Run.of(**options)
    layers = model_activation_bytes(model, recompute=recompute, **options)
    stages = np.arange(pipeline_parallel)
    lies_on = layer_stages(model.num_layers, pipeline_parallel, virtual_stages=virtual_stages)[:, None] == stages
    in_flight = in_flight_micro_batches(
        pipeline_parallel, num_micro_batches, stage=stages, virtual_stages=virtual_stages
    )
    first, last = stages == 0, stages == pipeline_parallel - 1
    hidden = run.seq_len * run.micro_batch_size * model.hidden_size / run.whole  # elements of one hidden tensor
    masks = MASK_BYTES * hidden * (in_flight[0] if run.dropout else 0.0)
    head = 2 * run.element_bytes * hidden  # inputs of the final norm and of the head
    logits = logits_bytes(
        seq_len=run.seq_len,
        micro_batch_size=run.micro_batch_size,
        vocab_size=model.vocab_size,
        tensor_parallel=run.tensor_parallel,
        context_parallel=run.context_parallel,
        copies=logits_copies,
    )
    return StageActivations(
        layer_bytes=layers @ lies_on.astype(np.float64) * in_flight,
        embedding_bytes=masks[..., None] * first,
        head_bytes=head[..., None] * last,
        logits_bytes=logits[..., None] * last,
        in_flight=in_flight,
    )


def recompute_bytes(
    model: ModelSpec,
    *,
    recompute: Recompute,
    pipeline_parallel: int = 1,
    virtual_stages: int = 1,
    **options: Unpack[ActivationOptions],
) -> Floats:
    """Working memory of the layer that is being made again: what it keeps without recomputation, less what it kept.

    The largest over each stage's layers, the last axis being the stage; a transient of the backward pass, on top of the
    kept activations. [bytes per GPU]
    """
    everything = model_activation_bytes(model, **options)
    again = everything - model_activation_bytes(model, recompute=recompute, **options)
    lies_on = layer_stages(model.num_layers, pipeline_parallel, virtual_stages=virtual_stages)
    return np.stack([again[..., lies_on == stage].max(axis=-1) for stage in range(pipeline_parallel)], axis=-1)
