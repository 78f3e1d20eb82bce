"""Which part of the communication costs time: what can hide behind work, and how much work there is to hide behind."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.axis_traffic import AXES, Axis
from core.checks import Floats
from core.efficiency import Overlap
from core.flow_time import TimedFlow, seconds


@dataclass(frozen=True, slots=True)
class PassTime:
    """Work of one pass of one micro-batch on a GPU of each stage; the last axis is the stage. [s]"""

    matrix_s: Floats
    mixing_s: Floats
    moved_s: Floats

    @property
    def work_s(self) -> Floats:
        """All of it. [s]"""
        return self.matrix_s + self.mixing_s + self.moved_s


def pass_exposed(
    flows: tuple[TimedFlow, ...], work: PassTime, when: tuple[str, ...], overlap: Overlap
) -> dict[Axis, Floats]:
    """What each axis adds to one pass of one micro-batch. [s]

    A share of an axis's traffic may hide, as long as there is work: attention for the ring of keys and values, the
    whole pass for the others, which share that room in the order of :data:`core.axis_traffic.AXES`.
    """
    room = work.work_s
    exposed: dict[Axis, Floats] = {}
    for axis in AXES:
        own = tuple(flow for flow in flows if flow.flow.axis == axis)
        if axis == "tensor":
            beside = seconds(tuple(flow for flow in own if flow.flow.beside), axis=axis, when=when)
            waited = seconds(own, axis=axis, when=when) - beside
            hidden = np.minimum(waited * overlap.tensor + beside * overlap.tensor_regather, room)
            total = waited + beside
        else:
            total = seconds(own, axis=axis, when=when)
            behind = np.minimum(work.mixing_s, room) if axis == "context" else room
            hidden = np.minimum(total * getattr(overlap, axis), behind)
        exposed[axis] = total - hidden
        room = room - hidden
    return exposed


def step_exposed(flows: tuple[TimedFlow, ...], forward_s: Floats, backward_s: Floats, overlap: Overlap) -> Floats:
    """What the data-parallel calls of a whole step add to it, on the stage where that is most. [s]

    Gradients hide behind the last micro-batch's backward pass, updated weights behind the first one's forward pass;
    one bucket each has nothing to hide behind.
    """
    total: Floats = np.zeros(forward_s.shape)
    for behind, ops in ((backward_s, ("all_reduce", "reduce_scatter")), (forward_s, ("all_gather",))):
        own = [t for t in flows if t.flow.axis == "data" and t.flow.when == "step" and t.flow.op in ops]
        all_s = sum((t.each_s for t in own), np.zeros(()))
        bucket = np.zeros(())
        for flow in own:
            bucket = np.maximum(bucket, np.where(flow.flow.calls > 0, flow.call_s, 0.0))
        hidden = np.minimum(np.minimum(all_s * overlap.data, behind), all_s - bucket)
        total = total + all_s - hidden
    return np.asarray(total.max(axis=-1))


def ends_exposed(flows: tuple[TimedFlow, ...]) -> tuple[Floats, Floats]:
    """What data-parallel calls of every micro-batch add to a step at least: its first gather, its last reduction. [s]

    No work has begun when a step's first weights arrive, and none is left when its last gradients leave (ZeRO stages 2
    and 3); between micro-batches the same calls run beside the next pass. Of the stage where each is longest.
    """

    def longest(when: str, op: str) -> Floats:
        seen = np.zeros(())
        for t in flows:
            if (t.flow.axis, t.flow.when, t.flow.op) == ("data", when, op):
                seen = np.maximum(seen, np.where(t.flow.calls > 0, t.call_s, 0.0).max(axis=-1))
        return seen

    return longest("forward", "all_gather"), longest("backward", "reduce_scatter")


def fill_exposed(flows: tuple[TimedFlow, ...], stages: int) -> Floats:
    """What sending adds while a pipeline fills and drains: one call at every boundary, each way. [s]"""
    own = [t for t in flows if t.flow.axis == "pipeline"]
    return np.asarray(sum(((stages - 1) * t.call_s.max(axis=-1) for t in own), np.zeros(())))
