"""Communication on the whiteboard: what rings and trees send and wait for, and what of it hides behind work."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.checks import not_negative, positive, share, whole
from core.collective_steps import phases
from core.collective_time import bus_bytes_per_s as bus_rate
from core.collectives import bytes_per_rank, collective_time, waiting_messages, zero_traffic
from core.hardware import Accelerator
from core.reliability import straggler_chance
from core.whiteboard import bottleneck

DTYPE = "bf16"


@dataclass(frozen=True, slots=True)
class _Wire:
    """A rank's way into the ring."""

    bytes_per_s: float
    latency_s: float | None = None


def ring_sent_bytes(num_bytes: float, ranks: float) -> float:
    """What each rank sends in a ring all-reduce: 2 (n - 1)/n of the tensor. [bytes]

    Source: Thakur, Rabenseifner and Gropp 2005; nccl-tests, doc/PERFORMANCE.md.
    """
    return float(bytes_per_rank("all_reduce", num_bytes, ranks))


def ring_sent_share(ranks: float) -> float:
    """The same over the tensor's size: nears 2 and never reaches it. [-]"""
    return ring_sent_bytes(1.0, ranks)


def ring_messages(ranks: float) -> float:
    """Messages of a ring all-reduce that wait for each other: 2 (n - 1). [messages] Source: Thakur et al. 2005."""
    return float(waiting_messages("all_reduce", ranks))


def tree_messages(ranks: float) -> float:
    """Messages that wait for each other up and down a binary tree: 2 log2 n, rounded up. [messages]

    Source: Sanders, Speck and Traeff 2009, doi:10.1016/j.parco.2009.09.001.
    """
    n = whole("ranks", ranks)
    return float(phases("all_reduce", n, np.ones(()), "tree")[0].hops_across)


def tree_step_ratio(ranks: float) -> float:
    """How many times the messages of a tree a ring waits for. [-]"""
    return ring_messages(ranks) / tree_messages(ranks)


def ring_floor_s(num_bytes: float, ranks: float, bytes_per_s: float) -> float:
    """The bandwidth term of a ring all-reduce: what a rank sends over its one-way rate into the ring. [s]

    A floor: no latency. Source: as :func:`ring_sent_bytes`.
    """
    return float(collective_time("all_reduce", num_bytes, ranks, _Wire(bytes_per_s)))


def ring_time_s(num_bytes: float, ranks: float, latency_s: float, bytes_per_s: float) -> float:
    """A ring all-reduce with both terms: 2 (n - 1) latencies and the bandwidth term. [s]

    Source: the latency-bandwidth model of Thakur, Rabenseifner and Gropp 2005.
    """
    return float(collective_time("all_reduce", num_bytes, ranks, _Wire(bytes_per_s, latency_s)))


def crossover_bytes(ranks: float, latency_s: float, bytes_per_s: float) -> float:
    """Size at which a ring all-reduce waits as long as it sends: n x latency x rate. [bytes]

    Both terms of :func:`ring_time_s` made equal; 2 (n - 1) falls out.
    """
    waited = ring_messages(ranks) * float(positive("latency_s", latency_s))
    return waited * float(positive("bytes_per_s", bytes_per_s)) / ring_sent_share(ranks)


def ring_wait_s(ranks: float, latency_s: float) -> float:
    """What a ring all-reduce waits for messages, whatever their size. [s]"""
    return ring_messages(ranks) * float(positive("latency_s", latency_s))


def tree_wait_s(ranks: float, latency_s: float) -> float:
    """The same up and down a binary tree. [s]"""
    return tree_messages(ranks) * float(positive("latency_s", latency_s))


def data_parallel_bytes(num_params: float, ranks: float, stage: float) -> float:
    """What one GPU sends in a step of one micro-batch for 16-bit gradients and weights, by ZeRO stage. [bytes]

    Stages 0 to 2 make two passes over them, stage 3 makes three.
    Source: Rajbhandari et al. 2020, arXiv:1910.02054, section 7.
    """
    return float(zero_traffic(num_params, ranks, stage=stage).total_bytes)


def exposed_s(communication_s: float, compute_s: float, hiding_share: float) -> float:
    """Communication that no work hides, if a share of the compute time can run beside it. [s]

    A floor: what runs beside each other also slows each other. Source: Li et al. 2020, arXiv:2006.15704, section 3.2.3.
    """
    room = float(not_negative("compute_s", compute_s) * share("hiding_share", hiding_share))
    return max(0.0, float(not_negative("communication_s", communication_s)) - room)


def bus_bytes_per_s(algorithm_bytes_per_s: float, ranks: float) -> float:
    """Bus bandwidth of an all-reduce from its algorithm bandwidth, to compare with a link's rate. [bytes/s]

    Source: nccl-tests, doc/PERFORMANCE.md.
    """
    return float(bus_rate("all_reduce", algorithm_bytes_per_s, ranks, 1.0))


def hierarchical_port_bytes(num_bytes: float, per_node: float, nodes: float) -> float:
    """What each GPU sends between nodes when a node reduces inside first and each GPU takes one part on. [bytes]

    Source: Thakur et al. 2005 for the ring between nodes; :func:`core.collective_steps.phases` for the hierarchy.
    """
    ranks = whole("nodes", nodes) * whole("per_node", per_node)
    _, between, _ = phases("all_reduce", ranks, whole("per_node", per_node), "hierarchical")
    return float(between.sent_share * num_bytes)


