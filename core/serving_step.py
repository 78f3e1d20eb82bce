"""Memory, time and limit of a decode step in one call, on arrays: the report, every sweep and the planner share it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.checks import Floats, whole
from core.hardware import Accelerator
from core.model_spec import ModelSpec
from core.sequence_state import MOST_SEQUENCES
from core.serving_memory import CHUNK_TOKENS, ServingMemory, most_sequences, serving_memory
from core.serving_messages import Fabric, fabric_of
from core.serving_rates import EFFICIENCIES, Efficiencies, StepTime, estimated_time, floor_time
from core.serving_weights import ServingFormats
from core.serving_work import ServingWork, decode_work

LIMITS = ("capacity", "compute", "communication", "bandwidth")
MEMORY_FRACTION = 0.9  # vLLM's --gpu-memory-utilization


@dataclass(frozen=True, slots=True)
class ServingStep:
    """A decode step of each deployment; every array has the broadcast shape of the inputs."""

    batch: Floats
    memory: ServingMemory
    max_batch: NDArray[np.int64]  # what the memory left beside the weights holds
    work: ServingWork
    floor: StepTime
    estimate: StepTime

    @property
    def floor_s(self) -> Floats:
        """What no schedule can beat. [s]"""
        return self.floor.overlapped_s

    @property
    def step_s(self) -> Floats:
        """The estimate; it says nothing of whether the deployment fits. [s]"""
        return self.estimate.sequential_s

    @property
    def tokens_per_s(self) -> Floats:
        """Estimated throughput of the whole group: one token for each sequence and step. [tokens/s]"""
        return self.batch / self.step_s

    @property
    def most_tokens_per_s(self) -> Floats:
        """Throughput at the floor: a ceiling. [tokens/s]"""
        return self.batch / self.floor_s

    @property
    def shares(self) -> dict[str, Floats]:
        """How near each limit is to binding: memory needed over the budget, and each time over the longest one. [-]

        The longest time has 1. A capacity above 1 does not fit. An unknown time (no confirmed peak, no link) is NaN.
        """
        times = {
            "compute": self.estimate.compute_s,
            "communication": self.estimate.communication_s,
            "bandwidth": self.estimate.bandwidth_s,
        }
        longest = np.fmax(np.fmax(times["compute"], times["communication"]), times["bandwidth"])
        shares = {name: np.asarray(time / longest) for name, time in times.items()}
        return {"capacity": np.asarray(self.memory.total_bytes / self.memory.budget_bytes)} | shares

    @property
    def limit(self) -> NDArray[np.str_]:
        """The limit that binds: capacity where it does not fit, else what takes longest; one of :data:`LIMITS`."""
        shares = self.shares
        stacked = np.stack(np.broadcast_arrays(*(np.nan_to_num(shares[name]) for name in LIMITS[1:])))
        slowest = np.array(LIMITS[1:])[np.argmax(stacked, axis=0)]
        return np.where(self.memory.fits, slowest, LIMITS[0])


def serving_step(
    model: ModelSpec,
    accelerator: Accelerator,
    seq_len: ArrayLike,
    *,
    batch: ArrayLike = 1,
    tensor_parallel: ArrayLike = 1,
    tokens_per_sequence: ArrayLike = 1,
    memory_fraction: ArrayLike = MEMORY_FRACTION,
    chunk_tokens: ArrayLike = CHUNK_TOKENS,
    fabric: Fabric | None = None,
    efficiencies: Efficiencies = EFFICIENCIES,
    **formats: Unpack[ServingFormats],
) -> ServingStep:
    """Decode steps of a model on one accelerator.

    Args:
        model, accelerator, seq_len, batch, tensor_parallel, tokens_per_sequence, fabric, efficiencies, formats: as in
            :func:`core.serving.decode_estimate_s`.
        memory_fraction: share of each GPU's memory that the engine may take. [-]
        chunk_tokens: as in :func:`core.serving_memory.serving_memory`. [tokens]

    Degrees are not checked against the model's heads: mask them with :mod:`core.constraints`.
    """
    budget = accelerator.hbm_bytes * np.asarray(memory_fraction, dtype=np.float64)
    shape = {"tensor_parallel": tensor_parallel, "chunk_tokens": chunk_tokens, "budget_bytes": budget}
    work = decode_work(
        model,
        seq_len,
        batch=batch,
        tensor_parallel=tensor_parallel,
        tokens_per_sequence=tokens_per_sequence,
        **formats,
    )
    memory = serving_memory(model, seq_len, batch=batch, **shape, **formats)
    return ServingStep(
        batch=whole("batch", batch, high=MOST_SEQUENCES),
        memory=memory,
        max_batch=most_sequences(memory),
        work=work,
        floor=floor_time(work, accelerator),
        estimate=estimated_time(work, accelerator, tensor_parallel, fabric or fabric_of(accelerator), efficiencies),
    )
