"""Which GPUs share a node: the groups of GPU 0 along each axis, and the nodes worth drawing to see them."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from core.placement import AxisGroup, axis_groups
from core.scenario import TrainingScenario

DRAWN_NODES, DRAWN_GPUS = 8, 72  # a rack of 72 is the largest domain that is drawn whole
# The order in which a GPU of several groups takes its colour; letters say them all.
LETTERS = {"tensor": "T", "context": "C", "expert": "E", "data": "D", "pipeline": "P"}


@dataclass(frozen=True, slots=True)
class Group:
    """The group of GPU 0 along one axis, and how it lies on nodes."""

    axis: str
    ranks: int
    stride: int
    fewest: int  # members in a node
    most: int
    nodes: int
    worst_nodes: int  # nodes that another group of the axis may span

    @property
    def inside(self) -> bool:
        """Whether it lies within one node."""
        return self.nodes == 1

    def holds(self, rank: int) -> bool:
        """Whether a GPU belongs to it."""
        return rank % self.stride == 0 and rank // self.stride < self.ranks


@dataclass(frozen=True, slots=True)
class Node:
    """One drawn node: for each GPU the axes along which it shares a group with GPU 0."""

    number: int  # from 0
    first_rank: int
    gpus: tuple[tuple[str, ...], ...]
    left_out: int  # GPUs of the node that are not drawn


@dataclass(frozen=True, slots=True)
class RankPicture:
    """Nodes to draw, groups to explain."""

    nodes: tuple[Node, ...]
    num_nodes: int
    num_gpus: int
    gpus_per_node: int
    groups: tuple[Group, ...]  # of more than one GPU

    @property
    def uneven(self) -> bool:
        """Whether groups and nodes do not line up, so that some group has fewer members in a node than it could."""
        return any(group.fewest < group.most or group.worst_nodes > group.nodes for group in self.groups)


def rank_picture(run: TrainingScenario, gpus_per_node: int) -> RankPicture:
    """GPU 0's groups under the order of :mod:`core.placement`, on at most :data:`DRAWN_NODES` nodes.

    Of many nodes those are drawn that hold the nearest and the farthest members.
    """
    return _picture(tuple(run.layout[f"{axis}_parallel"] for axis in LETTERS), run.num_gpus, gpus_per_node)


@functools.lru_cache(maxsize=1024)  # a fragment asks twice in a run, and a slider comes back to where it was
def _picture(degrees: tuple[int, ...], total: int, gpus_per_node: int) -> RankPicture:
    """Degrees of the axes in the order of :data:`LETTERS`."""
    by_axis = {f"{axis}_parallel": degree for axis, degree in zip(LETTERS, degrees, strict=True)}
    placed = axis_groups(gpus_per_node=gpus_per_node, **by_axis)
    groups = tuple(_group(axis, placed[axis], gpus_per_node) for axis in LETTERS if placed[axis].ranks > 1)
    num_nodes = -(-total // gpus_per_node)
    nodes = tuple(
        _node(number, groups, total, gpus_per_node) for number in _worth_drawing(groups, num_nodes, gpus_per_node)
    )
    return RankPicture(nodes, num_nodes, total, gpus_per_node, groups)


def _group(axis: str, placed: AxisGroup, gpus_per_node: int) -> Group:
    ranks, stride = int(placed.ranks), int(placed.stride)
    members = np.unique(np.arange(ranks) * stride // gpus_per_node, return_counts=True)[1]
    return Group(axis, ranks, stride, int(members.min()), int(members.max()), members.size, int(placed.nodes))


def _worth_drawing(groups: tuple[Group, ...], num_nodes: int, gpus_per_node: int) -> list[int]:
    if num_nodes <= DRAWN_NODES:
        return list(range(num_nodes))
    chosen: list[int] = [0, 1]
    # The nearest members of each axis that leaves the node, then the farthest.
    for member in (1, 2, -1):
        for group in groups:
            place = member if member > 0 else group.ranks - 1
            if not group.inside and place < group.ranks:
                chosen.append(place * group.stride // gpus_per_node)
    kept = list(dict.fromkeys(chosen))[:DRAWN_NODES]
    return sorted(kept)


def _node(number: int, groups: tuple[Group, ...], total: int, gpus_per_node: int) -> Node:
    first = number * gpus_per_node
    here = min(gpus_per_node, total - first)
    drawn = min(here, DRAWN_GPUS)
    gpus = tuple(tuple(g.axis for g in groups if g.holds(first + k)) for k in range(drawn))
    return Node(number, first, gpus, here - drawn)
