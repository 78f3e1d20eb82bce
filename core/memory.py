"""Training memory of one GPU, all parts together, for every pipeline stage: what is steady, and what the peak adds.

Combines parameters, ZeRO and activations on arrays. The planner, the sweeps under a slider and a single scenario make
this same call.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from typing import NamedTuple, Required, TypedDict, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.activations import Recompute
from core.checks import Floats, divides
from core.kept_tensors import ActivationOptions
from core.lora import named_recipe
from core.model_spec import ModelSpec
from core.parallelism import layer_stages
from core.params import count_params, split_layer_params
from core.stage_activations import recompute_bytes, stage_activation_bytes
from core.zero import Offload, StateRecipe, ZeroPeak, zero_peak

# Fields of a layout that each half of the memory depends on.
STATE_FIELDS = (
    "data_parallel",
    "zero_stage",
    "tensor_parallel",
    "pipeline_parallel",
    "context_parallel",
    "expert_parallel",
    "virtual_stages",
    "recipe",
    "offload",
)
ACTIVATION_FIELDS = (
    "tensor_parallel",
    "pipeline_parallel",
    "context_parallel",
    "expert_parallel",
    "virtual_stages",
    "num_micro_batches",
    "recompute",
    "seq_len",
    "micro_batch_size",
    "sequence_parallel",
    "fused_attention",
)
LOGITS_COPIES = 2  # the fp32 logits and their softmax, alive together in the loss


class MicroBatch(TypedDict, total=False):
    """How one micro-batch runs; see :class:`core.kept_tensors.ActivationOptions`."""

    seq_len: Required[ArrayLike]
    micro_batch_size: ArrayLike
    sequence_parallel: ArrayLike
    fused_attention: bool


@dataclass(frozen=True, slots=True)
class StageParams:
    """Weights of each pipeline stage before tensor and expert parallelism; shape (pipeline_parallel,). [params]"""

    dense: Floats
    experts: Floats
    largest_unit: Floats  # of the dense weights, what ZeRO-3 gathers at a time: a layer, embedding or head
    largest_expert_unit: Floats  # of the routed experts: one layer's


@lru_cache(maxsize=64)
def stage_params(model: ModelSpec, pipeline_parallel: int = 1, virtual_stages: int = 1) -> StageParams:
    """Which weights lie on which pipeline stage: the embedding on the first, the head on the last.

    A tied head is stored on both ends of a pipeline, as Megatron-LM does: Narayanan et al. 2021, arXiv:2104.04473.
    """
    layers, count = split_layer_params(model), count_params(model)
    stage = layer_stages(model.num_layers, pipeline_parallel, virtual_stages=virtual_stages)
    dense, experts, unit, expert_unit = np.zeros((4, pipeline_parallel))
    np.add.at(dense, stage, layers.dense)
    np.add.at(experts, stage, layers.experts)
    np.maximum.at(unit, stage, layers.dense)
    np.maximum.at(expert_unit, stage, layers.experts)
    first = count.embedding + count.position_embedding + model.embedding_extra_params  # lookup tables are among these
    # Everything outside the layers that does not belong to the embedding: head, final norm, their extras.
    last = count.total - first - float(layers.total.sum())
    if model.tie_word_embeddings and pipeline_parallel > 1:
        last += count.embedding
    dense[0] += first
    dense[-1] += last
    unit[0] = max(unit[0], count.embedding)
    unit[-1] = max(unit[-1], count.lm_head)
    return StageParams(dense, experts, unit, expert_unit)


class States(NamedTuple):
    """What no token changes on one GPU, shape (*broadcast, pipeline_parallel). [bytes]"""

    weights: Floats
    gradients: Floats
    optimizer: Floats
    passing: Floats  # gathered weights and gradient buckets, in the backward pass
    step: Floats  # what the optimizer step adds

    def with_activations(self, kept: Floats, again: Floats) -> TrainingMemory:
        """With what :func:`activation_parts` found; shapes broadcast."""
        states = (self.weights, self.gradients, self.optimizer)
        return TrainingMemory(*np.broadcast_arrays(*states, kept, self.passing + again, self.step))


@dataclass(frozen=True, slots=True)
class TrainingMemory:
    """Bytes on one GPU; the last axis is the pipeline stage, the others are the broadcast shape of the inputs."""

    weight_bytes: Floats
    gradient_bytes: Floats
    optimizer_bytes: Floats
    activation_bytes: Floats  # of all micro-batches in flight, logits included on the last stage
    transient_bytes: Floats  # gathered weights, gradient buckets, a layer made again: on top in the backward pass
    step_bytes: Floats  # what the optimizer step adds once activations are gone

    @property
    def state_bytes(self) -> Floats:
        """Weights, gradients and optimizer states: there at every moment. [bytes]"""
        return self.weight_bytes + self.gradient_bytes + self.optimizer_bytes

    @property
    def backward_bytes(self) -> Floats:
        """The worst moment of the backward pass: states, activations, and what passes through. [bytes]"""
        return self.state_bytes + self.activation_bytes + self.transient_bytes

    @property
    def peak_bytes(self) -> Floats:
        """The higher of the backward pass and the optimizer step. [bytes]"""
        return np.maximum(self.backward_bytes, self.state_bytes + self.step_bytes)

    @property
    def peaks_in_step(self) -> NDArray[np.bool_]:
        """Whether the optimizer step, and not the backward pass, is the higher moment."""
        return np.asarray(self.step_bytes > self.activation_bytes + self.transient_bytes)

    def parts_at_peak(self) -> dict[str, Floats]:
        """What the peak is the sum of. In the optimizer step activations are gone, and only the step's copies pass."""
        in_step = self.peaks_in_step
        return {
            "weights": self.weight_bytes,
            "gradients": self.gradient_bytes,
            "optimizer": self.optimizer_bytes,
            "activations": np.where(in_step, 0.0, self.activation_bytes),
            "transients": np.where(in_step, self.step_bytes, self.transient_bytes),
        }

    def fullest(self) -> TrainingMemory:
        """The pipeline stage with the highest peak, stage axis gone."""
        at = np.argmax(self.peak_bytes, axis=-1, keepdims=True)
        return TrainingMemory(*(np.take_along_axis(getattr(self, f.name), at, -1)[..., 0] for f in fields(self)))


