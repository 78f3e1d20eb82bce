"""How long a collective really takes: ring, tree and hierarchy over two kinds of link, or a measured table instead.

Estimates, not floors: they charge what libraries reach of a link, and what a call costs before its first byte.
:func:`core.collectives.collective_time` is the floor over a bare ring.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats, not_negative, positive, whole
from core.collective_steps import TREE_OPS, Phase, phases
from core.collective_table import MeasuredCollective
from core.collectives import bytes_per_rank


class FabricLink(Protocol):
    """What an estimate needs to know of a link: :class:`core.hardware.Link` has it all."""

    @property
    def kind(self) -> str: ...

    @property
    def bytes_per_s(self) -> float: ...

    @property
    def effective_bytes_per_s(self) -> float | None: ...

    @property
    def bytes_per_s_per_peer(self) -> float | None: ...

    @property
    def latency_s(self) -> float | None: ...

    @property
    def bulk_latency_s(self) -> float | None: ...


@dataclass(frozen=True, slots=True)
class LinkEfficiency:
    """What collectives reach of a link's raw rate, and what each call costs. Shares are of one-way raw rates."""

    # NCCL plans with 20.6 of 25 GB/s a link on NVLink 4 (src/graph/topo.h); DeepSeek reaches 160 of 200 on H800.
    scale_up_share: float = 0.82
    # Two GPUs on PCIe reach 0.61 (RTX PRO 6000) and 0.63 (L40S) at 512 MiB, in AIConfigurator's data as below; groups
    # that share a host bridge reach less.
    pcie_share: float = 0.6
    # DeepSeek-AI 2025, arXiv:2505.09343, section 4.3: plans with 40 of 50 GB/s a 400 Gb/s port.
    scale_out_share: float = 0.8
    # Launch, and the library's own start: NVIDIA AIConfigurator 0.12 (Apache-2.0), smallest messages between two GPUs:
    # 5 us on H100 and H200, 8 on A100 and B200.
    call_s: float = 6e-6
    # NCCL's low-latency protocol sends a flag with each word, so half of what it sends is data.
    small_message_share: float = 0.5
    # All-reduce in the switch: 445 to 460 GB/s bus bandwidth over 8 H100 and H200 at 512 MiB is about 290 GB/s of the
    # 371 that NCCL plans with. Same data as call_s.
    in_network_share: float = 0.78


LINK_EFFICIENCY = LinkEfficiency()


def reached_bytes_per_s(
    link: FabricLink, ranks: ArrayLike = 2, *, efficiency: LinkEfficiency = LINK_EFFICIENCY
) -> Floats:
    """One GPU's one-way rate that large messages reach over a link, for a group of ``ranks``. [bytes/s]

    The catalog's effective rate where there is one that someone plans with, else a stated share of the raw rate. In a
    full mesh a group of n has n - 1 links to use; on a torus a ring along one axis has two.
    """
    n = whole("ranks", ranks)
    share = {"scale-out": efficiency.scale_out_share, "pcie": efficiency.pcie_share}.get(
        link.kind, efficiency.scale_up_share
    )
    rate = link.bytes_per_s * share
    if link.effective_bytes_per_s is not None and link.kind != "pcie":  # a PCIe effective rate is after coding only
        rate = link.effective_bytes_per_s
    if link.bytes_per_s_per_peer is None:
        return np.full(n.shape, rate)
    links = 2.0 if link.kind == "torus" else np.maximum(n - 1, 1)
    return np.asarray(np.minimum(rate, links * link.bytes_per_s_per_peer * share))


