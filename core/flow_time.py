"""How long flows take on given links, and the links themselves: what joins a node, and what joins nodes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from core.axis_traffic import Flow
from core.checks import Floats
from core.collective_table import MeasuredCollective
from core.collective_time import FabricLink, LinkEfficiency, collective_estimate_s
from core.placement import AxisGroup


@dataclass(frozen=True, slots=True)
class Interconnect:
    """What joins the GPUs of a run."""

    scale_up: FabricLink
    scale_out: FabricLink
    gpus_per_node: int = 8
    efficiency: LinkEfficiency = field(default_factory=LinkEfficiency)
    tables: tuple[MeasuredCollective, ...] = ()


def is_measured(flow: Flow, groups: dict[str, AxisGroup], interconnect: Interconnect) -> NDArray[np.bool_]:
    """Whether the time of a call is a measured one, for a GPU of each stage; see :func:`call_s`."""
    group, found = groups[flow.group], np.zeros((), dtype=np.bool_)
    for table in interconnect.tables:
        if table.op == flow.op:
            found = found | (group.inside & (flow.ranks == table.ranks) & table.covers(flow.num_bytes))
    return np.asarray(found & (flow.calls > 0))


def call_s(flow: Flow, groups: dict[str, AxisGroup], interconnect: Interconnect) -> Floats:
    """Estimated time of one call of a flow, for a GPU of each stage. [s]"""
    group = groups[flow.group]
    # A pipeline talks in pairs of neighbours; where its stages span nodes, the pair that does sets the pace.
    per_node = np.where(group.inside, flow.ranks, 1.0) if flow.op == "send" else group.per_node
    return collective_estimate_s(
        flow.op,
        flow.num_bytes,
        flow.ranks,
        per_node=per_node,
        scale_up=interconnect.scale_up,
        scale_out=interconnect.scale_out,
        efficiency=interconnect.efficiency,
        tables=interconnect.tables,
    )


@dataclass(frozen=True, slots=True, eq=False)
class TimedFlow:
    """A flow and how long one call of it takes. [s]"""

    flow: Flow
    call_s: Floats

    @property
    def each_s(self) -> Floats:
        """In one micro-batch; of "step" flows, in one step. [s]"""
        return self.call_s * self.flow.calls


def timed(flows: tuple[Flow, ...], groups: dict[str, AxisGroup], interconnect: Interconnect) -> tuple[TimedFlow, ...]:
    """Every flow with its time."""
    return tuple(TimedFlow(flow, call_s(flow, groups, interconnect)) for flow in flows)


def seconds(flows: tuple[TimedFlow, ...], *, axis: str, when: tuple[str, ...]) -> Floats:
    """Time of an axis's flows at some moments, in one micro-batch (or one step). [s]"""
    return sum((t.each_s for t in flows if t.flow.axis == axis and t.flow.when in when), np.zeros(()))