def training_memory(
    model: ModelSpec,
    *,
    data_parallel: ArrayLike,
    zero_stage: ArrayLike,
    tensor_parallel: int = 1,
    pipeline_parallel: int = 1,
    context_parallel: int = 1,
    expert_parallel: int = 1,
    virtual_stages: int = 1,
    num_micro_batches: int = 1,
    recipe: str = "adam",
    offload: Offload = "none",
    recompute: Recompute = "none",
    **options: Unpack[MicroBatch],
) -> TrainingMemory:
    """Every part of one GPU's training memory, for each pipeline stage.

    Args:
        model: what is trained.
        data_parallel: ranks that see different data; arrays broadcast with ``zero_stage`` and the options. [GPUs]
        zero_stage: 0 to 3. [-]
        tensor_parallel, pipeline_parallel, context_parallel, expert_parallel: GPUs that split each replica. [GPUs]
        virtual_stages, num_micro_batches: the pipeline's schedule, 1F1B or interleaved.
        recipe: optimizer recipe, a name that :func:`core.lora.named_recipe` knows.
        offload: as in :func:`core.zero.zero_memory`.
        recompute: as in :func:`core.stage_activations.stage_activation_bytes`.
        options: seq_len, micro_batch_size, sequence_parallel, fused_attention; numbers may be arrays.

    Returns:
        [bytes per GPU], shape (*broadcast, pipeline_parallel).

    ZeRO shards dense weights over data x context ranks, and experts over those of them that hold the same experts:
    each expert is split over tensor x expert ranks, so (data x context / expert) copies remain.
    Assumes even shards (also of what tensor parallelism copies: norms and routers, a position table, which is 2.1 % of
    the first stage of Megatron 1T, and the projections down to latents) and dropout off;
    leaves out the CUDA context, communication libraries and fragmentation.
    Source: Rajbhandari et al. 2020, arXiv:1910.02054; Korthikanti et al. 2022, arXiv:2205.05198; experts:
    Megatron-LM, docs on MoE parallel folding (expert data parallelism).
    """
    states = state_parts(
        model,
        data_parallel=data_parallel,
        zero_stage=zero_stage,
        tensor_parallel=tensor_parallel,
        pipeline_parallel=pipeline_parallel,
        context_parallel=context_parallel,
        expert_parallel=expert_parallel,
        virtual_stages=virtual_stages,
        recipe=recipe,
        offload=offload,
    )
    kept, again = activation_parts(
        model,
        tensor_parallel=tensor_parallel,
        pipeline_parallel=pipeline_parallel,
        context_parallel=context_parallel,
        expert_parallel=expert_parallel,
        virtual_stages=virtual_stages,
        num_micro_batches=num_micro_batches,
        recompute=recompute,
        **options,
    )
    return states.with_activations(kept, again)


