"""The unit of activation memory: one tensor that a layer keeps for its backward pass, and how a run shares it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Required, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats, positive, whole
from core.working import Term, number, product, scalar

MASK_BYTES = 1  # a dropout mask is one byte an element
FP32_BYTES = 4
INT32_BYTES = 4


class ActivationOptions(TypedDict, total=False):
    """How a layer is run. Numbers may be arrays that broadcast.

    seq_len: tokens of one sequence, s. [tokens]
    micro_batch_size: sequences of one forward pass, b; 1. [sequences]
    tensor_parallel: GPUs that split heads and MLP widths, t; 1. [GPUs]
    sequence_parallel: whether norms, dropout and what they keep are split over those GPUs too; False.
    context_parallel: GPUs that split the sequence itself; 1. [GPUs]
    expert_parallel: GPUs that split the experts. Under even routing each gets as many tokens as it sends, so it
        changes nothing by itself; 1. [GPUs]
    expert_tensor_parallel: GPUs that split each expert; None: as tensor_parallel, Megatron's default. [GPUs]
    expert_load: tokens of the busiest expert-parallel GPU over the average; at most expert_parallel; 1. [-]
    keep_expert_outputs: whether routing weights multiply the experts' outputs, which are then kept for the weights'
        gradient (True), or the activation before the last projection (False).
    fused_attention: a tiled kernel, which keeps softmax statistics in the place of scores; True.
    fused_mlp: one kernel for a gate's activation function and product; without it the function's output is kept
        as well; True.
    dropout: whether dropout runs, whose masks are kept; False.
    element_bytes: size of an activation; 2, a 16-bit format. [bytes]
    """

    seq_len: Required[ArrayLike]
    micro_batch_size: ArrayLike
    tensor_parallel: ArrayLike
    sequence_parallel: ArrayLike
    context_parallel: ArrayLike
    expert_parallel: ArrayLike
    expert_tensor_parallel: ArrayLike | None
    expert_load: ArrayLike
    keep_expert_outputs: bool
    fused_attention: bool
    fused_mlp: bool
    dropout: bool
    element_bytes: ArrayLike


@dataclass(frozen=True, slots=True)
class Run:
    """Validated options, and over how many GPUs a tensor is split."""

    seq_len: Floats
    micro_batch_size: Floats
    tensor_parallel: Floats
    sequence_parallel: Floats  # 1 or 0
    context_parallel: Floats
    expert_parallel: Floats
    expert_tensor_parallel: Floats
    expert_load: Floats
    keep_expert_outputs: bool
    fused_attention: bool
    fused_mlp: bool
    dropout: bool
    element_bytes: Floats

    @classmethod
    def of(cls, **options: Unpack[ActivationOptions]) -> Run:
        """Options with their defaults, each refused in words if it is no use."""
        tensor_parallel = whole("tensor_parallel", options.get("tensor_parallel", 1))
        expert_tensor = options.get("expert_tensor_parallel")
        expert_parallel = whole("expert_parallel", options.get("expert_parallel", 1))
        load = positive("expert_load", options.get("expert_load", 1.0))
        return cls(
            seq_len=whole("seq_len", options["seq_len"]),
            micro_batch_size=whole("micro_batch_size", options.get("micro_batch_size", 1)),
            tensor_parallel=tensor_parallel,
            sequence_parallel=np.asarray(options.get("sequence_parallel", False), dtype=bool).astype(np.float64),
            context_parallel=whole("context_parallel", options.get("context_parallel", 1)),
            expert_parallel=expert_parallel,
            expert_tensor_parallel=tensor_parallel
            if expert_tensor is None
            else whole("expert_tensor_parallel", expert_tensor),
            # One GPU with all experts gets all tokens, whatever the routing.
            expert_load=np.minimum(np.maximum(load, 1.0), expert_parallel),
            keep_expert_outputs=options.get("keep_expert_outputs", True),
            fused_attention=options.get("fused_attention", True),
            fused_mlp=options.get("fused_mlp", True),
            dropout=options.get("dropout", False),
            element_bytes=positive("element_bytes", options.get("element_bytes", 2)),
        )

    @property
    def whole(self) -> Floats:
        """Split of what tensor parallelism alone replicates: norms, residuals, projection inputs."""
        return self.context_parallel * np.where(self.sequence_parallel > 0, self.tensor_parallel, 1.0)

    @property
    def split(self) -> Floats:
        """Split of what lies inside a tensor-parallel region."""
        return self.context_parallel * self.tensor_parallel

    def by_heads(self, num_heads: int) -> Floats:
        """Split of a tensor by heads: with fewer heads than GPUs, each GPU holds a copy of one."""
        return self.context_parallel * np.minimum(self.tensor_parallel, num_heads)

    @property
    def expert_tokens(self) -> Floats:
        """Split of the tokens that experts work on: GPUs that share an expert see each other's tokens."""
        return self.context_parallel * self.tensor_parallel / self.expert_tensor_parallel


@dataclass(frozen=True, slots=True)
class Kept:
    """One tensor: ``width`` elements for each token, over ``shares`` GPUs."""

    label: str
    width: ArrayLike  # [elements a token]
    shares: ArrayLike  # [GPUs]
    why: str  # the gradient that needs it
    element_bytes: int | None = None  # None: that of the run
    core: bool = False  # selective recomputation drops it

    def bytes(self, run: Run) -> Floats:
        """Its memory on one GPU, broadcast. [bytes]"""
        size = run.element_bytes if self.element_bytes is None else self.element_bytes
        return np.asarray(size * run.seq_len * run.micro_batch_size * np.asarray(self.width) / np.asarray(self.shares))

    def term(self, run: Run) -> Term:
        """The same as arithmetic; for one run, not for a sweep."""
        size = run.element_bytes if self.element_bytes is None else self.element_bytes
        shares = scalar("shares", self.shares)
        factors = product(
            scalar("element_bytes", size),
            scalar("seq_len", run.seq_len),
            scalar("micro_batch_size", run.micro_batch_size),
            scalar(self.label, self.width),
        )
        expression = factors if shares == 1 else f"{factors} / {number(shares)}"
        return Term(self.label, expression, scalar(self.label, self.bytes(run)), "bytes", self.why)
