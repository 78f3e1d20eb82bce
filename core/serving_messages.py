"""What tensor parallelism waits for in serving: an all-reduce after each mixer and MLP, over a deployment's links."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats, whole
from core.collective_time import LINK_EFFICIENCY, FabricLink, LinkEfficiency, collective_estimate_s
from core.hardware import Accelerator, Link, load_links
from core.sequence_state import MOST_GPUS
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
    tokens, gpus = np.broadcast_arrays(work.tokens, whole("tensor_parallel", tensor_parallel, high=MOST_GPUS))
    if np.all(gpus == 1):
        return np.zeros(gpus.shape)
    if fabric.scale_up is None:
        return np.where(gpus > 1, np.nan, 0.0)
    degrees = np.flatnonzero(np.bincount(gpus.ravel().astype(np.int64))).astype(np.float64)
    if tokens.max() * degrees.size >= tokens.size:
        return _all_reduces_s(work, tokens, gpus, fabric, efficiency)
    # A long sweep repeats few sizes: each is timed once and looked up.
    table = _all_reduces_s(work, np.arange(1, tokens.max() + 1)[:, None], degrees, fabric, efficiency)
    return np.asarray(table[tokens.astype(np.int64) - 1, np.searchsorted(degrees, gpus)])


def _all_reduces_s(
    work: ServingWork, tokens: Floats, gpus: Floats, fabric: Fabric, efficiency: LinkEfficiency
) -> Floats:
    assert fabric.scale_up is not None
    one = collective_estimate_s(
        "all_reduce",
        tokens * work.token_message_bytes,
        gpus,
        scale_up=fabric.scale_up,
        scale_out=fabric.scale_out,
        per_node=np.minimum(gpus, fabric.gpus_per_node),
        efficiency=efficiency,
    )
    return work.num_messages * one
