"""A training scenario in, a report out: time of a step and what it goes to, memory of each stage, the limit that binds.

Times are estimates (:mod:`core.step_time`); ``floor_s`` alone is a floor, and no latency. Sweeps make the same call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.capacity import memory_problem
from core.checks import Floats
from core.collective_table import MeasuredCollective
from core.constraints import Problem, length_note
from core.efficiency import Efficiency
from core.flops import train_flops_per_token, utilization
from core.flow_time import Interconnect
from core.hardware import Accelerator, Link
from core.links import Links, links_of
from core.lora import ADAPTERS
from core.memory import TrainingMemory, training_memory
from core.placement import AxisGroup, axis_groups
from core.scenario import TrainingScenario
from core.step_parts import Limit, StepTime
from core.step_time import Peaks, required_flops_per_token, step_time

__all__ = ["Limit", "TrainingReport", "estimate", "interconnect_of", "peaks_of"]


@dataclass(frozen=True, slots=True, eq=False)
class TrainingReport:
    """What one training run would do, as far as can be estimated. Where ``problems`` is not empty it would not run."""

    scenario: TrainingScenario
    links: Links
    efficiency: Efficiency
    time: StepTime  # 0-d
    memory: TrainingMemory  # per part; the last axis is the pipeline stage
    step_s: float  # estimate
    floor_s: float  # required FLOPs at the peak of all GPUs: no layout comes near it
    tokens_per_s: float  # of all GPUs
    mfu: float  # required FLOPs over the peak
    hfu: float  # executed FLOPs over the peak
    matrix_dtype: str | None  # None: the accelerator's 16-bit format
    causal: bool  # whether both count only the attention that the mask leaves
    limit: Limit
    pressure: Mapping[Limit, float]  # 1 binds: memory over capacity, or a limit's time over the longest one's
    placement: Mapping[str, AxisGroup]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]  # plain sentences: what was assumed, what is not in the time

    @property
    def time_split(self) -> dict[str, float]:
        """Seconds of a step by what they go to, in the order of a stacked bar; they add up to ``step_s``."""
        return {name: float(seconds) for name, seconds in self.time.parts().items()}

    @property
    def tokens_per_s_per_gpu(self) -> float:
        """One GPU's share. [tokens/s]"""
        return self.tokens_per_s / self.scenario.num_gpus

    @property
    def trains_all(self) -> bool:
        """Whether every weight gets a gradient, and not adapters alone."""
        return self.scenario.recipe not in ADAPTERS

    @property
    def fits(self) -> bool:
        """Whether the fullest stage's peak stays within the GPU's memory."""
        return self.pressure["capacity"] <= 1


