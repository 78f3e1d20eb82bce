"""The training estimate over columns: any fields of a scenario as arrays, and the curve over GPUs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.checks import Floats, one_of, whole
from core.collective_table import MeasuredCollective
from core.constraints import feasible
from core.efficiency import Efficiency
from core.flops import utilization
from core.hardware import Link
from core.links import links_of
from core.memory import training_memory
from core.scenario import TRAINING_FIELDS, TrainingScenario
from core.step_parts import StepTime, rebuilt
from core.step_time import required_flops_per_token, step_time
from core.training import interconnect_of, peaks_of

WORDS = ("recipe", "offload", "recompute", "fused_attention")  # one for a whole sweep
# What memory takes one at a time, since it decides which layers lie where and how they are cut.
SPLITS = ("tensor_parallel", "pipeline_parallel", "context_parallel", "expert_parallel", "virtual_stages")
SCALES = ("strong", "weak")


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSweep:
    """Rows of one sweep; every array has its shape. Where ``can_run`` is False the numbers are NaN."""

    columns: dict[str, NDArray[Any]]  # the fields that vary
    num_gpus: Floats
    step_tokens: Floats
    time: StepTime
    peak_bytes: Floats  # of the fullest stage
    mfu: Floats
    can_run: NDArray[np.bool_]  # the layout breaks no rule
    fits: NDArray[np.bool_]  # and its peak stays within the GPU's memory

    @property
    def tokens_per_s(self) -> Floats:
        """Of all GPUs together. [tokens/s]"""
        return self.step_tokens / self.time.step_s

    @property
    def of_linear(self) -> Floats:
        """Tokens per second and GPU, over those of the first row: 1 is perfect scaling. [-]"""
        each = self.tokens_per_s / self.num_gpus
        return each / each.flat[0]


def sweep(
    scenario: TrainingScenario,
    *,
    scale_up: Link | None = None,
    scale_out: Link | None = None,
    efficiency: Efficiency | None = None,
    matrix_dtype: str | None = None,
    causal: bool = True,
    tables: tuple[MeasuredCollective, ...] = (),
    **columns: ArrayLike,
) -> TrainingSweep:
    """The scenario with some fields replaced by arrays, in one call.

    Args:
        scenario: everything that does not vary.
        scale_up, scale_out, efficiency, matrix_dtype, causal, tables: as in :func:`core.training.estimate`.
        columns: fields of :data:`core.scenario.TRAINING_FIELDS` that are numbers or switches; they broadcast.

    Layouts that break a rule are left out of the computation, not refused: a sweep shows where it may not go.
    """
    for name in columns:
        one_of("column", name, sorted(TRAINING_FIELDS.keys() - set(WORDS)))
    gpu, model = scenario.accelerator, scenario.model
    links, rates = links_of(gpu, scale_up=scale_up, scale_out=scale_out), efficiency or Efficiency.of(gpu)
    names = [name for name in TRAINING_FIELDS if name not in WORDS]
    rows = dict(zip(names, np.broadcast_arrays(*(columns.get(n, scenario.layout[n]) for n in names)), strict=True))
    shape = rows["data_parallel"].shape
    flat = {name: np.ravel(value) for name, value in rows.items()}
    words = {name: scenario.layout[name] for name in WORDS}
    can = np.broadcast_to(feasible(model, flat | words), flat["data_parallel"].shape)
    good = {name: value[can] for name, value in flat.items()}
    where = np.flatnonzero(can)

    def spread(values: ArrayLike) -> Floats:
        whole_column = np.full(can.size, np.nan)
        whole_column[where] = values
        return whole_column.reshape(shape)

    gpus = flat["data_parallel"] * flat["tensor_parallel"] * flat["pipeline_parallel"] * flat["context_parallel"]
    # In floats: the largest of each are more than 64 bits hold.
    tokens = 1.0 * flat["data_parallel"] * flat["num_micro_batches"] * flat["micro_batch_size"] * flat["seq_len"]
    empty = not can.any()
    time = (
        None
        if empty
        else step_time(
            model, peaks_of(gpu, matrix_dtype), interconnect_of(links, rates, tables), rates, **cast(Any, good | words)
        )
    )
    peak = spread(np.zeros(0) if empty else _peaks(scenario, good))
    seconds = rebuilt(lambda read: spread(read(time) if time else np.zeros(0)))
    required = required_flops_per_token(model, flat["seq_len"], recipe=scenario.recipe, causal=causal).reshape(shape)
    rate = np.where(np.isnan(seconds.step_s), 1.0, tokens.reshape(shape) / seconds.step_s)
    used = utilization(
        rate, required, num_gpus=gpus.reshape(shape), peak_flops_per_s=peaks_of(gpu, None).mixing_flops_per_s
    )
    return TrainingSweep(
        columns={name: rows[name] for name in columns},
        num_gpus=gpus.reshape(shape).astype(np.float64),
        step_tokens=tokens.reshape(shape).astype(np.float64),
        time=seconds,
        peak_bytes=peak,
        mfu=np.where(can.reshape(shape), used, np.nan),
        can_run=can.reshape(shape),
        fits=np.asarray(peak <= gpu.hbm_bytes),
    )


def scaling_curve(
    scenario: TrainingScenario, gpus: ArrayLike, *, mode: Literal["strong", "weak"] = "strong", **options: Any
) -> TrainingSweep:
    """The same run on more and more GPUs, data-parallel ranks being what is added.

    Args:
        scenario: one replica's layout, and the batch.
        gpus: numbers of all GPUs; those that hold no whole number of replicas are left out. [GPUs]
        mode: "strong" keeps the sequences of a step, so each rank gets fewer micro-batches, and counts at which they
            cannot be shared out evenly are left out; "weak" keeps each rank's micro-batches, so the batch grows.
        options: as in :func:`sweep`.
    """
    one_of("mode", mode, SCALES)
    count = np.unique(whole("gpus", np.atleast_1d(gpus))).astype(np.int64)
    ranks = count[count % scenario.gpus_per_replica == 0] // scenario.gpus_per_replica
    batches = scenario.data_parallel * scenario.num_micro_batches
    if mode == "strong":
        ranks = ranks[batches % np.maximum(ranks, 1) == 0]
    if not ranks.size:
        raise ValueError(
            f"none of the GPU counts holds whole replicas of {scenario.gpus_per_replica} GPUs that share "
            f"{batches} micro-batches evenly; choose {scenario.gpus_per_replica} times a divisor of {batches}"
        )
    each = batches // ranks if mode == "strong" else np.full(ranks.shape, scenario.num_micro_batches)
    return sweep(scenario, data_parallel=ranks, num_micro_batches=each, **options)


def _peaks(scenario: TrainingScenario, rows: dict[str, NDArray[Any]]) -> Floats:
    """Peak of the fullest stage in each row, one evaluation for each way to split the model. [bytes]"""
    splits, which = np.unique(np.stack([rows[name] for name in SPLITS]), axis=1, return_inverse=True)
    peak = np.zeros(which.size)
    for number, split in enumerate(splits.T.tolist()):
        here = which.ravel() == number
        layout = {name: value[here] for name, value in rows.items()} | dict(zip(SPLITS, split, strict=True))
        layout["num_micro_batches"] = layout["num_micro_batches"][:, None]  # beside the stage axis
        words = {name: scenario.layout[name] for name in WORDS}
        peak[here] = training_memory(scenario.model, **cast(Any, layout | words)).peak_bytes.max(axis=-1)
    return peak