def collective_estimate_s(
    op: str,
    num_bytes: ArrayLike,
    ranks: ArrayLike,
    *,
    scale_up: FabricLink,
    scale_out: FabricLink | None = None,
    per_node: ArrayLike | None = None,
    algorithm: str = "best",
    efficiency: LinkEfficiency = LINK_EFFICIENCY,
    tables: tuple[MeasuredCollective, ...] = (),
) -> Floats:
    """Estimated time of one collective.

    Args:
        op: one of :data:`core.collectives.OPS`.
        num_bytes: the whole unsharded tensor, as in :func:`core.collectives.bytes_per_rank`. [bytes]
        ranks: n. [GPUs]
        scale_up: the link between GPUs of one node (one scale-up domain).
        scale_out: the link between nodes, one port a GPU; needed where a group spans nodes.
        per_node: GPUs of the group that share a node, the fewest where they differ; None: all of them. [GPUs]
        algorithm: one of :data:`core.collective_steps.ALGORITHMS`, or "best": the quickest of ring, tree and
            hierarchical, as a library's tuner would choose.
        efficiency: what is reached of each link.
        tables: measured times that stand in for groups inside a node, where they hold the op, the ranks and the size.

    Returns:
        [s], broadcast. A ring over nodes enters each with ``per_node`` ports at once, so its rate is the lower of the
        scale-up rate and ``per_node`` ports. A message goes by the quicker of two protocols: one with half the
        bandwidth and the short latency, one with the whole and the long.

    Assumes one port a GPU, groups that do not disturb each other, and equal shares.
    Source: the latency-bandwidth model of NCCL's own tuner, src/graph/tuning.cc.
    """
    size, n, g = np.broadcast_arrays(
        not_negative("num_bytes", num_bytes),
        whole("ranks", ranks),
        whole("per_node", ranks if per_node is None else per_node),
    )
    g = np.minimum(g, n)
    if scale_out is None and np.any(g < n):
        raise ValueError("a group spans nodes, so scale_out is needed: give the link between nodes")
    best = [kind for kind in ("ring", "tree", "hierarchical") if kind != "tree" or op in TREE_OPS]
    kinds = best if algorithm == "best" else [algorithm]
    times = [
        sum((_phase_s(phase, size, scale_up, scale_out, efficiency) for phase in phases(op, n, g, kind)), np.zeros(()))
        for kind in kinds
    ]
    alone = (n == 1) | (size == 0)
    estimate = np.where(alone, 0.0, np.min(np.broadcast_arrays(*times), axis=0) + efficiency.call_s)
    for table in tables:
        stands_in = ~alone & (g == n) & (n == table.ranks) & (table.op == op) & table.covers(size)
        if np.any(stands_in):
            estimate = np.where(stands_in, table.time_s(np.where(stands_in, size, table.num_bytes[0])), estimate)
    return np.asarray(estimate)


def _phase_s(phase: Phase, size: Floats, up: FabricLink, out: FabricLink | None, efficiency: LinkEfficiency) -> Floats:
    rate = reached_bytes_per_s(up, phase.inside, efficiency=efficiency)
    if phase.in_network:
        rate = rate * efficiency.in_network_share
    if out is not None:
        ports = phase.ports * reached_bytes_per_s(out, 2, efficiency=efficiency)
        across = np.minimum(rate, ports) if phase.through_nodes else ports
        rate = np.where(phase.ports > 0, across, rate)
    sent = size * phase.sent_share

    def waits(bulk: bool) -> Floats:
        inner = phase.hops_inside * _latency(up, bulk)
        return np.asarray(inner + (phase.hops_across * _latency(out, bulk) if out is not None else 0.0))

    small = waits(False) + sent / (rate * efficiency.small_message_share)
    return np.asarray(np.minimum(small, waits(True) + sent / rate))


def _latency(link: FabricLink, bulk: bool) -> float:
    """One hop's latency; an unknown one counts as none."""
    short = link.latency_s or 0.0
    return (link.bulk_latency_s or short) if bulk else short


def algorithm_bytes_per_s(op: str, num_bytes: ArrayLike, ranks: ArrayLike, seconds: ArrayLike) -> Floats:
    """Algorithm bandwidth as nccl-tests prints it: size over time. [bytes/s]

    Its size is the whole tensor, but one rank's share for all_to_all.
    Source: NVIDIA nccl-tests, doc/PERFORMANCE.md.
    """
    size = not_negative("num_bytes", num_bytes) / (whole("ranks", ranks) if op == "all_to_all" else 1.0)
    return np.asarray(size / positive("seconds", seconds))


def bus_bytes_per_s(op: str, num_bytes: ArrayLike, ranks: ArrayLike, seconds: ArrayLike) -> Floats:
    """Bus bandwidth as nccl-tests prints it: what one rank of a ring sends, over time; comparable with a link's rate.

    Above the link's rate where the switch reduces, since then less is sent than this counts. [bytes/s]
    Source: NVIDIA nccl-tests, doc/PERFORMANCE.md.
    """
    return np.asarray(bytes_per_rank(op, num_bytes, ranks) / positive("seconds", seconds))
