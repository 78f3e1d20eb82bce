"""The file of a measured profile, ``measured-profile/1``: kernels and collectives of one system with their source.

Base units: seconds, bytes, elements. A cell that was not measured is null.
"""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field, model_validator

from core.collectives import OPS
from core.hardware import PEAK_DTYPES

FORMAT = "measured-profile/1"
KV_DTYPES = ("bf16", "fp16", "fp32", "fp8")

EXPERT_DTYPES = ("bf16", "fp8", "nvfp4", "mxfp4")  # in which the experts are stored
VECTOR_OPS = ("norm", "heads", "swiglu", "add", "append")  # heads: rotary positions, with norms of heads if any

Seconds = Annotated[float, Field(gt=0, le=1e5, allow_inf_nan=False)]
Size = Annotated[int, Field(gt=0, le=10**15)]
Sizes = Annotated[tuple[Size, ...], Field(min_length=1, max_length=1000)]
Words = Annotated[str, Field(min_length=1, max_length=2000)]


class _Row(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """Nothing unknown, nothing changed later."""


def _rising(name: str, values: tuple[int, ...]) -> None:
    if any(low >= high for low, high in pairwise(values)):
        raise ValueError(f"{name} must rise; sort it and keep each value once")


def _one_for_each(num_bytes: tuple[int, ...], seconds: tuple[float, ...]) -> None:
    _rising("num_bytes", num_bytes)
    if len(seconds) != len(num_bytes):
        raise ValueError("give one time for each size")


class MatmulTable(_Row, frozen=True, extra="forbid", defer_build=True):
    """Products of m rows of k elements with a weight matrix of k x n, in one format."""

    dtype: Literal[PEAK_DTYPES]  # type: ignore[valid-type]
    # input_gradient: (m, n) by (n, k). weight_gradient: (n, m) by (m, k). Both of m rows that went forward.
    role: Literal["forward", "input_gradient", "weight_gradient"] = "forward"
    kernel: Words
    n: Sizes  # outputs
    k: Sizes  # inputs
    m: Sizes  # rows
    seconds: tuple[tuple[tuple[Seconds | None, ...], ...], ...]  # [n][k][m]

    @model_validator(mode="after")
    def _shape(self) -> Self:
        for name in ("n", "k", "m"):
            _rising(name, getattr(self, name))
        wide = all(len(line) == len(self.m) for plane in self.seconds for line in plane)
        if not wide or len(self.seconds) != len(self.n) or any(len(plane) != len(self.k) for plane in self.seconds):
            raise ValueError("seconds must have one value for each n, k and m")
        return self


class AttentionTable(_Row, frozen=True, extra="forbid", defer_build=True):
    """Attention of one shape of heads.

    Decode is of one token a sequence, prefill causal and of whole prompts, training prefill with its backward pass.
    """

    phase: Literal["decode", "prefill", "training"]
    kv_dtype: Literal[KV_DTYPES]  # type: ignore[valid-type]
    kernel: Words
    heads: Size
    kv_heads: Size
    head_dim: Size
    batch: Sizes
    tokens: Sizes  # decode: cached before the new one; else of each prompt
    seconds: tuple[tuple[Seconds | None, ...], ...]  # [batch][tokens]

    @model_validator(mode="after")
    def _shape(self) -> Self:
        _rising("batch", self.batch)
        _rising("tokens", self.tokens)
        if len(self.seconds) != len(self.batch) or any(len(line) != len(self.tokens) for line in self.seconds):
            raise ValueError("seconds must have one value for each batch and number of tokens")
        return self


class ExpertTable(_Row, frozen=True, extra="forbid", defer_build=True):
    """Routed experts of one layer on one GPU, gated: both grouped products, activation, tokens sorted and added up."""

    dtype: Literal[EXPERT_DTYPES]  # type: ignore[valid-type]
    kernel: Words
    routing: Words  # how tokens chose
    hidden_size: Size
    intermediate_size: Size  # of a whole expert
    num_experts: Size
    top_k: Size
    tensor_parallel: Sizes  # GPUs that split each expert
    tokens: Sizes
    seconds: tuple[tuple[Seconds | None, ...], ...]  # [tensor_parallel][tokens]

    @model_validator(mode="after")
    def _shape(self) -> Self:
        _rising("tensor_parallel", self.tensor_parallel)
        _rising("tokens", self.tokens)
        wide = all(len(line) == len(self.tokens) for line in self.seconds)
        if not wide or len(self.seconds) != len(self.tensor_parallel):
            raise ValueError("seconds must have one value for each degree and number of tokens")
        return self


class CollectiveRow(_Row, frozen=True, extra="forbid", defer_build=True):
    """One collective over GPUs of one node."""

    op: Literal[OPS]  # type: ignore[valid-type]
    ranks: Annotated[int, Field(ge=2, le=10**5)]
    num_bytes: Sizes  # the whole unsharded tensor, as in core.collectives
    seconds: tuple[Seconds, ...]

    @model_validator(mode="after")
    def _shape(self) -> Self:
        _one_for_each(self.num_bytes, self.seconds)
        return self


class VectorRow(_Row, frozen=True, extra="forbid", defer_build=True):
    """A kernel between products and attention, by all bytes that it reads and writes."""

    op: Literal[VECTOR_OPS]  # type: ignore[valid-type]
    direction: Literal["forward", "training"]  # training: with its backward pass
    num_bytes: Sizes
    seconds: tuple[Seconds, ...]

    @model_validator(mode="after")
    def _shape(self) -> Self:
        _one_for_each(self.num_bytes, self.seconds)
        return self


class ProfileFile(_Row, frozen=True, extra="forbid", defer_build=True):
    """One system as it was measured."""

    format: Literal["measured-profile/1"]
    id: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    accelerator: str | None = None  # id in accelerators.json; None: not in the catalog
    device: Words  # as its driver names it
    own: bool = False  # measured with this app's own benchmark
    source: Words
    source_url: Annotated[str, Field(pattern=r"^https://")] | None = None
    licence: Words | None = None
    dated: date  # when the data was published, or measured where that is known
    versions: dict[str, str] = {}
    note: str = ""
    matmul: tuple[MatmulTable, ...] = ()
    attention: tuple[AttentionTable, ...] = ()
    experts: tuple[ExpertTable, ...] = ()
    collectives: tuple[CollectiveRow, ...] = ()
    vectors: tuple[VectorRow, ...] = ()
    # What a large copy reads and writes together.
    memory_bytes_per_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    launch_s: Seconds | None = None  # from one tiny kernel to the next, launched one by one
    graph_launch_s: Seconds | None = None  # the same inside a graph
    # Of a run of one's own, by format: the best plain call beside its products, and how many weights its forward
    # products were to be measured with, a number that a run that stopped early does not reach.
    plain_flops_per_s: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = {}
    planned_weights: dict[str, Size] = {}
