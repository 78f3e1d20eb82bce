"""The document ``microbench/1``: what :mod:`core.microbench.record` writes, with every value in its range.

Base units throughout: seconds, bytes, FLOP. Reading from text, with refusals in words, is :func:`read`'s;
docs/microbench.md describes each field.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator

FORMAT: Literal["microbench/1"] = "microbench/1"

# Bounds: far beyond what machines do, so that what lies outside was edited by hand or misread.
MOST_MEASUREMENTS = 20_000
MOST_SKIPPED = 5_000
MOST_SECONDS = 1e5
LEAST_SECONDS = 1e-9  # a cycle lasts half of this
MOST_FLOPS_PER_S = 1e18
MOST_BYTES_PER_S = 1e16
FIRST_YEAR, LAST_YEAR = 2020, 2199

Seconds = Annotated[float, Field(ge=LEAST_SECONDS, le=MOST_SECONDS)]
Bytes = Annotated[int, Field(ge=1, le=10**15)]
BytesOrNone = Annotated[int, Field(ge=0, le=10**15)]
Count = Annotated[int, Field(ge=1, le=10**9)]
Width = Annotated[int, Field(ge=1, le=10**7)]  # of a layer, as core.model_spec bounds it
Heads = Annotated[int, Field(ge=1, le=10**5)]
Amount = Annotated[float, Field(gt=0, le=1e24)]
Share = Annotated[float, Field(ge=0, le=1)]
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]  # it stands in lists and sentences
Text = Annotated[str, Field(max_length=500)]
Dtype = Literal["fp32", "tf32", "bf16", "fp16", "fp8", "int8"]
LayerDtype = Literal["fp32", "bf16", "fp16"]
Mode = Literal["eager", "graph"]


class _Part(BaseModel):
    """Strict, so that "12" is no number; frozen; unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)


def _in_groups(part: Any) -> Any:
    """Query heads share key and value heads evenly, or no kernel runs."""
    if part.num_heads % part.num_kv_heads:
        raise ValueError(f"num_kv_heads={part.num_kv_heads} does not divide num_heads={part.num_heads}")
    return part


class Time(_Part):
    """Time of one call: each sample is the mean over ``calls`` calls in a row."""

    median_s: Seconds
    p10_s: Seconds
    p90_s: Seconds
    samples: Count
    calls: Count
    method: Literal["graph", "events", "wall"]  # replays between device events; launches between them; the wall clock

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not self.p10_s <= self.median_s <= self.p90_s:
            raise ValueError(
                f"p10_s={self.p10_s:g}, median_s={self.median_s:g}, p90_s={self.p90_s:g} do not rise: "
                "quantiles of the same samples do"
            )
        return self

    @property
    def spread(self) -> float:
        """p90 over p10, less one. [-]"""
        return self.p90_s / self.p10_s - 1


class _Measured(_Part):
    """What every measurement has. Of settings see each kind."""

    time: Time
    error: Share | None = None  # |result - reference| / |reference|, the reference in float64
    flops: Amount | None = None  # of one call, as the algorithm needs them [FLOP]
    bytes: Amount | None = None  # that one call must move, each operand once [bytes]
    peak_bytes: BytesOrNone | None = None  # most memory beyond what was held before the call

    @model_validator(mode="after")
    def _at_a_possible_rate(self) -> Self:
        for amount, most, unit in ((self.flops, MOST_FLOPS_PER_S, "FLOP/s"), (self.bytes, MOST_BYTES_PER_S, "bytes/s")):
            if amount is not None and amount / self.time.median_s > most:
                raise ValueError(
                    f"{amount:g} in median_s={self.time.median_s:g} would be {amount / self.time.median_s:.3g} {unit}, "
                    "which no device does"
                )
        return self

    @property
    def flops_per_s(self) -> float | None:
        """At the median time. [FLOP/s]"""
        return None if self.flops is None else self.flops / self.time.median_s

    @property
    def bytes_per_s(self) -> float | None:
        """At the median time. [bytes/s]"""
        return None if self.bytes is None else self.bytes / self.time.median_s

    @property
    def settings(self) -> tuple[Any, ...]:
        """What was measured: equal for two measurements of the same."""
        results = {*_Measured.model_fields, "weight_bytes", "kept_bytes"}
        return tuple(getattr(self, name) for name in type(self).model_fields if name not in results)


class Copy(_Measured):
    """Memory or cache bandwidth over the size of a buffer."""

    kind: Literal["copy"]
    op: Literal["copy", "read", "write"]
    buffer_bytes: Bytes


class Matmul(_Measured):
    """A product with an n x k weight matrix for m tokens, or one of its two gradients."""

    kind: Literal["matmul"]
    n: Count
    k: Count
    m: Count
    dtype: Dtype
    role: Literal["forward", "input_gradient", "weight_gradient"]


class Attention(_Measured):
    """Causal attention over whole sequences; training is forward and backward."""

    kind: Literal["attention"]
    variant: Literal["fused", "unfused"]
    direction: Literal["forward", "training"]
    num_heads: Heads
    num_kv_heads: Heads
    head_dim: Width
    batch: Count
    seq_len: Count
    dtype: LayerDtype

    _heads = model_validator(mode="after")(_in_groups)


class AttentionDecode(_Measured):
    """Attention of one token a sequence over a cache of ``context`` tokens, itself included."""

    kind: Literal["attention_decode"]
    num_heads: Heads
    num_kv_heads: Heads
    head_dim: Width
    batch: Count
    context: Count
    dtype: LayerDtype

    _heads = model_validator(mode="after")(_in_groups)


