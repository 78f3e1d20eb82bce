"""Which GPUs are drawn beside GPU 0, against ranks that are really counted out."""

import pytest

from core.placement import rank_map
from core.presets import load_presets
from core.rank_places import DRAWN_GPUS, DRAWN_NODES, LETTERS, rank_picture
from core.scenario import changed
from core.scenario_link import default_scenario

START = default_scenario()
PRESETS = {name: preset.scenario().training for name, preset in load_presets().items()}
LAYOUTS = PRESETS | {
    "every axis": changed(START, tensor_parallel=4, context_parallel=2, pipeline_parallel=3, data_parallel=5).training,
    "small": changed(START, tensor_parallel=2, data_parallel=2).training,
}


@pytest.mark.parametrize("run", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("node", [4, 8, 72])
def test_members_are_those_of_counted_groups(run, node):
    degrees = {f"{axis}_parallel": run.layout[f"{axis}_parallel"] for axis in LETTERS}
    places = rank_map(**degrees, gpus_per_node=node)
    mates = {axis: set(places.groups(axis)[0].tolist()) for axis in LETTERS}
    picture = rank_picture(run, node)
    assert picture.num_nodes == int(places.node.max()) + 1
    assert len(picture.nodes) <= DRAWN_NODES
    assert picture.nodes[0].number == 0
    for drawn in picture.nodes:
        assert drawn.left_out == 0
        for k, axes in enumerate(drawn.gpus):
            rank = drawn.first_rank + k
            assert places.node[rank] == drawn.number
            assert set(axes) == {axis for axis, members in mates.items() if rank in members and len(members) > 1}


@pytest.mark.parametrize("run", LAYOUTS.values(), ids=LAYOUTS)
def test_each_group_that_leaves_the_node_is_seen_elsewhere(run):
    picture = rank_picture(run, 8)
    for group in picture.groups:
        elsewhere = [node for node in picture.nodes[1:] if any(group.axis in axes for axes in node.gpus)]
        assert bool(elsewhere) != group.inside, group.axis


def test_of_a_pod_of_thousands_the_first_are_drawn():
    picture = rank_picture(changed(START, data_parallel=4096).training, 8960)
    assert len(picture.nodes[0].gpus) == DRAWN_GPUS
    assert picture.nodes[0].left_out == 4096 - DRAWN_GPUS


def test_one_gpu_has_no_group():
    picture = rank_picture(changed(START, data_parallel=1).training, 8)
    assert (picture.groups, picture.nodes[0].gpus) == ((), ((),))


# 16 ranks 8 apart on racks of 72: 9 members in the first, 7 in the second.
def test_groups_that_do_not_fill_nodes_evenly_are_counted_and_noted():
    run = changed(START, tensor_parallel=8, data_parallel=16).training
    data = rank_picture(run, 72).groups[1]
    assert (data.nodes, data.fewest, data.most) == (2, 7, 9)
    assert rank_picture(run, 72).uneven
    assert not rank_picture(run, 8).uneven
    tilted = rank_picture(changed(START, tensor_parallel=8, data_parallel=9).training, 12)
    assert tilted.groups[0].inside
    assert tilted.groups[0].worst_nodes == 2
    assert tilted.uneven
