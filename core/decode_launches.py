"""A decode step of the scenario launched in four ways: with and without fusion, one by one and as a CUDA graph."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from core.checks import Floats
from core.kernel_counts import num_kernels
from core.launches import EAGER_LAUNCH_S, GRAPH_LAUNCH_S, LAUNCH_SOURCE, hidden_bytes, queue_s, step_s
from core.measured_profile import Profile
from core.operators import model_operators, time_floor_s
from core.scenario import ServingScenario


@dataclass(frozen=True, slots=True)
class LaunchRow:
    """One way to launch a step."""

    name: str
    kernels: int
    launch_s: float  # from one kernel to the next
    queue_s: float  # all launches
    work_s: float  # the kernels' own time, a floor
    step_s: float
    hidden_bytes: float  # that memory could move meanwhile
    launch_source: str  # of launch_s

    @property
    def waits_for_launches(self) -> bool:
        """Whether launches, and not the GPU's work, set the step."""
        return self.queue_s > self.work_s


@lru_cache(maxsize=32)
def launch_rows(scenario: ServingScenario, profile: Profile | None = None) -> tuple[LaunchRow, ...]:
    """Plain PyTorch and fused kernels, each one by one and in a graph. The work is taken as the same in all four.

    Args:
        scenario: the decode step.
        profile: whose launches count, where it has both kinds; else the stated ones.
    """
    eager, graph, source = EAGER_LAUNCH_S, GRAPH_LAUNCH_S, LAUNCH_SOURCE
    if profile is not None and profile.file.launch_s is not None and profile.file.graph_launch_s is not None:
        eager, graph, source = profile.file.launch_s, profile.file.graph_launch_s, profile.citation
    operators = model_operators(
        scenario.model,
        "decode",
        seq_len=scenario.context_len,
        batch=scenario.batch,
        tensor_parallel=scenario.serving_tensor_parallel,
        weight_dtype=scenario.weight_dtype,
        kv_dtype=scenario.kv_dtype,
    )
    chip, dtype = scenario.accelerator, scenario.accelerator.half_dtype
    moved: Floats = sum((operator.bytes for operator in operators), np.zeros(()))
    work = float(time_floor_s(operators, chip, dtype) if dtype else moved / chip.hbm_bytes_per_s)
    rows = []
    for fused, kernels_are in ((False, "a kernel an operation"), (True, "fused kernels")):
        kernels = num_kernels(scenario.model, operators, fused=fused)
        for each, launched in ((eager, "launched one by one"), (graph, "in a CUDA graph")):
            rows.append(
                LaunchRow(
                    name=f"{kernels_are}, {launched}",
                    kernels=kernels,
                    launch_s=each,
                    queue_s=float(queue_s(kernels, launch_s=each)),
                    work_s=work,
                    step_s=float(step_s(work, kernels, launch_s=each)),
                    hidden_bytes=float(hidden_bytes(kernels, chip.hbm_bytes_per_s, launch_s=each)),
                    launch_source=source,
                )
            )
    return tuple(rows)