class Vector(_Measured):
    """A kernel of a layer beside products and attention."""

    kind: Literal["vector"]
    op: Literal["norm", "heads", "swiglu", "add", "append"]
    direction: Literal["forward", "training"]
    model: Name
    tokens: Count
    dtype: LayerDtype


class Step(_Measured):
    """One decoder layer's decode step, prefill or training step: what a prediction is judged by."""

    kind: Literal["step"]
    phase: Literal["decode", "prefill", "training"]
    model: Name
    batch: Count
    seq_len: Count  # in decode: the context, the new token included
    mode: Mode
    dtype: LayerDtype
    weight_bytes: Bytes
    kept_bytes: BytesOrNone | None = None  # what a training step's forward pass leaves for its backward pass


class Launch(_Measured):
    """Time from one tiny kernel to the next."""

    kind: Literal["launch"]
    mode: Mode


class HostLink(_Measured):
    """A transfer between host and device."""

    kind: Literal["host_link"]
    direction: Literal["to_device", "to_host"]
    pinned: bool
    buffer_bytes: Bytes


class Collective(_Measured):
    """A collective; ``tensor_bytes`` is the whole unsharded tensor, as in :func:`core.collectives.bytes_per_rank`."""

    kind: Literal["collective"]
    op: Literal["all_reduce", "all_gather", "reduce_scatter", "all_to_all"]
    ranks: Annotated[int, Field(ge=2, le=100_000)]
    backend: Literal["nccl", "gloo"]
    mode: Mode
    tensor_bytes: Bytes
    dtype: LayerDtype


class Reference(_Measured):
    """A plain PyTorch call in a plain loop: the mark for our own curves."""

    kind: Literal["reference"]
    call: Name
    buffer_bytes: Bytes | None = None
    m: Count | None = None
    n: Count | None = None
    k: Count | None = None
    dtype: LayerDtype | None = None


Measurement = Annotated[
    Copy | Matmul | Attention | AttentionDecode | Vector | Step | Launch | HostLink | Collective | Reference,
    Field(discriminator="kind"),
]
Kind = TypeVar("Kind", bound=_Measured)


class Shape(_Part):
    """Sizes of a measured layer."""

    model: Name
    hidden_size: Width
    num_heads: Heads
    num_kv_heads: Heads
    head_dim: Width
    intermediate_size: Width
    qk_norm: bool

    _heads = model_validator(mode="after")(_in_groups)


class Run(_Part):
    """How and when, and by which code."""

    set: Literal["quick", "full", "collectives"]
    command: Text
    started: Annotated[AwareDatetime, Field(strict=False)]
    seconds: Annotated[float, Field(ge=0, le=1e6)]
    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{7,40}\+?$")] | None
    code_sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    dtype: LayerDtype
    ranks: Annotated[int, Field(ge=1, le=100_000)]
    models: Annotated[tuple[Shape, ...], Field(strict=False, max_length=100)]

    @model_validator(mode="after")
    def _in_our_time(self) -> Self:
        if not FIRST_YEAR <= self.started.year <= LAST_YEAR:
            raise ValueError(f"started must lie in the years {FIRST_YEAR} to {LAST_YEAR}")
        return self


class System(_Part):
    """Where it was measured."""

    device: Name
    name: Name
    count: Count
    capability: Annotated[str, Field(pattern=r"^\d{1,3}\.\d{1,2}$")] | None
    num_sms: Count | None
    memory_bytes: BytesOrNone
    free_bytes: BytesOrNone  # when the run began
    cache_bytes: Bytes
    is_slice: bool
    driver: Name | None
    power_limit_w: Annotated[float, Field(gt=0, le=1e5)] | None
    max_clock_hz: Annotated[float, Field(gt=0, le=1e11)] | None
    torch: Name
    cuda: Name | None
    rocm: Name | None
    nccl: Name | None
    python: Name
    os: Name
    machine: Name
    cpu_count: Count
    cpu_threads: Count


class Skipped(_Part):
    """What was not measured, and why."""

    item: Name
    reason: Text
    settings: Annotated[dict[Name, int | float | bool | Text | None], Field(max_length=30)] | None = None


class Result(_Part):
    """One run's result."""

    format: Literal["microbench/1"]
    status: Literal["complete", "partial"]
    stopped: Text | None  # why it is partial
    run: Run
    system: System
    notes: Annotated[tuple[Text, ...], Field(strict=False, max_length=100)]
    measurements: Annotated[tuple[Measurement, ...], Field(strict=False, max_length=MOST_MEASUREMENTS)]
    skipped: Annotated[tuple[Skipped, ...], Field(strict=False, max_length=MOST_SKIPPED)]

    @model_validator(mode="after")
    def _partial_says_why(self) -> Self:
        if (self.status == "partial") != (self.stopped is not None):
            raise ValueError(
                f"status={self.status!r} and stopped={self.stopped!r:.60} disagree: a partial result says why"
            )
        return self

    @model_validator(mode="after")
    def _each_measured_once(self) -> Self:
        counts = Counter(measurement.settings for measurement in self.measurements)
        for settings, count in counts.items():
            if count > 1:
                raise ValueError(f"{settings} was measured {count} times; keep one")
        return self

    def of(self, kind: type[Kind]) -> tuple[Kind, ...]:
        """The measurements of one kind, in the order in which they were made."""
        return tuple(measurement for measurement in self.measurements if isinstance(measurement, kind))

    @property
    def date(self) -> datetime:
        """When the run began."""
        return self.run.started
