"""Phases of collectives: bytes against algorithms that are really played, waits against counts by hand."""

import numpy as np
import pytest

from core.collective_steps import phases
from core.collectives import OPS, bytes_per_rank


def arrays(*values):
    return tuple(np.array(float(value)) for value in values)


def recursive_doubling(ranks):
    """Second witness: all-gather in which partners swap all they hold; chunks sent by the busiest, and rounds."""
    have = [{rank} for rank in range(ranks)]
    sent, rounds, distance = [0] * ranks, 0, 1
    while distance < ranks:
        before = [set(chunks) for chunks in have]
        for rank in range(ranks):
            sent[rank] += len(before[rank])
            have[rank] |= before[rank ^ distance]
        rounds, distance = rounds + 1, 2 * distance
    assert all(len(chunks) == ranks for chunks in have)
    return max(sent), rounds


@pytest.mark.parametrize("ranks", [2, 8, 64])
def test_a_tree_gathers_as_many_bytes_in_fewer_rounds(ranks):
    sent, rounds = recursive_doubling(ranks)
    (phase,) = phases("all_gather", *arrays(ranks, 1), "tree")
    assert phase.sent_share == pytest.approx(sent / ranks)
    assert phase.hops_across == rounds
    assert phase.hops_inside == 0


def played_hierarchy(per_node, nodes):
    """Second witness: all-to-all among per_node x nodes ranks in two steps; blocks sent inside and across by rank 0."""
    ranks = [(node, place) for node in range(nodes) for place in range(per_node)]
    held = {rank: [(rank, to) for to in ranks] for rank in ranks}
    inside = sum(1 for _, (_, place) in held[0, 0] if place != 0)
    moved = {rank: [] for rank in ranks}
    for (node, _), blocks in held.items():
        for block in blocks:
            moved[node, block[1][1]].append(block)
    across = sum(1 for _, (node, _) in moved[0, 0] if node != 0)
    return inside, across


@pytest.mark.parametrize(("per_node", "nodes"), [(8, 4), (2, 3), (4, 1)])
def test_a_hierarchical_exchange_sends_what_a_played_one_does(per_node, nodes):
    inside, across = played_hierarchy(per_node, nodes)
    ranks = per_node * nodes
    first, second = phases("all_to_all", *arrays(ranks, per_node), "hierarchical")
    assert first.sent_share == pytest.approx(inside / ranks**2)
    assert second.sent_share == pytest.approx(across / ranks**2)


@pytest.mark.parametrize("op", OPS)
def test_a_ring_sends_what_the_bytes_say(op):
    (phase,) = phases(op, *arrays(64, 8), "ring")
    if op != "all_to_all":  # where only what leaves the node counts
        assert phase.sent_share == bytes_per_rank(op, 1.0, 64)
    assert phase.ports == (1 if op == "all_to_all" else 8)


# 16 GPUs in two nodes: a ring has two edges between nodes; an all-reduce passes it twice.
def test_few_hops_of_a_ring_cross_nodes():
    (phase,) = phases("all_reduce", *arrays(16, 8), "ring")
    assert (phase.hops_inside, phase.hops_across) == (26, 4)


# A switch takes every tensor once and hands each GPU's part of the sum to it, which sends it on once: 1 + 1/n.
def test_a_switch_that_adds_up_saves_nearly_half_of_an_all_reduce():
    (phase,) = phases("all_reduce", *arrays(8, 8), "in_network")
    assert phase.sent_share == 1.125
    assert bytes_per_rank("all_reduce", 1.0, 8) == 1.75


def test_a_hierarchy_puts_an_eighth_on_each_port():
    inner, outer, again = phases("all_reduce", *arrays(128, 8), "hierarchical")
    assert inner.sent_share == again.sent_share == 7 / 8
    assert outer.sent_share == pytest.approx(2 * 15 / 16 / 8)
    assert (inner.ports, outer.ports) == (0, 1)
