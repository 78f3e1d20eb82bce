"""What a collective's algorithms do: how much the busiest rank sends in each phase, and which messages wait."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from core.checks import Floats, one_of
from core.collectives import OPS, bytes_per_rank, waiting_messages

# ring: every op; tree: log2(nodes) waits; hierarchical: inside the node, between nodes, inside again; in_network: the
# switch adds up what passes it (NVLink SHARP), inside one node.
ALGORITHMS = ("ring", "tree", "hierarchical", "in_network")
TREE_OPS = ("all_reduce", "all_gather", "reduce_scatter", "broadcast")
IN_NETWORK_OPS = ("all_reduce",)  # the others already send what they must: a switch that adds or copies saves nothing


@dataclass(frozen=True, slots=True)
class Phase:
    """One part of a collective, on arrays; phases follow each other."""

    sent_share: Floats  # sent by the busiest rank, over the whole tensor
    inside: Floats  # GPUs of the group within a node
    ports: Floats  # network ports that serve the phase, seen from one GPU; 0: it stays inside the node
    hops_inside: Floats  # messages that wait for each other
    hops_across: Floats
    through_nodes: bool = True  # the same bytes pass the links inside the node as well
    in_network: bool = False


def phases(op: str, ranks: Floats, per_node: Floats, algorithm: str) -> list[Phase]:
    """The phases of one collective over ``ranks`` GPUs, ``per_node`` of them in each node.

    A ring of all ranks sends what :func:`core.collectives.bytes_per_rank` says. A tree over nodes, a chain inside each
    as NCCL builds it, sends the same in log2(nodes) waits (recursive halving and doubling), but an all-reduce over a
    double binary tree the whole tensor up and down. A hierarchy reduces inside the node first, so that each port
    carries 1 / per_node of the tensor. A switch that adds up receives every tensor once and hands back the sum:
    1 + 1/n of it leaves each GPU.

    Sources: Thakur, Rabenseifner and Gropp 2005 (ring, recursive); Sanders, Speck and Traeff 2009 (double tree);
    NCCL, src/device/all_reduce.h (switch).
    """
    one_of("op", op, OPS)
    one_of("algorithm", algorithm, ALGORITHMS)
    nodes = np.ceil(ranks / per_node)
    if algorithm == "ring":
        return [_flat(op, ranks, per_node, nodes)]
    if algorithm == "tree":
        return [_tree(_can(op, algorithm, TREE_OPS), ranks, per_node, nodes)]
    if algorithm == "in_network":
        _can(op, algorithm, IN_NETWORK_OPS)
        if np.any(nodes > 1):
            raise ValueError("algorithm='in_network' is modelled inside one node; choose hierarchical between nodes")
        two = np.full(ranks.shape, 2.0)  # up to the switch and down again
        return [Phase(1 + 1 / ranks, per_node, np.zeros(ranks.shape), two, np.zeros(ranks.shape), in_network=True)]
    return _hierarchical(op, per_node, nodes)


def _can(op: str, algorithm: str, ops: tuple[str, ...]) -> str:
    if op not in ops:
        raise ValueError(f"{algorithm=} does not serve {op=}; it serves {list(ops)}, a ring serves every op")
    return op


def _flat(op: str, ranks: Floats, per_node: Floats, nodes: Floats) -> Phase:
    hops = waiting_messages(op, ranks)
    passes = 2.0 if op == "all_reduce" else 1.0
    # Of n ring edges one leaves each node; pairwise exchange meets other nodes in all but per_node - 1 of its rounds.
    across = ranks - per_node if op == "all_to_all" else passes * np.minimum(nodes, ranks - 1)
    across = np.where(nodes > 1, np.minimum(across, hops), 0.0)
    share = bytes_per_rank(op, 1.0, ranks)
    if op == "all_to_all":  # only what leaves the node needs a port, and each GPU has its own
        leaves = np.where(nodes > 1, (ranks - per_node) / np.maximum(ranks - 1, 1), 1.0)
        return Phase(share * leaves, per_node, np.where(nodes > 1, 1.0, 0.0), hops - across, across)
    return Phase(share, per_node, np.where(nodes > 1, per_node, 0.0), hops - across, across)


def _tree(op: str, ranks: Floats, per_node: Floats, nodes: Floats) -> Phase:
    passes = 2.0 if op == "all_reduce" else 1.0
    share = np.where(ranks > 1, 2.0, 0.0) if op == "all_reduce" else bytes_per_rank(op, 1.0, ranks)
    return Phase(
        sent_share=share,
        inside=per_node,
        ports=np.where(nodes > 1, per_node, 0.0),
        hops_inside=passes * (per_node - 1),
        hops_across=passes * np.ceil(np.log2(nodes)),
    )


def _hierarchical(op: str, per_node: Floats, nodes: Floats) -> list[Phase]:
    """Inside the node on the whole tensor, between nodes on one GPU's part of it."""
    one = np.where(nodes > 1, 1.0, 0.0)

    def inner(name: str) -> Phase:
        hops = waiting_messages(name, per_node)
        return Phase(bytes_per_rank(name, 1.0, per_node), per_node, 0 * one, hops, 0 * one)

    def outer(name: str, share: Floats) -> Phase:
        hops = waiting_messages(name, nodes)
        return Phase(share * bytes_per_rank(name, 1.0, nodes), per_node, one, 0 * one, hops, through_nodes=False)

    part = 1 / per_node
    if op == "all_reduce":
        return [inner("reduce_scatter"), outer("all_reduce", part), inner("all_gather")]
    if op == "reduce_scatter":
        return [inner("reduce_scatter"), outer("reduce_scatter", part)]
    if op == "all_gather":
        return [outer("all_gather", part), inner("all_gather")]
    if op == "broadcast":  # scatter inside, each part along its own port, gather inside
        return [inner("reduce_scatter"), outer("broadcast", part), inner("all_gather")]
    if op == "all_to_all":
        # First inside, to the GPU that shares its place with the receiver, then between nodes among equals. A node's
        # GPUs hold 1 / nodes of the tensor together.
        inside = inner("all_to_all")
        return [replace(inside, sent_share=inside.sent_share / nodes), outer("all_to_all", part)]
    return [_flat(op, per_node * nodes, per_node, nodes)]
