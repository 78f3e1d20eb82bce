"""What step 2 shows of a training scenario: memory by ZeRO stage over GPUs, what fits, what each stage costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.activations import RECOMPUTES, Recompute
from core.checks import Floats
from core.collectives import zero_traffic
from core.constraints import feasible
from core.lora import named_recipe
from core.memory import (
    ACTIVATION_FIELDS,
    STATE_FIELDS,
    TrainingMemory,
    activation_parts,
    stage_params,
    state_parts,
    training_memory,
)
from core.params import count_params
from core.scenario import TrainingScenario
from core.zero import STAGES

# Positions of the slider: every count up to a node, then two a doubling, to the size of the largest published runs.
DATA_PARALLEL = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048)
SEQ_LEN = tuple(512 * 2**k for k in range(12))


@dataclass(frozen=True, slots=True)
class Headline:
    """The numbers that a person compares before and after a change, on the fullest pipeline stage's GPU."""

    state_bytes: float  # weights, gradients and optimizer states
    activation_bytes: float
    peak_bytes: float
    room_bytes: float  # negative where the peak does not fit
    peaks_in_step: bool  # the optimizer step is the highest moment, not the backward pass
    traffic_bytes: float  # sent by a GPU of the busiest pipeline stage, an optimizer step
    traffic_ratio: float  # over plain data parallelism; 0 on one rank, which sends nothing
    largest_params: float

    @property
    def fits(self) -> bool:
        """Whether the peak stays within the GPU's memory."""
        return self.room_bytes >= 0

    @property
    def over_bytes(self) -> float:
        """By how much the peak exceeds the GPU's memory; 0 where it fits."""
        return max(-self.room_bytes, 0.0)

    def against(self, pinned: Headline) -> Difference:
        """How far these numbers lie above pinned ones."""
        return Difference(
            state_bytes=self.state_bytes - pinned.state_bytes,
            activation_bytes=self.activation_bytes - pinned.activation_bytes,
            peak_bytes=self.peak_bytes - pinned.peak_bytes,
            room_bytes=self.room_bytes - pinned.room_bytes,
            traffic_bytes=self.traffic_bytes - pinned.traffic_bytes,
            fitted=pinned.fits,
        )


@dataclass(frozen=True, slots=True)
class Difference:
    """One headline less another. [bytes]"""

    state_bytes: float
    activation_bytes: float
    peak_bytes: float
    room_bytes: float
    traffic_bytes: float
    fitted: bool  # whether the other one did


