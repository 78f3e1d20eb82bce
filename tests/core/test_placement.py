"""Groups of every axis against ranks that are really counted out."""

import itertools

import numpy as np
import pytest

from core.placement import AXES, axis_groups, rank_map

SIZES = ("tensor_parallel", "context_parallel", "data_parallel", "pipeline_parallel", "expert_parallel")
LAYOUTS = [
    dict(zip(SIZES, row, strict=True))
    for row in [
        (8, 1, 128, 16, 1),
        (8, 16, 8, 16, 1),
        (1, 1, 64, 1, 8),
        (2, 2, 8, 4, 4),
        (4, 1, 6, 3, 2),
        (16, 1, 4, 2, 1),
        (1, 1, 4, 1, 1),
        (1, 1, 128, 16, 64),
        (3, 1, 8, 2, 1),
        (2, 3, 4, 2, 6),
        (6, 1, 6, 1, 3),
        (1, 5, 3, 7, 15),
    ]
]


def counted(layout, axis, node):
    """Second witness: nodes that each group touches, and members in each."""
    places = rank_map(**layout, gpus_per_node=node)
    members = [np.unique(places.node[group], return_counts=True)[1] for group in places.groups(axis)]
    return min(counts.min() for counts in members), max(len(counts) for counts in members)


@pytest.mark.parametrize(("layout", "node"), list(itertools.product(LAYOUTS, [4, 8, 72])))
def test_spans_are_those_of_counted_groups(layout, node):
    groups = axis_groups(**layout, gpus_per_node=node)
    sizes = list(layout.values())
    aligned = all(node % n == 0 or n % node == 0 for n in np.cumprod(sizes[:4])) and np.prod(sizes[:4]) % node == 0
    for axis in AXES:
        fewest, nodes = counted(layout, axis, node)
        if aligned:
            assert (groups[axis].per_node, groups[axis].nodes) == (fewest, nodes), axis
        else:  # the formula names the worst group that can be
            assert groups[axis].per_node <= fewest, axis
            assert groups[axis].nodes >= nodes, axis
            assert groups[axis].nodes - nodes <= 1 or nodes == 1, axis


# Llama Team 2024, arXiv:2407.21783, section 3.3.2: [TP, CP, PP, DP], from most bandwidth needed to least, so tensor
# parallelism stays in a node of 8.
def test_llama_3_keeps_tensor_parallelism_inside_a_node():
    groups = axis_groups(tensor_parallel=8, context_parallel=16, data_parallel=8, pipeline_parallel=16)
    assert groups["tensor"].inside
    assert groups["tensor"].per_node == 8
    assert (groups["context"].per_node, groups["context"].nodes) == (1, 16)
    assert (groups["pipeline"].per_node, groups["pipeline"].nodes) == (1, 16)
    assert groups["replicas"].ranks == 128


# DeepSeek-AI 2024, arXiv:2412.19437, section 3.2: 64-way expert parallelism over 8 nodes.
def test_deepseek_spreads_experts_over_eight_nodes():
    groups = axis_groups(data_parallel=128, pipeline_parallel=16, expert_parallel=64)
    assert (groups["expert"].per_node, groups["expert"].nodes) == (8, 8)
    assert groups["expert_replicas"].ranks == 2
    assert groups["expert_replicas"].stride == 64


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_gpu_is_in_one_group_of_each_axis(layout):
    places = rank_map(**layout)
    total = np.prod(list(layout.values())[:4])
    for axis in AXES:
        assert sorted(places.groups(axis).ravel()) == list(range(total)), axis


def test_members_of_a_group_differ_along_its_axis_alone():
    places = rank_map(tensor_parallel=2, context_parallel=2, data_parallel=3, pipeline_parallel=2)
    coordinates = {"tensor": places.tensor, "context": places.context, "data": places.data, "pipeline": places.pipeline}
    for axis, along in coordinates.items():
        for group in places.groups(axis):
            assert list(along[group]) == list(range(len(group)))
            for other in coordinates.keys() - {axis}:
                assert len(set(coordinates[other][group])) == 1


def test_few_gpus_are_one_node_whatever_their_layout():
    groups = axis_groups(tensor_parallel=3, data_parallel=2)
    assert all(group.inside for group in groups.values())


# 12 ranks lie 8 + 4 on nodes of 8, 128 lie 72 + 56 on racks of 72: the last node alone has fewer.
@pytest.mark.parametrize(
    ("tensor", "ranks", "node", "fewest", "nodes"), [(1, 12, 8, 4, 2), (1, 128, 72, 56, 2), (2, 6, 8, 2, 2)]
)
def test_one_group_that_fills_its_last_node_in_part_is_counted(tensor, ranks, node, fewest, nodes):
    layout = {"tensor_parallel": tensor, "data_parallel": ranks}
    group = axis_groups(**layout, gpus_per_node=node)["replicas"]
    assert (group.per_node, group.nodes) == (fewest, nodes) == counted(layout, "replicas", node)


def test_ranks_by_nodes_gives_a_grid():
    groups = axis_groups(tensor_parallel=8, data_parallel=np.array([[1], [16], [64]]), gpus_per_node=[8, 72])
    assert groups["replicas"].nodes.shape == (3, 2)


def test_experts_over_a_part_of_the_ranks_are_refused():
    with pytest.raises(ValueError, match="expert_parallel=6 does not divide data_parallel \\* context_parallel=8"):
        axis_groups(data_parallel=8, expert_parallel=6)
    with pytest.raises(ValueError, match="axis='rows' is not known"):
        rank_map(data_parallel=8).groups("rows")
