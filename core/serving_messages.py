"""What tensor parallelism waits for in serving: an all-reduce after each mixer and MLP, over a deployment's links."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats, whole
from core.collective_time import LINK_EFFICIENCY, FabricLink, LinkEfficiency, collective_estimate_s
from core.hardware import Accelerator, Link, load_links
from core.serving_work import ServingWork

GPUS_OF_A_NODE = 8  # where the catalog does not say how many reach each other at the scale-up rate


@dataclass(frozen=True, slots=True)
class Fabric:
    """The links between the GPUs of a deployment."""

    scale_up: FabricLink | None
    scale_out: FabricLink | None = None
    gpus_per_node: int = GPUS_OF_A_NODE


def fabric_of(accelerator: Accelerator) -> Fabric:
    """The catalog's links of an accelerator: its own inside a node, 400 Gb/s InfiniBand between nodes."""
    links = load_links()
    up: Link | None = None
    if accelerator.scale_up_link is not None:
        up = links[accelerator.scale_up_link]
    elif accelerator.scale_up_bytes_per_s is not None:
        up = links["nvlink-4"].edited(bytes_per_s=accelerator.scale_up_bytes_per_s)
    return Fabric(up, links["infiniband-ndr"], accelerator.scale_up_domain or GPUS_OF_A_NODE)


def messages_s(
    work: ServingWork,
    tensor_parallel: ArrayLike,
    fabric: Fabric,
    *,
    efficiency: LinkEfficiency = LINK_EFFICIENCY,
) -> Floats:
    """Time of all all-reduces of a step; tensor parallelism waits for each. NaN where a group has no known link. [s]"""
    gpus = whole("tensor_parallel", tensor_parallel)
    size = work.message_bytes
    if np.all(gpus == 1):
        return 0.0 * (size * gpus)
    if fabric.scale_up is None:
        return np.where(gpus > 1, np.nan, 0.0 * size)
    one = collective_estimate_s(
        "all_reduce",
        size,
        gpus,
        scale_up=fabric.scale_up,
        scale_out=fabric.scale_out,
        per_node=np.minimum(gpus, fabric.gpus_per_node),
        efficiency=efficiency,
    )
    return work.num_messages * one
