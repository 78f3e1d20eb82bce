"""A pipeline schedule played out: which stage works on which micro-batch when, to draw it and to count idle time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Literal, NamedTuple

from core.checks import not_negative, one_of, positive, whole
from core.parallelism import SCHEDULES
from core.working import scalar

Phase = Literal["forward", "backward", "weight"]


class Pass(NamedTuple):
    """One pass of one micro-batch through one chunk of layers, before it has a time."""

    phase: Phase
    micro_batch: int
    chunk: int = 0  # counts the chunks of a stage when the schedule is interleaved


class Slot(NamedTuple):
    """A pass with its place and time. "weight" is the weights' gradient where the schedule splits it off."""

    stage: int
    micro_batch: int
    chunk: int
    phase: Phase
    start: float
    end: float


@dataclass(frozen=True)
class Schedule:
    """One optimizer step of a pipeline; times in the unit that the passes were given in."""

    kind: str
    stages: int
    micro_batches: int
    virtual_stages: int
    slots: tuple[Slot, ...]  # stage by stage, each in order of time

    @cached_property
    def length(self) -> float:
        """From the first pass to the last, optimizer step not counted."""
        return max(slot.end for slot in self.slots)

    def busy(self, stage: int) -> float:
        """Time that a stage works."""
        return sum(slot.end - slot.start for slot in self.slots if slot.stage == stage)

    @property
    def bubble_of_ideal(self) -> float:
        """Idle time of a stage over the time it works; stages are equal, so they all wait equally long. [-]"""
        return self.length / self.busy(0) - 1

    @property
    def bubble_of_total(self) -> float:
        """Idle time of a stage over the whole. [-]"""
        return 1 - self.busy(0) / self.length

    def in_flight(self, stage: int) -> float:
        """Micro-batches whose activations a stage keeps at its fullest; a chunk counts as a part of one.

        Activations go with the pass that uses them last: the weights' gradient where it is a pass of its own.
        """
        last = "weight" if self.kind == "zb-h1" else "backward"
        change = {"forward": 1, last: -1}
        alive = accumulate(change.get(slot.phase, 0) for slot in self.slots if slot.stage == stage)
        return max(alive) / self.virtual_stages