def state_parts(
    model: ModelSpec,
    *,
    data_parallel: ArrayLike,
    zero_stage: ArrayLike,
    tensor_parallel: int,
    pipeline_parallel: int,
    context_parallel: int,
    expert_parallel: int,
    virtual_stages: int,
    recipe: str,
    offload: Offload,
) -> States:
    """The part of :func:`training_memory` that knows nothing of tokens, dense weights and experts together."""
    params, states = stage_params(model, pipeline_parallel, virtual_stages), named_recipe(model, recipe)
    ranks, stage = (np.asarray(value)[..., None] for value in (data_parallel, zero_stage))
    replicas = ranks * context_parallel
    dense = _states(params.dense, params.largest_unit, tensor_parallel, replicas, stage, states, offload)
    if not params.experts.any():
        return dense
    divides("expert_parallel", expert_parallel, "data_parallel * context_parallel", replicas)
    split, copies = tensor_parallel * expert_parallel, replicas // expert_parallel
    experts = _states(params.experts, params.largest_expert_unit, split, copies, stage, states, offload)
    return States(*(of_dense + of_experts for of_dense, of_experts in zip(dense, experts, strict=True)))


def activation_parts(
    model: ModelSpec,
    *,
    tensor_parallel: int,
    pipeline_parallel: int,
    context_parallel: int,
    expert_parallel: int,
    virtual_stages: int,
    num_micro_batches: int,
    recompute: Recompute,
    **options: Unpack[MicroBatch],
) -> tuple[Floats, Floats]:
    """The part of :func:`training_memory` that knows nothing of data parallelism.

    Returns:
        what is kept until the backward pass; what making a layer again adds to it. Logits are freed before the first
        layer is made again, so on the last stage only what exceeds them adds to the peak.
    """
    run = cast(
        ActivationOptions,
        {
            **options,
            "tensor_parallel": tensor_parallel,
            "context_parallel": context_parallel,
            "expert_parallel": expert_parallel,
        },
    )
    kept = stage_activation_bytes(
        model,
        pipeline_parallel=pipeline_parallel,
        num_micro_batches=num_micro_batches,
        virtual_stages=virtual_stages,
        recompute=recompute,
        logits_copies=LOGITS_COPIES,
        **run,
    )
    again = recompute_bytes(
        model, recompute=recompute, pipeline_parallel=pipeline_parallel, virtual_stages=virtual_stages, **run
    )
    return kept.total_bytes, np.maximum(again - kept.logits_bytes, 0.0)


def _states(
    params: Floats,
    unit: Floats,
    split: int,
    ranks: ArrayLike,
    stage: ArrayLike,
    recipe: StateRecipe,
    offload: Offload,
) -> States:
    """Of dense weights alone, or of experts alone."""
    some = params > 0  # a stage may hold no experts; ZeRO's formula asks for at least one parameter
    peak: ZeroPeak = zero_peak(
        np.where(some, params, 1.0) / split,
        ranks,
        stage=stage,
        unit_params=np.where(some, unit, 1.0) / split,
        optimizer=recipe,
        offload=offload,
    )
    return States(
        weights=peak.steady.weight_bytes * some,
        gradients=peak.steady.gradient_bytes * some,
        optimizer=peak.steady.optimizer_bytes * some,
        passing=(peak.gathered_weight_bytes + peak.gradient_bucket_bytes) * some,
        step=peak.step_bytes * some,
    )
