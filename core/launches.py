"""Kernel launches: how many a decode step makes, and when they, and no limit of the GPU, set its time.

The CPU queues kernels one after the other. While each runs longer than a launch takes, launches hide behind work; a
decode step of many tiny kernels waits for its launches instead. A CUDA graph launches them all at once.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats, not_negative, positive, whole
from core.units import MICROSECOND
from core.work import Operator

# Time from one tiny kernel to the next, measured on one NVIDIA H200 with PyTorch 2.11.
EAGER_LAUNCH_S = 10 * MICROSECOND
GRAPH_LAUNCH_S = 1.1 * MICROSECOND

# Kernels that one operator becomes when each operation is a kernel of its own, as in plain PyTorch code: 48 in a Llama
# layer, which is what transformers 5.24 dispatches under torch 2.13 (eager attention; views left out). An RMSNorm
# widens to fp32, squares, averages, adds, takes a root, multiplies, narrows and scales, and a residual sum follows.
UNFUSED_KERNELS = {
    "norms and residuals": 9,
    "final norm": 8,
    "rotary positions": 10,  # for queries and keys each: two products, a negation, a concatenation, a sum
    "query, key and value projections": 3,
    "MLP gate and up projections": 2,
    "shared expert gate and up projections": 2,
    "expert gate and up projections": 2,
    "activation function": 2,
    "cache write": 2,
}
UNFUSED_ATTENTION_KERNELS = (
    9  # keys and values copied for their groups, product, scale, mask, softmax, 2 casts, product
)


def num_kernels(operators: Iterable[Operator], *, fused: bool) -> int:
    """Kernels of one pass; ``operators`` are those of :func:`core.operators.model_operators`. [kernels]

    Args:
        operators: of one pass.
        fused: one kernel an operator, as serving engines run; or one an operation, an estimate for plain PyTorch code.
    """
    return sum(operator.count * (1 if fused else _unfused(operator)) for operator in operators)


def _unfused(operator: Operator) -> int:
    if operator.kind == "attention":
        return UNFUSED_ATTENTION_KERNELS
    return UNFUSED_KERNELS.get(operator.label, 1)


def step_s(work_s: ArrayLike, kernels: ArrayLike, *, launch_s: ArrayLike) -> Floats:
    """A step as long as the later of two runners: the GPU at work, or the queue that feeds it.

    Args:
        work_s: the kernels' own time. [s]
        kernels: launches of the step. [kernels]
        launch_s: from one launch to the next: :data:`EAGER_LAUNCH_S`, or :data:`GRAPH_LAUNCH_S` inside a graph. [s]

    Returns:
        [s], broadcast. A floor: short and long kernels take turns, and a launch hides only behind what is queued.
    """
    return np.maximum(not_negative("work_s", work_s), queue_s(kernels, launch_s=launch_s))


def queue_s(kernels: ArrayLike, *, launch_s: ArrayLike) -> Floats:
    """The time that launches alone take. [s]"""
    return np.asarray(whole("kernels", kernels, low=0) * positive("launch_s", launch_s))


def hidden_bytes(kernels: ArrayLike, bytes_per_s: ArrayLike, *, launch_s: ArrayLike) -> Floats:
    """Bytes that memory could move while a step's launches go out; a step that moves fewer is bound by launches.

    Args:
        kernels: launches of the step. [kernels]
        bytes_per_s: memory bandwidth. [bytes/s]
        launch_s: as in :func:`step_s`.

    Returns:
        [bytes], broadcast; compare with the weights and cache that a decode step reads.
    """
    return queue_s(kernels, launch_s=launch_s) * positive("bytes_per_s", bytes_per_s)
