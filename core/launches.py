"""Kernel launches: when they, and no limit of the GPU, set the time of a step.

The CPU queues kernels one after the other. While each runs longer than a launch takes, launches hide behind work; a
decode step of many tiny kernels waits for its launches instead. A CUDA graph launches them all at once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats, not_negative, positive, whole
from core.units import MICROSECOND

# Time from one tiny kernel to the next. Hosts differ: by the same code two hosts with an H200 took 6.8 and 10.3 us one
# by one, and 1.04 us each in a graph. Stated is the slower host's, rounded; the graph's with a little to spare.
EAGER_LAUNCH_S = 10 * MICROSECOND
GRAPH_LAUNCH_S = 1.1 * MICROSECOND
LAUNCH_SOURCE = (
    "measured on NVIDIA H200 with PyTorch 2.11, where hosts differ: one by one a launch took 6.8 us on one and 10.3 us "
    "on another, and the slower host's is stated, rounded"
)


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
