"""CPU offload: what the host of one node must hold when model states leave its GPUs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats, one_of, positive, whole
from core.zero import OFFLOADS, Offload, StateRecipe, recipe_of

FP32_BYTES = 4


@dataclass(frozen=True, slots=True)
class HostMemory:
    """Host memory of one node; each field is broadcast. [bytes per node]"""

    state_bytes: Floats  # offloaded states of the node's GPUs, there at every moment
    build_bytes: Floats  # only at the start: the copies from which the GPUs are filled
    buffer_factor: Floats

    @property
    def need_bytes(self) -> Floats:
        """What to buy by DeepSpeed's rule: the larger of both, with room for buffers."""
        return np.maximum(self.state_bytes, self.build_bytes) * self.buffer_factor


def host_memory(
    num_params: ArrayLike,
    data_parallel: ArrayLike,
    *,
    stage: ArrayLike,
    gpus_per_node: ArrayLike,
    offload: Offload = "optimizer",
    optimizer: str | StateRecipe = "adam",
    sharded_init: bool = False,
    unit_params: ArrayLike = 1,
    buffer_factor: ArrayLike = 1.5,
) -> HostMemory:
    """Host memory of one node under ZeRO with CPU offload.

    Args:
        num_params: parameters of one model replica. [params]
        data_parallel: GPUs that share the states. [GPUs]
        stage: ZeRO stage, 0 to 3; unsharded states are kept once a GPU. [-]
        gpus_per_node: data-parallel GPUs of one node; of them, no more than there are count. [GPUs]
        offload: as in :func:`core.zero.zero_memory`.
        optimizer: recipe; a CPU optimizer steps on fp32 gradients, which then lie on the host.
        sharded_init: whether each GPU builds its shard alone (``zero.Init``). Otherwise every process first builds the
            whole model in fp32.
        unit_params: the largest layer, built whole even then. [params]
        buffer_factor: DeepSpeed's allowance. [-]

    Both DeepSpeed estimates differ from this: for stage 2 its page adds up the states of all nodes on one (16 bytes a
    parameter), and its code lets every node build the model for all GPUs of the job, not for its own.
    Source: DeepSpeed's page "Memory Requirements", its stage 3 rule; Ren et al. 2021, arXiv:2101.06840, section 3.
    """
    recipe = recipe_of(optimizer)
    one_of("offload", offload, OFFLOADS)
    psi, n, level, here, unit, factor = np.broadcast_arrays(
        positive("num_params", num_params),
        whole("data_parallel", data_parallel),
        whole("stage", stage, low=0, high=3),
        whole("gpus_per_node", gpus_per_node),
        positive("unit_params", unit_params),
        positive("buffer_factor", buffer_factor),
    )
    gpus = np.minimum(here, n)
    stepped = recipe.optimizer_bytes + recipe.host_gradient_bytes if offload != "none" else 0.0
    moved = np.where(level >= 3, recipe.weight_bytes, 0.0) if offload == "optimizer+parameters" else 0.0
    return HostMemory(
        state_bytes=np.asarray(gpus * psi * (stepped + moved) / np.where(level >= 1, n, 1)),
        build_bytes=np.asarray(FP32_BYTES * gpus * (unit if sharded_init else psi)),
        buffer_factor=factor,
    )