def pipeline_schedule(
    stages: int,
    micro_batches: int,
    kind: str = "1f1b",
    *,
    virtual_stages: int = 1,
    forward: float = 1.0,
    backward: float = 2.0,
    weight_part: float = 1.0,
) -> Schedule:
    """Play one optimizer step: every stage runs its passes in the schedule's order, each as soon as its input is there.

    Args:
        stages: p.
        micro_batches: m; interleaved schedules run them in rounds of p, so p must divide m.
        kind: one of :data:`core.parallelism.SCHEDULES`.
        virtual_stages: chunks a stage holds, for "interleaved".
        forward, backward, weight_part: as in :func:`core.parallelism.schedule_bubble`, for a whole stage.

    Sources: Narayanan et al. 2021, arXiv:2104.04473, figures 3 and 4; Megatron-LM, core/pipeline_parallel/schedules.py
    (order of interleaved passes); Qi et al. 2024, arXiv:2401.10241, figure 3 (ZB-H1).
    """
    p, m, v = (
        int(scalar(name, whole(name, value)))
        for name, value in (("stages", stages), ("micro_batches", micro_batches), ("virtual_stages", virtual_stages))
    )
    one_of("kind", kind, SCHEDULES)
    if kind != "interleaved" and v > 1:
        raise ValueError(f"kind={kind!r} holds one chunk a stage, but virtual_stages={v}; choose kind='interleaved'")
    if v > 1 and p > 1 and m % p:
        serve = " or ".join(str(rounds * p) for rounds in (m // p, m // p + 1) if rounds)
        raise ValueError(
            f"stages={p} does not divide micro_batches={m}; an interleaved schedule runs them in rounds of {p}, "
            f"so choose {serve}"
        )
    whole_backward = float(scalar("backward", positive("backward", backward)))
    weight = float(scalar("weight_part", not_negative("weight_part", weight_part))) if kind == "zb-h1" else 0.0
    length: dict[Phase, float] = {
        "forward": float(scalar("forward", positive("forward", forward))) / v,
        "backward": (whole_backward - weight) / v,
        "weight": weight,
    }
    orders = [list(_order(kind, p, m, v, stage)) for stage in range(p)]
    return Schedule(kind, p, m, v, tuple(_played(orders, p, v, length)))


def _order(kind: str, p: int, m: int, v: int, stage: int) -> Iterator[Pass]:
    """The passes of one stage in the order in which it runs them."""
    if kind == "gpipe":
        yield from (Pass("forward", i) for i in range(m))
        yield from (Pass("backward", i) for i in range(m))
        return
    if kind == "interleaved" and p > 1 and v > 1:
        # Rounds of p micro-batches pass chunk after chunk.
        def pass_of(phase: Phase, place: int) -> Pass:
            chunk = place % (p * v) // p
            return Pass(phase, place // (p * v) * p + place % p, chunk if phase == "forward" else v - 1 - chunk)

        warm = min(2 * (p - stage - 1) + (v - 1) * p, m * v)
        yield from (pass_of("forward", i) for i in range(warm))
        for i in range(m * v - warm):
            yield from (pass_of("forward", warm + i), pass_of("backward", i))
        yield from (pass_of("backward", i) for i in range(m * v - warm, m * v))
        return
    chunks = v if kind == "interleaved" else 1  # one stage alone runs its chunks one after another
    warm = min(p - stage - 1, m)
    yield from (Pass("forward", i) for i in range(warm))
    if kind == "zb-h1":
        yield from _zero_bubble(p, m, stage, warm)
        return
    for i in range(m):
        if warm + i < m:
            yield from (Pass("forward", warm + i, chunk) for chunk in range(chunks))
        yield from (Pass("backward", i, chunk) for chunk in reversed(range(chunks)))


def _zero_bubble(p: int, m: int, stage: int, warm: int) -> Iterator[Pass]:
    """After the warm-up: stage i puts its weight gradients off by i micro-batches, so that all keep p of them."""
    if warm < m:
        yield Pass("forward", warm)
    for i in range(m):
        yield Pass("backward", i)
        if i >= stage:
            yield Pass("weight", i - stage)
        if warm + 1 + i < m:
            yield Pass("forward", warm + 1 + i)
    yield from (Pass("weight", i) for i in range(max(m - stage, 0), m))


def _played(orders: list[list[Pass]], p: int, v: int, length: dict[Phase, float]) -> Iterator[Slot]:
    """Give every pass its time. A forward pass waits for the chunk before it, a backward pass for the one after."""
    done: dict[tuple[int, Pass], float] = {}
    slots: list[list[Slot]] = [[] for _ in orders]
    clock, moved = [0.0] * p, True
    while moved:
        moved = False
        for stage, order in enumerate(orders):
            while len(slots[stage]) < len(order):
                step = order[len(slots[stage])]
                before = _input_of(stage, step, p, v)
                if before is not None and before not in done:
                    break
                start = max(clock[stage], done[before] if before else 0.0)
                clock[stage] = done[stage, step] = start + length[step.phase]
                slots[stage].append(Slot(stage, step.micro_batch, step.chunk, step.phase, start, clock[stage]))
                moved = True
    assert all(len(run) == len(order) for run, order in zip(slots, orders, strict=True)), "a schedule that cannot end"
    return (slot for run in slots for slot in run)


def _input_of(stage: int, step: Pass, p: int, v: int) -> tuple[int, Pass] | None:
    """The pass whose result this one needs, other than its own stage's earlier ones."""
    if step.phase == "weight":
        return None
    ahead = 1 if step.phase == "forward" else -1
    place = step.chunk * p + stage - ahead
    if not 0 <= place < p * v:
        return None
    return place % p, step._replace(chunk=place // p)
