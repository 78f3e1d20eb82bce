"""One operator of a model on one GPU: what it computes and moves in a pass, and the pass that it is part of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, TypedDict, Unpack, get_args

import numpy as np
from numpy.typing import ArrayLike

from core.activations import RECOMPUTES, Recompute
from core.checks import Floats, one_of, whole
from core.dtypes import bytes_per_element
from core.hardware import Accelerator
from core.paged_attention import MOST_TOKENS
from core.sequence_state import MOST_GPUS, MOST_SEQUENCES
from core.token_mixing import View

Phase = Literal["training", "prefill", "decode"]
# Kinds whose FLOPs are no model FLOPs: few for each byte, on the vector units.
VECTOR_KINDS = ("elementwise", "embedding", "optimizer")


@dataclass(frozen=True, slots=True)
class Operator:
    """All occurrences of one operator in one pass, on one GPU; fields broadcast against each other."""

    label: str
    kind: str  # projection, attention, indexer, state, convolution, mlp, experts, router, head, or a vector kind
    count: int  # how often it occurs
    flops: Floats  # executed: a tiled backward's remade scores and recomputation included [FLOP]
    weight_bytes: Floats  # read, and in training their gradients written
    activation_bytes: Floats  # read and written
    cache_bytes: Floats  # KV cache, index keys and states, read or written

    @property
    def bytes(self) -> Floats:
        """Everything it moves from or to the main memory. [bytes]"""
        return self.weight_bytes + self.activation_bytes + self.cache_bytes

    @property
    def intensity(self) -> Floats:
        """FLOP for each byte. [FLOP/byte]"""
        return self.flops / self.bytes

    @property
    def on_vector_units(self) -> bool:
        """Whether it runs beside the matrix units and counts no model FLOPs."""
        return self.kind in VECTOR_KINDS

    def __add__(self, other: Operator) -> Operator:
        """Both together, under this one's name."""
        return replace(
            self,
            count=self.count + other.count,
            flops=self.flops + other.flops,
            weight_bytes=self.weight_bytes + other.weight_bytes,
            activation_bytes=self.activation_bytes + other.activation_bytes,
            cache_bytes=self.cache_bytes + other.cache_bytes,
        )

    def time_floor_s(self, accelerator: Accelerator, dtype: str) -> Floats:
        """The longer of computing and moving. Vector units run at the fp32 rate, where the catalog has one. [s]"""
        peak = accelerator.peak_flops_per_s(dtype)
        if self.on_vector_units:
            peak = accelerator.fp32_flops_per_s or peak
        return np.maximum(self.flops / peak, self.bytes / accelerator.hbm_bytes_per_s)


def merged(operators: Iterable[Operator], *, by: Literal["label", "kind"] = "label") -> tuple[Operator, ...]:
    """Operators of one label, or of one kind and named after it, added up; in order of first appearance."""
    sums: dict[str, Operator] = {}
    for operator in operators:
        key = operator.label if by == "label" else operator.kind
        named = operator if by == "label" else replace(operator, label=key)
        sums[key] = sums[key] + named if key in sums else named
    return tuple(sums.values())


NOTHING: Floats = np.zeros(())