@dataclass(frozen=True, slots=True, eq=False)
class PartitionSweep:
    """Memory of the fullest pipeline stage's GPU; axes are the slider's positions and the ZeRO stages 0 to 3."""

    data_parallel: tuple[int, ...]
    memory: TrainingMemory  # (positions, stages)
    largest_params: Floats  # parameters whose states alone would fit [params]
    traffic_bytes: Floats  # sent by a GPU of the busiest pipeline stage for one optimizer step [bytes]
    hbm_bytes: float

    @property
    def fits(self) -> NDArray[np.bool_]:
        """Whether the peak stays within the GPU's memory."""
        return np.asarray(self.memory.peak_bytes <= self.hbm_bytes)

    @property
    def room_bytes(self) -> Floats:
        """What is left of the GPU's memory at the peak; negative where it does not fit. [bytes]"""
        return self.hbm_bytes - self.memory.peak_bytes

    def headline(self, index: int, stage: int) -> Headline:
        """One position and stage."""
        at = index, stage
        plain = float(self.traffic_bytes[index, 0])
        return Headline(
            state_bytes=float(self.memory.state_bytes[at]),
            activation_bytes=float(self.memory.activation_bytes[at]),
            peak_bytes=float(self.memory.peak_bytes[at]),
            room_bytes=float(self.room_bytes[at]),
            peaks_in_step=bool(self.memory.peaks_in_step[at]),
            traffic_bytes=float(self.traffic_bytes[at]),
            traffic_ratio=float(self.traffic_bytes[at]) / plain if plain else 0.0,
            largest_params=float(self.largest_params[at]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class ActivationSweep:
    """Memory of the fullest stage over sequence length, for each way to recompute."""

    seq_len: tuple[int, ...]
    memory: Mapping[str, TrainingMemory]  # by recompute; each (positions,)
    hbm_bytes: float

    def largest_part(self, recompute: str, index: int) -> str:
        """Which of weights, gradients, optimizer and activations is the largest at one length."""
        memory = self.memory[recompute]
        parts = {
            "weights": memory.weight_bytes,
            "gradients": memory.gradient_bytes,
            "optimizer": memory.optimizer_bytes,
            "activations": memory.activation_bytes,
        }
        return max(parts, key=lambda name: float(parts[name][index]))

    def activations_against(self, recompute: str, pinned: Headline) -> list[float]:
        """How far the activations at each length lie above pinned ones. [bytes]"""
        differences: list[float] = (self.memory[recompute].activation_bytes - pinned.activation_bytes).tolist()
        return differences


def positions(standard: tuple[int, ...], here: int) -> tuple[int, ...]:
    """Slider positions with the scenario's own value among them."""
    return standard if here in standard else tuple(sorted({*standard, here}))


@lru_cache(maxsize=128)
def over_data_parallel(scenario: TrainingScenario) -> PartitionSweep:
    """Every ZeRO stage at every position of the GPU slider, in one call.

    Kept for the next call: moving the slider changes neither the positions nor what stands at them.
    """
    ranks = np.array(positions(DATA_PARALLEL, scenario.data_parallel))
    # Experts spread over more ranks than there are, or over a part of them, cannot be: those positions are left out.
    can_run = feasible(scenario.model, scenario.layout | {"data_parallel": ranks}) & np.ones(
        ranks.shape, dtype=np.bool_
    )
    anywhere = scenario.model_copy(update={"data_parallel": 1, "zero_stage": 0})
    return _over_data_parallel(anywhere, tuple(ranks[can_run].tolist()))


@lru_cache(maxsize=128)
def _over_data_parallel(scenario: TrainingScenario, ranks: tuple[int, ...]) -> PartitionSweep:
    column, stages = np.array(ranks)[:, None], np.array(STAGES)
    hbm = float(scenario.accelerator.hbm_bytes)
    layout = scenario.layout | {"data_parallel": column, "zero_stage": stages}
    memory = training_memory(scenario.model, **layout)
    return PartitionSweep(
        data_parallel=ranks,
        memory=memory.fullest(),
        largest_params=largest_of_shape(scenario, memory),
        traffic_bytes=traffic_by_stage(scenario, column, stages).max(axis=-1),
        hbm_bytes=hbm,
    )


def largest_of_shape(scenario: TrainingScenario, memory: TrainingMemory) -> Floats:
    """Parameters of this model, all its parts grown alike, whose states alone would fill the GPU that holds most.

    Without tensor, pipeline and expert parallelism this is :func:`core.zero.largest_model`. Infinite where no state
    stays on the GPU. [params]
    """
    states = memory.state_bytes.max(axis=-1)
    with np.errstate(divide="ignore"):
        return np.asarray(count_params(scenario.model).total * float(scenario.accelerator.hbm_bytes) / states)


def traffic_by_stage(scenario: TrainingScenario, data_parallel: ArrayLike, zero_stage: ArrayLike) -> Floats:
    """What a GPU of each pipeline stage sends for data parallelism in a step; the last axis is the stage. [bytes]

    Dense weights are shared by all data x context ranks, experts by those of them that hold the same ones.
    """
    params = stage_params(scenario.model, scenario.pipeline_parallel, scenario.virtual_stages)
    ranks, level = (np.asarray(value)[..., None] for value in (data_parallel, zero_stage))
    replicas = ranks * scenario.context_parallel
    split, expert_split = scenario.tensor_parallel, scenario.tensor_parallel * scenario.expert_parallel
    total: Floats = np.zeros(())
    for share, copies in (
        (params.dense / split, replicas),
        (params.experts / expert_split, replicas // scenario.expert_parallel),
    ):
        some = share > 0
        sent = zero_traffic(
            np.where(some, share, 1.0),
            copies,
            stage=level,
            optimizer=named_recipe(scenario.model, scenario.recipe),
            accumulation_steps=scenario.num_micro_batches,
        )
        total = total + sent.total_bytes * some
    return total


def headline_of(scenario: TrainingScenario) -> Headline:
    """The scenario's own numbers."""
    sweep = over_data_parallel(scenario)
    return sweep.headline(sweep.data_parallel.index(scenario.data_parallel), scenario.zero_stage)


@lru_cache(maxsize=128)
def over_seq_len(scenario: TrainingScenario) -> ActivationSweep:
    """All three ways to recompute at every sequence length that the layout can take."""
    lengths = tuple(s for s in positions(SEQ_LEN, scenario.seq_len) if s % scenario.context_parallel == 0)
    layout = scenario.layout
    states = state_parts(scenario.model, **{name: layout[name] for name in STATE_FIELDS})
    anywhere = scenario.model_copy(update={"data_parallel": 1, "zero_stage": 0, "seq_len": 1, "recipe": "adam"})
    return ActivationSweep(
        seq_len=lengths,
        memory={
            recompute: states.with_activations(kept, again).fullest()
            for recompute, (kept, again) in _activations_over(anywhere, lengths).items()
        },
        hbm_bytes=float(scenario.accelerator.hbm_bytes),
    )


@lru_cache(maxsize=128)
def _activations_over(scenario: TrainingScenario, lengths: tuple[int, ...]) -> dict[Recompute, tuple[Floats, Floats]]:
    """What no sharding of states changes, kept for the next move of the GPU slider."""
    layout = {name: value for name, value in scenario.layout.items() if name in ACTIVATION_FIELDS}
    return {
        recompute: activation_parts(scenario.model, **(layout | {"seq_len": np.array(lengths), "recompute": recompute}))
        for recompute in RECOMPUTES
    }


def by_pipeline_stage(scenario: TrainingScenario) -> TrainingMemory:
    """Memory of each pipeline stage's GPUs for the scenario as it stands; shape (pipeline_parallel,)."""
    return training_memory(scenario.model, **scenario.layout)