def estimate(
    scenario: TrainingScenario,
    *,
    scale_up: Link | None = None,
    scale_out: Link | None = None,
    efficiency: Efficiency | None = None,
    matrix_dtype: str | None = None,
    causal: bool = True,
    tables: tuple[MeasuredCollective, ...] = (),
) -> TrainingReport:
    """The report of one training scenario.

    Args:
        scenario: the layout, valid by construction.
        scale_up, scale_out: links; None: those that the accelerator usually comes with.
        efficiency: what kernels and links reach; None: the defaults for this accelerator.
        matrix_dtype: format of the products with weights, such as "fp8"; None: the accelerator's 16-bit format.
            Attention stays in 16 bits, and MFU and HFU are shares of the 16-bit peak, as papers give them.
        causal: whether MFU and HFU count the attention that the mask leaves, or all of it as older papers do.
        tables: measured collectives that stand in for the model where they were measured.

    Raises:
        ValueError: the accelerator has no confirmed peak to compute a time from; its memory can be had from
            :func:`core.memory.training_memory`.
    """
    run, gpu = scenario, scenario.accelerator
    links = links_of(gpu, scale_up=scale_up, scale_out=scale_out)
    rates = efficiency or Efficiency.of(gpu)
    time = step_time(run.model, peaks_of(gpu, matrix_dtype), interconnect_of(links, rates, tables), rates, **run.layout)
    memory = training_memory(run.model, **run.layout)
    tokens = run.data_parallel * run.num_micro_batches * run.micro_batch_size * run.seq_len
    step_s = float(time.step_s)
    required = required_flops_per_token(run.model, run.seq_len, recipe=run.recipe, causal=causal)
    executed = required + _again(run, causal)
    peak = {"num_gpus": run.num_gpus, "peak_flops_per_s": peaks_of(gpu, None).mixing_flops_per_s}
    times = {limit: float(seconds) for limit, seconds in time.by_limit().items()}
    longest = max(times, key=lambda limit: times[limit])
    capacity = float(memory.peak_bytes.max()) / gpu.hbm_bytes
    problem = memory_problem(run)
    return TrainingReport(
        scenario=run,
        links=links,
        efficiency=rates,
        time=time,
        memory=memory,
        step_s=step_s,
        floor_s=float(required * tokens / (run.num_gpus * peaks_of(gpu, matrix_dtype).matrix_flops_per_s)),
        tokens_per_s=tokens / step_s,
        mfu=float(utilization(tokens / step_s, required, **peak)),
        hfu=float(utilization(tokens / step_s, executed, **peak)),
        matrix_dtype=matrix_dtype,
        causal=causal,
        limit="capacity" if problem else longest,
        pressure={"capacity": capacity, **{limit: seconds / times[longest] for limit, seconds in times.items()}},
        placement=axis_groups(
            gpus_per_node=links.gpus_per_node,
            **{name: run.layout[name] for name in run.layout if name.endswith("_parallel") and "sequence" not in name},
        ),
        problems=(problem,) if problem else (),
        notes=_notes(run, links),
    )


def peaks_of(accelerator: Accelerator, matrix_dtype: str | None) -> Peaks:
    """Peaks in the accelerator's 16-bit format, products with weights in another if named. Raises ValueError."""
    half = accelerator.peak_flops_per_s(accelerator.half_dtype or "bf16")
    matrix = half if matrix_dtype is None else accelerator.peak_flops_per_s(matrix_dtype)
    return Peaks(matrix_flops_per_s=matrix, mixing_flops_per_s=half, bytes_per_s=accelerator.hbm_bytes_per_s)


def interconnect_of(links: Links, efficiency: Efficiency, tables: tuple[MeasuredCollective, ...] = ()) -> Interconnect:
    """Links as :func:`core.step_time.step_time` takes them."""
    return Interconnect(links.scale_up, links.scale_out, links.gpus_per_node, efficiency.link, tables)


def _again(run: TrainingScenario, causal: bool) -> Floats:
    """FLOPs of one token that recomputation adds. [FLOP]"""
    both = (
        train_flops_per_token(run.model, run.seq_len, causal=causal, recompute=recompute)
        for recompute in (run.recompute, "none")
    )
    more, less = both
    return np.asarray(more - less)


def _notes(run: TrainingScenario, links: Links) -> tuple[str, ...]:
    beyond = length_note(run.model, run.seq_len)
    notes = [*links.assumed, *([beyond] if beyond else [])]
    if run.virtual_stages > 1 and run.num_micro_batches % run.pipeline_parallel:
        notes.append(
            f"An interleaved pipeline runs micro-batches in rounds of {run.pipeline_parallel}; "
            f"{run.num_micro_batches} leave the last round unfilled, which the bubble here does not show."
        )
    if run.offload != "none":
        notes.append("CPU offload takes time on the host and its link, which is not in the step.")
    if run.expert_parallel > 1:
        notes.append("Experts are taken to get equal numbers of tokens.")
    if run.recipe in ADAPTERS:
        notes.append("Frozen weights need no gradient: the backward pass makes half of its usual products.")
    return tuple(notes)
