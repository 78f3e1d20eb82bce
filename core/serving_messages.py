"""What tensor parallelism waits for in serving: an all-reduce after each mixer and MLP, over a deployment's links."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats, whole
from core.collective_time import LINK_EFFICIENCY, FabricLink, LinkEfficiency, collective_estimate_s
from core.hardware import Accelerator, Link
from core.links import DEFAULT_GPUS_PER_NODE, links_of
from core.sequence_state import MOST_GPUS
from core.serving_work import ServingWork

GPUS_OF_A_NODE = DEFAULT_GPUS_PER_NODE


@dataclass(frozen=True, slots=True)
class Fabric:
    """The links between the GPUs of a deployment."""

    scale_up: FabricLink | None
    scale_out: FabricLink | None = None
    gpus_per_node: int = GPUS_OF_A_NODE
    assumed: tuple[str, ...] = ()  # plain sentences: what the catalog does not say


def fabric_of(accelerator: Accelerator, *, scale_up: Link | None = None, scale_out: Link | None = None) -> Fabric:
    """The given links, or those that the accelerator usually comes with; see :func:`core.links.links_of`."""
    links = links_of(accelerator, scale_up=scale_up, scale_out=scale_out)
    return Fabric(links.scale_up, links.scale_out, links.gpus_per_node, links.assumed)


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
