"""One layout of a training run over GPUs, checked once, and shaped for formulas whose last axis is the stage."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Required, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from core.activations import RECOMPUTES, Recompute
from core.checks import Floats, one_of, whole
from core.placement import AxisGroup, axis_groups
from core.working import scalar
from core.zero import OFFLOADS, Offload

ACTIVATION_BYTES = 2  # activations and their gradients are sent and kept in a 16-bit format


class LayoutOptions(TypedDict, total=False):
    """Fields of :class:`core.scenario.TrainingScenario`; numbers may be arrays that broadcast."""

    seq_len: Required[ArrayLike]
    data_parallel: ArrayLike
    tensor_parallel: ArrayLike
    context_parallel: ArrayLike
    expert_parallel: ArrayLike
    sequence_parallel: ArrayLike
    zero_stage: ArrayLike
    micro_batch_size: ArrayLike
    num_micro_batches: ArrayLike
    pipeline_parallel: int
    virtual_stages: int
    recipe: str
    offload: Offload
    recompute: Recompute
    fused_attention: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """Checked numbers, each with a trailing axis of one along which pipeline stages are laid."""

    seq_len: Floats
    data_parallel: Floats
    tensor_parallel: Floats
    context_parallel: Floats
    expert_parallel: Floats
    sequence_parallel: Floats  # 1 or 0
    zero_stage: Floats
    micro_batch_size: Floats
    num_micro_batches: Floats
    pipeline_parallel: int
    virtual_stages: int
    recipe: str
    offload: Offload
    recompute: Recompute
    fused_attention: bool

    @classmethod
    def of(cls, **options: Unpack[LayoutOptions]) -> Layout:
        """Options with their defaults, each refused in words if it is no use."""

        def column(name: str, value: ArrayLike, low: int = 1, high: int | None = None) -> Floats:
            return whole(name, value, low=low, high=high)[..., None]

        return cls(
            seq_len=column("seq_len", options["seq_len"]),
            data_parallel=column("data_parallel", options.get("data_parallel", 1)),
            tensor_parallel=column("tensor_parallel", options.get("tensor_parallel", 1)),
            context_parallel=column("context_parallel", options.get("context_parallel", 1)),
            expert_parallel=column("expert_parallel", options.get("expert_parallel", 1)),
            sequence_parallel=np.asarray(options.get("sequence_parallel", False), dtype=bool)[..., None] * 1.0,
            zero_stage=column("zero_stage", options.get("zero_stage", 0), 0, 3),
            micro_batch_size=column("micro_batch_size", options.get("micro_batch_size", 1)),
            num_micro_batches=column("num_micro_batches", options.get("num_micro_batches", 1)),
            pipeline_parallel=int(scalar("pipeline_parallel", whole("pipeline_parallel", _stages(options)))),
            virtual_stages=int(scalar("virtual_stages", whole("virtual_stages", options.get("virtual_stages", 1)))),
            recipe=options.get("recipe", "adam"),
            offload=_offload(options.get("offload", "none")),
            recompute=_recompute(options.get("recompute", "none")),
            fused_attention=bool(options.get("fused_attention", True)),
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """What the numbers broadcast to, stage axis left out."""
        arrays = [getattr(self, field.name) for field in fields(self)]
        return np.broadcast_shapes(*(a.shape for a in arrays if isinstance(a, np.ndarray)))[:-1]

    @property
    def num_gpus(self) -> Floats:
        """All GPUs of the run. [GPUs]"""
        return self.tensor_parallel * self.context_parallel * self.data_parallel * self.pipeline_parallel

    @property
    def micro_batch_tokens(self) -> Floats:
        """Tokens of one micro-batch that a GPU works on; tensor-parallel GPUs work on the same ones. [tokens]"""
        return self.micro_batch_size * self.seq_len / self.context_parallel

    @property
    def step_tokens(self) -> Floats:
        """Tokens of all sequences of one optimizer step. [tokens]"""
        return self.micro_batch_size * self.seq_len * self.num_micro_batches * self.data_parallel

    @property
    def token_split(self) -> Floats:
        """GPUs that share what tensor parallelism alone leaves whole. [GPUs]"""
        return np.where(self.sequence_parallel > 0, self.tensor_parallel, 1.0)

    def hidden_bytes(self, width: float) -> Floats:
        """One tensor of ``width`` elements a token, of one micro-batch, before tensor parallelism splits it. [bytes]"""
        return ACTIVATION_BYTES * self.micro_batch_tokens * width

    def groups(self, gpus_per_node: ArrayLike) -> dict[str, AxisGroup]:
        """How the groups of each axis lie on nodes, by :func:`core.placement.axis_groups`."""
        return axis_groups(
            tensor_parallel=self.tensor_parallel,
            context_parallel=self.context_parallel,
            data_parallel=self.data_parallel,
            pipeline_parallel=self.pipeline_parallel,
            expert_parallel=self.expert_parallel,
            gpus_per_node=gpus_per_node,
        )


def _stages(options: LayoutOptions) -> int:
    return options.get("pipeline_parallel", 1)


def _recompute(value: Recompute) -> Recompute:
    one_of("recompute", value, RECOMPUTES)
    return value


def _offload(value: Offload) -> Offload:
    one_of("offload", value, OFFLOADS)
    return value