def ring_entry_bytes_per_s(accelerator: Accelerator, port_bytes_per_s: float, per_node: float) -> float:
    """Rate of a ring that enters a node by all its ports: theirs together, at most the scale-up link's. [bytes/s]

    One port a GPU; one GPU in a node has no link inside.
    Source: Austin et al. 2025, How to Scale Your Model, chapter GPUs (a node of 8 H100 leaves at 400 GB/s).
    """
    ports = float(whole("per_node", per_node) * positive("port_bytes_per_s", port_bytes_per_s))
    inside = accelerator.scale_up_bytes_per_s
    return ports if per_node == 1 or inside is None else min(ports, inside)


def hiding_tokens(accelerator: Accelerator, port_bytes_per_s: float, per_node: float) -> float:
    """Tokens a GPU and micro-batch from which ZeRO-3's traffic can hide behind products at peak: F / B. [tokens]

    6 N T FLOP against three passes of 2 N bytes: the model's size falls out; (n - 1)/n is taken as 1.
    Source: Austin et al. 2025, How to Scale Your Model, chapter GPUs (2,475 tokens on H100).
    """
    return break_even_tokens(accelerator, 1.0, ring_entry_bytes_per_s(accelerator, port_bytes_per_s, per_node))


def break_even_tokens(accelerator: Accelerator, efficiency: float, bytes_per_s: float) -> float:
    """The same for kernels that reach a share of the peak and a ring that reaches a known rate. [tokens]

    Holds for ZeRO-3 over a whole step, and for gradients all-reduced behind the backward pass: 4 N T against 4 N.
    """
    rate = accelerator.peak_flops_per_s(DTYPE) * float(share("efficiency", efficiency))
    return rate / float(positive("bytes_per_s", bytes_per_s))


def sync_s_per_sample(sync_s: float, steps: float, micro_batch_size: float) -> float:
    """One synchronization spread over the samples of the micro-batches that share it. [s per sample]

    Source: Li et al. 2020, arXiv:2006.15704, section 3.2.4: no_sync skips the others.
    """
    return float(positive("sync_s", sync_s) / (whole("steps", steps) * whole("micro_batch_size", micro_batch_size)))


def compute_s(num_params: float, tokens: float, efficiency: float, accelerator: Accelerator) -> float:
    """One GPU's products for its tokens, 6 N a token, at a share of the dense 16-bit peak. [s]

    Attention's scores and recomputation left out. Source: Kaplan et al. 2020, arXiv:2001.08361, section 2.1.
    """
    return bottleneck.training_time_s(num_params, tokens, 1, float(share("efficiency", efficiency)), accelerator)


def backward_s(num_params: float, tokens: float, efficiency: float, accelerator: Accelerator) -> float:
    """The backward two thirds of :func:`compute_s`. [s]"""
    return compute_s(num_params, tokens, efficiency, accelerator) * 2 / 3


def zero3_traffic_s(num_params: float, ranks: float, bytes_per_s: float) -> float:
    """All that ZeRO-3 sends for one micro-batch, at a known rate into the ring. [s]"""
    return data_parallel_bytes(num_params, ranks, 3) / float(positive("bytes_per_s", bytes_per_s))


def zero3_edges_s(num_params: float, ranks: float, bytes_per_s: float, units: float) -> float:
    """What no prefetch hides: the first unit's gather and the last unit's reduce-scatter. [s]

    Two of the three passes over one of ``units`` equal units. Source: Zhao et al. 2023, arXiv:2304.11277, section 3.3.
    """
    return zero3_traffic_s(num_params, ranks, bytes_per_s) * 2 / 3 / float(whole("units", units))


def overlapped_step_s(
    num_params: float,
    tokens: float,
    efficiency: float,
    ranks: float,
    bytes_per_s: float,
    units: float,
    lent_share: float,
    accelerator: Accelerator,
) -> float:
    """A ZeRO-3 step with all but its edges overlapped, while collectives hold a share of the multiprocessors. [s]

    While bytes move, products run at ``1 - lent_share`` of their speed, then at all of it: work plus that share of the
    hidden traffic, or the traffic where it is longer. Contention for memory and power is left out, so still a floor.
    Source: DeepSeek-AI 2024, arXiv:2412.19437, section 3.2.2 lends 20 of 132 multiprocessors.
    """
    edges = zero3_edges_s(num_params, ranks, bytes_per_s, units)
    hidden = zero3_traffic_s(num_params, ranks, bytes_per_s) - edges
    work = compute_s(num_params, tokens, efficiency, accelerator)
    return edges + max(work + float(not_negative("lent_share", lent_share)) * hidden, hidden)


def mfu_of_step(num_params: float, tokens: float, step_s: float, accelerator: Accelerator) -> float:
    """Model FLOPs utilization of a step of one GPU's tokens, 6 N a token. [-]

    Source: Chowdhery et al. 2022, arXiv:2204.02311, section 4.1.
    """
    return bottleneck.mfu_of_step(num_params, tokens, 1, step_s, accelerator)


def late_step_share(ranks: float, late_share: float) -> float:
    """Chance that a step waits for at least one late rank, if ranks are late independently. [-]

    Source: Dean and Barroso 2013, The Tail at Scale: one slow in 100, 100 of them needed, 63%.
    """
    return float(straggler_chance(share("late_share", late_share), whole("ranks", ranks)))
