"""Rates at which serving work runs: datasheet rates for floors, stated efficiencies for estimates."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats
from core.collective_time import LINK_EFFICIENCY, LinkEfficiency
from core.hardware import Accelerator
from core.serving_messages import Fabric, fabric_of, messages_s
from core.serving_work import ServingWork

_UNKNOWN = np.nan  # the catalog confirms no peak


@dataclass(frozen=True, slots=True)
class Efficiencies:
    """What kernels reach of datasheet rates, and what each costs before it starts.

    Defaults rest on NVIDIA AIConfigurator 0.12 (Apache-2.0): bf16 kernels as vLLM calls them, on A100, H100, H200,
    B200, B300, GB200, GB300, L40S, RTX PRO 6000 and Arc Pro B60. The 490 products of up to 64 rows come out with a
    median error of 7%; by system the share of bandwidth is 0.70 (A100) to 0.98 (B60) and the start 1 to 5 us.
    """

    weight_bandwidth: float = 0.88
    kv_bandwidth: float = 0.86  # decode attention; by system 0.76 (A100) to 0.92
    matmul_compute: float = 0.76  # median of 336 products of 1,024 rows and more; 0.70 on B200, 0.80 on H100
    attention_compute: float = 0.5  # prefill of 4,096 tokens and more: 0.46 to 0.63 on H100, 0.33 to 0.58 on B200
    matmul_start_s: float = 4e-6
    attention_start_s: float = 11e-6  # decode attention is two or three kernels
    # A tiny kernel inside a CUDA graph, measured on an H200 with PyTorch 2.11; an eager one takes 10 us.
    small_kernel_s: float = 1.1e-6
    # Two norms with their residual sums, rotary embedding, cache write, activation of the MLP: fused as in vLLM.
    small_kernels_per_layer: int = 5
    # Scheduling and sampling that the GPU waits for; engines that prepare the next step meanwhile hide it.
    host_s: float = 0.0
    link: LinkEfficiency = field(default=LINK_EFFICIENCY)


EFFICIENCIES = Efficiencies()
# Datasheet rates, and nothing lost in between: with these a time is a floor.
IDEAL = Efficiencies(1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0, 0.0)


@dataclass(frozen=True, slots=True)
class StepTime:
    """Seconds that each kind of work of a step takes at given rates; each field is broadcast."""

    weight_s: Floats  # reading weights
    kv_s: Floats  # reading the cache, moving states
    matmul_s: Floats  # NaN where the accelerator has no confirmed peak, and so is the next
    attention_s: Floats
    communication_s: Floats
    overhead_s: Floats  # starts of kernels, host

    @property
    def bandwidth_s(self) -> Floats:
        """All memory traffic. [s]"""
        return self.weight_s + self.kv_s

    @property
    def compute_s(self) -> Floats:
        """All FLOPs. [s]"""
        return self.matmul_s + self.attention_s

    @property
    def overlapped_s(self) -> Floats:
        """The longer of memory and compute, as if everything overlapped: what no schedule can beat. [s]"""
        return np.fmax(self.bandwidth_s, self.compute_s)  # an unknown peak leaves the memory's time, still a floor

    @property
    def sequential_s(self) -> Floats:
        """One kernel after another, each bound by its own memory or compute, with messages and starts between. [s]"""
        kernels = np.fmax(self.weight_s, self.matmul_s) + np.fmax(self.kv_s, self.attention_s)
        return kernels + self.communication_s + self.overhead_s


def step_time(
    work: ServingWork,
    accelerator: Accelerator,
    *,
    efficiencies: Efficiencies = EFFICIENCIES,
    communication_s: ArrayLike = 0.0,
) -> StepTime:
    """Work at an accelerator's rates times efficiencies. With :data:`IDEAL` ones its ``overlapped_s`` is a floor."""
    bandwidth = accelerator.hbm_bytes_per_s
    matmul = sum(
        (flops / (multiply_flops_per_s(accelerator, dtype) or _UNKNOWN) for dtype, flops in work.matmul_flops.items()),
        np.zeros(()),
    )
    # Scores and values are multiplied in 16 bits whatever the cache is stored in.
    attention_peak = multiply_flops_per_s(accelerator, "bf16") or _UNKNOWN
    overhead = (
        work.num_matmuls * efficiencies.matmul_start_s
        + work.num_mixers * efficiencies.attention_start_s
        + work.num_layers * efficiencies.small_kernels_per_layer * efficiencies.small_kernel_s
        + efficiencies.host_s
    )
    return StepTime(
        weight_s=work.weight_bytes / (bandwidth * efficiencies.weight_bandwidth),
        kv_s=(work.kv_bytes + work.state_bytes) / (bandwidth * efficiencies.kv_bandwidth),
        matmul_s=matmul / efficiencies.matmul_compute,
        attention_s=work.attention_flops / (attention_peak * efficiencies.attention_compute),
        communication_s=np.asarray(communication_s, dtype=np.float64),
        overhead_s=np.asarray(overhead),
    )


def multiply_dtype(accelerator: Accelerator, dtype: str) -> str | None:
    """The format in which weights stored as ``dtype`` are multiplied; None where no peak is confirmed.

    8-bit and 4-bit floats at their own rate where the accelerator has one, int8 likewise; formats for storage alone
    (int4 in groups, NF4), and all others, are widened to 16 bits first.
    """
    wanted = {
        "fp32": ("tf32", "fp32"),
        "tf32": ("tf32", "fp32"),
        "bf16": ("bf16",),
        "fp16": ("fp16",),
        "fp8": ("fp8",),
        "mxfp8": ("fp8",),
        "int8": ("int8",),
        "fp4": ("fp4",),
        "mxfp4": ("fp4",),
        "nvfp4": ("fp4",),
    }.get(dtype, ())
    have = accelerator.peak_dtypes
    half = accelerator.half_dtype
    chosen = [name for name in wanted if name in have]
    return chosen[0] if chosen else half or (have[-1] if have else None)


def multiply_flops_per_s(accelerator: Accelerator, dtype: str) -> float | None:
    """Peak at which weights stored as ``dtype`` are multiplied; None where none is confirmed. [FLOP/s]"""
    name = multiply_dtype(accelerator, dtype)
    return None if name is None else accelerator.peak_flops_per_s(name)


def floor_time(work: ServingWork, accelerator: Accelerator) -> StepTime:
    """A step's work at datasheet rates, by kind."""
    return step_time(work, accelerator, efficiencies=IDEAL)


def estimated_time(
    work: ServingWork,
    accelerator: Accelerator,
    tensor_parallel: ArrayLike,
    fabric: Fabric | None = None,
    efficiencies: Efficiencies = EFFICIENCIES,
) -> StepTime:
    """A step's work at stated efficiencies, by kind, with the messages between ``tensor_parallel`` GPUs."""
    sent = messages_s(work, tensor_parallel, fabric or fabric_of(accelerator), efficiency=efficiencies.link)
    return step_time(work, accelerator, efficiencies=efficiencies, communication_s=sent)
