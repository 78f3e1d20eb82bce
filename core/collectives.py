"""Collectives: how many bytes each GPU sends, how long a ring takes, and what each ZeRO stage sends in a step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats, not_negative, one_of, positive, whole
from core.zero import StateRecipe, recipe_of

# Bytes that the busiest rank sends, as a share of the whole unsharded tensor, over a ring of n > 1 ranks.
_SENT: dict[str, Callable[[Floats], Floats]] = {
    "all_reduce": lambda n: 2 * (n - 1) / n,  # a reduce-scatter, then an all-gather
    "all_gather": lambda n: (n - 1) / n,  # each rank passes on every shard but the one its neighbour brought along
    "reduce_scatter": lambda n: (n - 1) / n,
    "all_to_all": lambda n: (n - 1) / n**2,  # a rank holds 1/n of the tensor and keeps 1/n of that for itself
    "broadcast": lambda n: np.ones_like(n),  # a pipelined chain: all but the last rank pass the tensor on once
    "send": lambda n: np.ones_like(n),
}
# Messages that wait for each other: each costs one latency.
_STEPS: dict[str, Callable[[Floats], Floats]] = {
    "all_reduce": lambda n: 2 * (n - 1),
    "all_gather": lambda n: n - 1,
    "reduce_scatter": lambda n: n - 1,
    "all_to_all": lambda n: n - 1,  # one partner after another
    "broadcast": lambda n: n - 1,
    "send": lambda n: np.ones_like(n),
}
OPS = tuple(_SENT)


class LinkLike(Protocol):
    """What a time needs to know of a link, such as :class:`core.hardware.Link`."""

    @property
    def bytes_per_s(self) -> float: ...

    @property
    def latency_s(self) -> float | None: ...


def bytes_per_rank(op: str, num_bytes: ArrayLike, ranks: ArrayLike) -> Floats:
    """Bytes that one rank sends (the busiest, where they differ).

    Args:
        op: one of :data:`OPS`.
        num_bytes: the whole unsharded tensor: what all_reduce and broadcast leave on every rank, what all_gather ends
            with, what reduce_scatter starts from, and for all_to_all what all ranks hold together. [bytes]
        ranks: n; one rank sends nothing. [GPUs]

    Returns:
        [bytes], broadcast. A rank receives as much.

    Source: Thakur, Rabenseifner and Gropp 2005, "Optimization of Collective Communication Operations in MPICH";
    the factors are those of nccl-tests, doc/PERFORMANCE.md, whose all-to-all size is one rank's share.
    """
    one_of("op", op, OPS)
    size, n = np.broadcast_arrays(not_negative("num_bytes", num_bytes), whole("ranks", ranks))
    return np.asarray(np.where(n > 1, size * _SENT[op](n), 0.0))


def waiting_messages(op: str, ranks: ArrayLike) -> Floats:
    """Messages of a ring that wait for each other, each for one latency; none among one rank. [messages]"""
    n = whole("ranks", ranks)
    return np.asarray(np.where(n > 1, _STEPS[one_of("op", op, OPS)](n), 0.0))


def collective_time(op: str, num_bytes: ArrayLike, ranks: ArrayLike, link: LinkLike) -> Floats:
    """Time of one collective over a ring: bytes over bandwidth, and a latency for each message that waits.

    Args:
        op: one of :data:`OPS`.
        num_bytes: the whole unsharded tensor, as in :func:`bytes_per_rank`. [bytes]
        ranks: n. [GPUs]
        link: one GPU's one-way rate into the ring. An unknown latency counts as none, so the time is a floor.

    Returns:
        [s], broadcast: a floor. What libraries reach, trees and nodes are in :mod:`core.collective_time`.

    Source: the latency-bandwidth model of Thakur et al. 2005, as in :func:`bytes_per_rank`.
    """
    sent = bytes_per_rank(op, num_bytes, ranks)
    return np.asarray(sent / link.bytes_per_s + waiting_messages(op, ranks) * (link.latency_s or 0.0))


@dataclass(frozen=True, slots=True)
class ZeroTraffic:
    """What one GPU sends for data parallelism; each field has the broadcast shape of the inputs."""

    micro_step_elements: Floats  # every micro-batch
    step_elements: Floats  # once a step
    elements: Floats  # both, over one whole step; the paper's count, which takes (n - 1) / n as 1
    gradient_bytes: Floats  # one whole step, over a ring
    weight_bytes: Floats

    @property
    def total_bytes(self) -> Floats:
        """Gradients and weights of one whole step, over a ring. [bytes]"""
        return self.gradient_bytes + self.weight_bytes


def zero_traffic(
    num_params: ArrayLike,
    data_parallel: ArrayLike,
    *,
    stage: ArrayLike,
    optimizer: str | StateRecipe = "adam",
    accumulation_steps: ArrayLike = 1,
    reduce_each_micro_step: bool = True,
) -> ZeroTraffic:
    r"""Elements and bytes that each GPU sends in one step, by ZeRO stage.

    Args:
        num_params: parameters of one model replica, or of one model-parallel share of it, :math:`\Psi`. [params]
        data_parallel: GPUs that share the states. [GPUs]
        stage: ZeRO stage, 0 to 3. [-]
        optimizer: recipe that says how wide gradients and weights are sent.
        accumulation_steps: micro-batches of one step, m. [micro-batches]
        reduce_each_micro_step: at stage 2 a gradient shard can only be summed if every micro-batch reduces; False
            keeps whole gradients until the step, which costs the memory that stage 2 saves.

    Returns:
        Stages 0 to 2 send :math:`2 \Psi` elements a step (all-reduce, or reduce-scatter of gradients and all-gather of
        weights), stage 3 :math:`3 \Psi` (weights for the forward pass, again for the backward pass, gradients).
        With accumulation stages 0 and 1 still send :math:`2 \Psi`, stage 2 :math:`(m + 1) \Psi`, stage 3
        :math:`3 m \Psi`. One GPU sends nothing.

    Leaves out tensor and pipeline parallelism, which also lies in a step's traffic.
    Source: Rajbhandari et al. 2020, arXiv:1910.02054, section 7.
    """
    recipe = recipe_of(optimizer)
    psi, n, level, m = np.broadcast_arrays(
        positive("num_params", num_params),
        whole("data_parallel", data_parallel),
        whole("stage", stage, low=0, high=3),
        whole("accumulation_steps", accumulation_steps),
    )
    alone = np.where(n > 1, psi, 0.0)
    reduces_each = (level >= 3) | ((level >= 2) & reduce_each_micro_step)
    # In units of psi. An all-reduce of gradients is two passes over them; from stage 1 on the second is the weights'.
    gradients_each, gradients_once = (
        np.where(reduces_each, 1.0, 0.0),
        np.select([reduces_each, level >= 1], [0.0, 1.0], 2.0),
    )
    weights_each, weights_once = np.where(level >= 3, 2.0, 0.0), np.where((level >= 1) & (level < 3), 1.0, 0.0)
    gradients, weights = m * gradients_each + gradients_once, m * weights_each + weights_once
    updated = recipe.weight_bytes if recipe.updated_weight_bytes is None else recipe.updated_weight_bytes
    ring = alone * (n - 1) / n
    return ZeroTraffic(
        micro_step_elements=np.asarray(alone * (gradients_each + weights_each)),
        step_elements=np.asarray(alone * (gradients_once + weights_once)),
        elements=np.asarray(alone * (gradients + weights)),
        gradient_bytes=np.asarray(ring * gradients * recipe.gradient_bytes),
        weight_bytes=np.asarray(ring * (m * weights_each * recipe.weight_bytes + weights_once * updated)),
    )
