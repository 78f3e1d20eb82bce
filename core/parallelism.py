"""Pipeline parallelism: which stage holds which layers, how long stages wait, how many micro-batches they keep."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.checks import Floats, not_negative, one_of, positive, whole

SCHEDULES = ("gpipe", "1f1b", "interleaved", "zb-h1")


@dataclass(frozen=True, slots=True)
class PipelineBubble:
    """Idle share of a stage's time, in both customary denominators; each field is broadcast. [-]"""

    of_ideal: Floats  # idle time over the time that perfect pipelining would need
    of_total: Floats  # idle time over the time that it takes


def pipeline_bubble(stages: ArrayLike, micro_batches: ArrayLike, *, virtual_stages: ArrayLike = 1) -> PipelineBubble:
    """Time that a pipeline stage waits for its first and after its last micro-batch.

    Args:
        stages: pipeline-parallel stages, p. [stages]
        micro_batches: micro-batches of one step, m. [micro-batches]
        virtual_stages: chunks of layers a stage holds when the schedule is interleaved, v. [chunks]

    Returns:
        (p - 1) / (v m) of the ideal time and (p - 1) / (v m + p - 1) of the whole, broadcast.

    Assumes equal stages and no time for sending. Papers quote the first; a profiler's idle share is the second.
    Source: Narayanan et al. 2021, arXiv:2104.04473, sections 2.2.1 and 2.2.2.
    """
    p, m, v = np.broadcast_arrays(
        whole("stages", stages), whole("micro_batches", micro_batches), whole("virtual_stages", virtual_stages)
    )
    return PipelineBubble(of_ideal=(p - 1) / (v * m), of_total=(p - 1) / (v * m + p - 1))


def schedule_bubble(
    kind: str,
    stages: ArrayLike,
    micro_batches: ArrayLike,
    *,
    virtual_stages: ArrayLike = 1,
    forward: ArrayLike = 1.0,
    backward: ArrayLike = 2.0,
    weight_part: ArrayLike = 1.0,
) -> PipelineBubble:
    """Idle share of a pipeline by its schedule, for equal stages and no time for sending.

    Args:
        kind: one of :data:`SCHEDULES`. GPipe and 1F1B wait equally long; 1F1B keeps fewer activations.
        stages: p. [stages]
        micro_batches: m. [micro-batches]
        virtual_stages: chunks of layers a stage holds, v; used by "interleaved" alone. [chunks]
        forward: time of one micro-batch's forward pass on one stage. [any unit of time]
        backward: of its backward pass, both gradients. [the same]
        weight_part: of the weights' gradient in it, which "zb-h1" puts off into the bubble. [the same]

    Returns:
        idle time (p - 1) (f + b), over v when interleaved; zero-bubble H1 (p - 1) (f + b - 2 w), a third of the others
        when the three passes are equally long; with fewer micro-batches than stages only min(p, m) - 1 of the w fit
        into the second half of it.

    Sources: Huang et al. 2019, arXiv:1811.06965 (GPipe); Narayanan et al. 2021, arXiv:2104.04473, section 2.2;
    Qi et al. 2024, arXiv:2401.10241, table 1: (p - 1) (T_F + T_B - T_W) with T_B the input's gradient alone.
    """
    p, m, v, f, b, w = np.broadcast_arrays(
        whole("stages", stages),
        whole("micro_batches", micro_batches),
        whole("virtual_stages", virtual_stages),
        positive("forward", forward),
        positive("backward", backward),
        not_negative("weight_part", weight_part),
    )
    if np.any(w > b):
        raise ValueError("weight_part is a part of backward, so it must not be longer")
    idle = (p - 1) * (f + b)
    if one_of("kind", kind, SCHEDULES) == "interleaved":
        idle = idle / v
    elif kind == "zb-h1":
        idle = (p - 1) * (f + b - w) - (np.minimum(p, m) - 1) * w
    ideal = m * (f + b)
    return PipelineBubble(of_ideal=np.asarray(idle / ideal), of_total=np.asarray(idle / (ideal + idle)))


def stage_layers(num_layers: int, pipeline_parallel: int) -> NDArray[np.int64]:
    """Layers of each stage, first stage first, shape (pipeline_parallel,); the first stages take what is left over.

    Frameworks differ here: some give the last stage fewer layers because it also holds the output head.
    """
    return np.bincount(layer_stages(num_layers, pipeline_parallel), minlength=pipeline_parallel).astype(np.int64)


def layer_stages(num_layers: int, pipeline_parallel: int, *, virtual_stages: int = 1) -> NDArray[np.int64]:
    """The stage (0-based) that holds each layer, shape (num_layers,).

    Layers are cut into ``pipeline_parallel * virtual_stages`` chunks in order, the first chunks taking what is left
    over; chunk c lies on stage c modulo ``pipeline_parallel``.
    """
    layers, stages, virtual = (
        int(whole(name, value))
        for name, value in (
            ("num_layers", num_layers),
            ("pipeline_parallel", pipeline_parallel),
            ("virtual_stages", virtual_stages),
        )
    )
    chunks = stages * virtual
    if chunks > layers:
        raise ValueError(
            f"pipeline_parallel={stages} times virtual_stages={virtual} needs {chunks} layers, "
            f"one a chunk at least, but num_layers={layers}"
        )
    sizes = np.full(chunks, layers // chunks) + (np.arange(chunks) < layers % chunks)
    return np.repeat(np.arange(chunks) % stages, sizes).astype(np.int64)


def in_flight_micro_batches(
    stages: ArrayLike, micro_batches: ArrayLike, *, stage: ArrayLike = 0, virtual_stages: ArrayLike = 1
) -> Floats:
    """Micro-batches whose activations one stage keeps at its fullest moment, under 1F1B.

    Args:
        stages: pipeline-parallel stages, p. [stages]
        micro_batches: micro-batches of one step, m. [micro-batches]
        stage: which stage, 0 being the first and fullest. [-]
        virtual_stages: chunks of layers a stage holds when the schedule is interleaved, v. [chunks]

    Returns:
        min(p - i, m) without interleaving. With it, a stage warms up with 2 (p - i - 1) + (v - 1) p forward passes of
        one chunk, one more is on its way, and v chunks are one micro-batch: at the first stage p + (p - 1) / v.

    Source: Korthikanti et al. 2022, arXiv:2205.05198, section 4.2.3: p (1 + (p - 1) / (p v)) at the first stage.
    Other stages: Megatron-LM, core/pipeline_parallel/schedules.py, warm-up of the interleaved schedule.
    """
    p, m, i, v = np.broadcast_arrays(
        whole("stages", stages),
        whole("micro_batches", micro_batches),
        whole("stage", stage, low=0),
        whole("virtual_stages", virtual_stages),
    )
    if np.any(i >= p):
        raise ValueError("stage counts from 0, so it must be smaller than stages")
    # One stage has nobody to wait for: each micro-batch ends before the next begins, interleaved or not.
    chunks = np.where((v > 1) & (p > 1), 2 * (p - i - 1) + (v - 1) * p + 1, (p - i) * v)
    return np.asarray(np.minimum(chunks / v, m))