class WorkOptions(TypedDict, total=False):
    """How a pass runs. Numbers may be arrays that broadcast.

    batch: sequences on this GPU's tensor-parallel group; 1. [sequences]
    tensor_parallel: GPUs that split heads and MLP widths; numbers are those of the fullest one; 1. [GPUs]
    expert_parallel: GPUs that split the experts, each with such a batch of its own; 1. [GPUs]
    sequence_parallel: whether norms are split over the tensor-parallel GPUs too; False.
    weight_dtype: storage format of weights, scales included; "bf16".
    activation_dtype: "bf16".
    kv_dtype: of keys, values, latents and index keys; "bf16".
    state_dtype, conv_dtype: of recurrent states and convolution tails; "fp32", as in core.sequence_state.
    causal: whether attention kernels skip what the mask hides; True.
    fused_attention: a tiled kernel, which never writes scores; True.
    latents: how latent attention runs. None (default): absorbed where it decodes and where an indexer picks tokens,
        for sparse kernels read latents (DeepSeek-V3.2 report, section 2.1); expanded elsewhere.
    recompute: what training makes again; "none".
    recipe: optimizer, a name of core.zero.RECIPES; "adam".
    optimizer_shards: GPUs that share the optimizer's work, as ZeRO stages from 1 on do; 1. [GPUs]
    """

    batch: ArrayLike
    tensor_parallel: ArrayLike
    expert_parallel: ArrayLike
    sequence_parallel: bool
    weight_dtype: str
    activation_dtype: str
    kv_dtype: str
    state_dtype: str
    conv_dtype: str
    causal: bool
    fused_attention: bool
    latents: Literal["expanded", "absorbed"] | None
    recompute: Recompute
    recipe: str
    optimizer_shards: ArrayLike


@dataclass(frozen=True, slots=True)
class Work:
    """A validated pass: its tokens, and sizes of elements."""

    phase: Phase
    batch: Floats
    seq_len: Floats
    tokens: Floats  # that pass through the matrices
    tensor_parallel: Floats
    expert_parallel: Floats
    whole: Floats  # split of what lies outside tensor-parallel regions
    weight_size: float
    activation_size: float
    kv_size: float
    state_size: float
    conv_size: float
    view: View
    fused_attention: bool
    latents: Literal["expanded", "absorbed"] | None
    recompute: Recompute

    @classmethod
    def of(cls, phase: Phase, seq_len: ArrayLike, **options: Unpack[WorkOptions]) -> Work:
        """Options with their defaults, each refused in words if it is no use."""
        unknown = options.keys() - WorkOptions.__annotations__.keys()
        if unknown:
            raise TypeError(f"unknown options {sorted(unknown)}; choose from {sorted(WorkOptions.__annotations__)}")
        one_of("phase", phase, get_args(Phase))
        recompute = options.get("recompute", "none")
        one_of("recompute", recompute, RECOMPUTES)
        latents = options.get("latents")
        if latents is not None:
            one_of("latents", latents, ("expanded", "absorbed"))
        length = whole("seq_len", seq_len, high=MOST_TOKENS)
        batch = whole("batch", options.get("batch", 1), high=MOST_SEQUENCES)
        gpus = whole("tensor_parallel", options.get("tensor_parallel", 1), high=MOST_GPUS)
        decodes = phase == "decode"
        return cls(
            phase=phase,
            batch=batch,
            seq_len=length,
            tokens=batch * np.ones_like(length) if decodes else batch * length,
            tensor_parallel=gpus,
            expert_parallel=whole("expert_parallel", options.get("expert_parallel", 1), high=MOST_GPUS),
            whole=gpus if options.get("sequence_parallel", False) else np.ones_like(gpus),
            weight_size=bytes_per_element(options.get("weight_dtype", "bf16")),
            activation_size=bytes_per_element(options.get("activation_dtype", "bf16")),
            kv_size=bytes_per_element(options.get("kv_dtype", "bf16")),
            state_size=bytes_per_element(options.get("state_dtype", "fp32")),
            conv_size=bytes_per_element(options.get("conv_dtype", "fp32")),
            view="last" if decodes else "causal" if options.get("causal", True) else "full",
            fused_attention=options.get("fused_attention", True),
            latents=latents,
            recompute=recompute,
        )

    @property
    def trains(self) -> bool:
        """Whether there is a backward pass."""
        return self.phase == "training"

    def absorbed(self, *, sparse: bool) -> bool:
        """Whether a latent attention layer works in the latent's space."""
        if self.latents is not None:
            return self.latents == "absorbed"
        return sparse or self.phase == "decode"

    def forwards(self, kind: str) -> int:
        """Forward passes of an operator: one more where training makes it again. Head and embedding are made once."""
        again = self.recompute == "full" or (self.recompute == "selective" and kind == "attention")
        return 2 if self.trains and again and kind not in ("head", "embedding") else 1
