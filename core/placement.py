"""Which GPU does what: the order of ranks over nodes, and for each axis of parallelism how many nodes a group spans.

Ranks count tensor fastest, then context, then data, then pipeline, so that the axis that talks most stays nearest.
Experts are spread over the context and data ranks, nearest first.
Source of the order: Megatron-LM, core/parallel_state.py, order "tp-cp-ep-dp-pp".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.checks import Floats, divides, one_of, whole

# replicas: all ranks that hold the same dense weights, so context and data together; expert_replicas: those that hold
# the same experts.
AXES = ("tensor", "context", "expert", "data", "replicas", "expert_replicas", "pipeline")


@dataclass(frozen=True, slots=True)
class AxisGroup:
    """One axis: how large its groups are and how they lie; each field is broadcast."""

    ranks: Floats  # GPUs of one group
    stride: Floats  # from one member to the next, in global ranks
    per_node: Floats  # members in a node, the fewest where nodes differ [GPUs]
    nodes: Floats  # nodes that a group spans, the most where groups differ

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Whether every group lies within one node."""
        return np.asarray(self.nodes <= 1)


def axis_groups(
    *,
    tensor_parallel: ArrayLike = 1,
    context_parallel: ArrayLike = 1,
    data_parallel: ArrayLike = 1,
    pipeline_parallel: ArrayLike = 1,
    expert_parallel: ArrayLike = 1,
    gpus_per_node: ArrayLike = 8,
) -> dict[str, AxisGroup]:
    """The groups of every axis of :data:`AXES`.

    Args:
        tensor_parallel, context_parallel, data_parallel, pipeline_parallel: sizes of the four axes. [GPUs]
        expert_parallel: GPUs that share the experts; must divide context x data. [GPUs]
        gpus_per_node: GPUs that reach each other over the scale-up link. [GPUs]

    Returns:
        by axis; counts are exact where groups and nodes are aligned, else those of the worst group that can be.
    """
    t, c, d, p, e, node = np.broadcast_arrays(
        *(
            whole(name, value)
            for name, value in (
                ("tensor_parallel", tensor_parallel),
                ("context_parallel", context_parallel),
                ("data_parallel", data_parallel),
                ("pipeline_parallel", pipeline_parallel),
                ("expert_parallel", expert_parallel),
                ("gpus_per_node", gpus_per_node),
            )
        )
    )
    divides("expert_parallel", e, "data_parallel * context_parallel", d * c)
    one = np.ones_like(t)
    shapes = {
        "tensor": (t, one),
        "context": (c, t),
        "expert": (e, t),
        "data": (d, t * c),
        "replicas": (c * d, t),
        "expert_replicas": (c * d / e, t * e),
        "pipeline": (p, t * c * d),
    }
    total = t * c * d * p
    # All axes at once, on a new first dimension: a scalar layout costs what one axis would.
    sizes, strides = (np.stack(parts) for parts in zip(*shapes.values(), strict=True))
    together = _group(sizes, strides, node, total)
    return {
        axis: AxisGroup(together.ranks[at], together.stride[at], together.per_node[at], together.nodes[at])
        for at, axis in enumerate(shapes)
    }


def _group(size: Floats, stride: Floats, node: Floats, total: Floats) -> AxisGroup:
    block = size * stride  # consecutive ranks that a set of interleaved groups covers
    inside = (total <= node) | (size == 1) | ((block <= node) & (node % block == 0))
    apart = stride >= node
    members = node / stride  # in a node, where that comes out whole
    even = (node % stride == 0) & (size % np.maximum(members, 1) == 0)
    alone = (block == total) & (node % stride == 0)  # from rank 0 on, so only the last node has fewer
    # A group that straddles unevenly may leave a single member at its end, and touch one node more.
    straddling = np.minimum(np.floor(((size - 1) * stride + node - 1) / node) + 1, size)
    per_node = np.select([inside, apart, even, alone], [size, np.ones_like(size), members, total % node / stride], 1.0)
    whole_nodes = size / np.maximum(members, 1)
    nodes = np.select(
        [inside, apart, even, alone], [np.ones_like(size), size, whole_nodes, np.ceil(total / node)], straddling
    )
    return AxisGroup(ranks=size, stride=stride, per_node=per_node, nodes=nodes)


@dataclass(frozen=True, slots=True, eq=False)
class RankMap:
    """Every GPU's place, one entry a global rank: for drawing who talks to whom."""

    tensor: NDArray[np.int64]
    context: NDArray[np.int64]
    expert: NDArray[np.int64]
    data: NDArray[np.int64]
    pipeline: NDArray[np.int64]
    node: NDArray[np.int64]
    expert_parallel: int

    def groups(self, axis: str) -> NDArray[np.int64]:
        """Global ranks of each group of an axis, shape (groups, size), members in order."""
        one_of("axis", axis, AXES)
        together = self.data * (int(self.context.max()) + 1) + self.context
        along = {
            "tensor": self.tensor,
            "context": self.context,
            "expert": self.expert,
            "data": self.data,
            "replicas": together,
            "expert_replicas": together // self.expert_parallel,
            "pipeline": self.pipeline,
        }[axis]
        # Members differ in their place along the axis alone, so they lie at equal distances in global ranks.
        size = int(along.max()) + 1
        stride = int(np.argmax(along == 1)) if size > 1 else 1
        ranks = np.arange(along.size)
        groups: NDArray[np.int64] = ranks[along == 0][:, None] + stride * np.arange(size)
        return groups


def rank_map(
    *,
    tensor_parallel: int = 1,
    context_parallel: int = 1,
    data_parallel: int = 1,
    pipeline_parallel: int = 1,
    expert_parallel: int = 1,
    gpus_per_node: int = 8,
) -> RankMap:
    """The place of every GPU of one layout; arguments as in :func:`axis_groups`."""
    divides("expert_parallel", expert_parallel, "data_parallel * context_parallel", data_parallel * context_parallel)
    shape = (pipeline_parallel, data_parallel, context_parallel, tensor_parallel)
    pipeline, data, context, tensor = (place.ravel() for place in np.indices(shape))
    return RankMap(
        tensor=tensor,
        context=context,
        expert=(data * context_parallel + context) % expert_parallel,
        data=data,
        pipeline=pipeline,
        node=np.arange(tensor.size) // gpus_per_node,
        expert_parallel=expert_parallel,
    )
