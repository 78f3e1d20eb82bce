"""What the time of one training step is the sum of, in seconds, and which limit each part belongs to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, Literal

from core.axis_traffic import AXES, Axis
from core.checks import Floats

Limit = Literal["capacity", "compute", "communication", "bandwidth"]
BY_AXIS = ("hidden_s", "sent_bytes")  # fields of StepTime that hold one array an axis


@dataclass(frozen=True, slots=True, eq=False)
class StepTime:
    """Estimated time of one step by what it goes to, on the slowest stage's GPU; fields are broadcast. [s]"""

    matrix_s: Floats  # products with weights, recomputed ones included
    mixing_s: Floats  # attention and what stands in its place
    moved_s: Floats  # elementwise kernels, bound by memory bandwidth
    tensor_s: Floats  # communication that nothing hides, by axis
    context_s: Floats
    expert_s: Floats
    pipeline_s: Floats
    data_s: Floats
    bubble_s: Floats  # waiting for other stages at the start and at the end
    optimizer_s: Floats
    hidden_s: dict[Axis, Floats]  # communication that runs behind work, and is in no part above
    sent_bytes: dict[Axis, Floats]  # by one GPU of the stage that sends most [bytes]
    slowest_stage: Floats  # which stage sets the pace, from 0 [-]

    @property
    def compute_s(self) -> Floats:
        """All work at the matrix units. [s]"""
        return self.matrix_s + self.mixing_s

    @property
    def exposed_s(self) -> dict[Axis, Floats]:
        """Communication that nothing hides, by axis. [s]"""
        return {axis: getattr(self, f"{axis}_s") for axis in AXES}

    @property
    def communication_s(self) -> Floats:
        """All of it. [s]"""
        return self.tensor_s + self.context_s + self.expert_s + self.pipeline_s + self.data_s

    @property
    def bandwidth_s(self) -> Floats:
        """What memory bandwidth bounds: elementwise kernels and the optimizer. [s]"""
        return self.moved_s + self.optimizer_s

    @property
    def step_s(self) -> Floats:
        """The whole step. Parts follow each other; what overlaps is hidden and counted in none. [s]"""
        return self.compute_s + self.bandwidth_s + self.communication_s + self.bubble_s

    def parts(self) -> dict[str, Floats]:
        """The parts in words, in the order of a stacked bar; they add up to the step. [s]"""
        return {
            "matrices": self.matrix_s,
            "attention": self.mixing_s,
            "memory traffic": self.moved_s,
            **{f"{axis} communication": seconds for axis, seconds in self.exposed_s.items()},
            "bubble": self.bubble_s,
            "optimizer": self.optimizer_s,
        }

    def by_limit(self) -> dict[Limit, Floats]:
        """Time that each limit accounts for; together they are the step. [s]

        Waiting for other GPUs counts as communication, be it for their bytes or, in the bubble, for their work.
        """
        return {
            "compute": self.compute_s,
            "communication": self.communication_s + self.bubble_s,
            "bandwidth": self.bandwidth_s,
        }


def rebuilt(pick: Callable[[Callable[[StepTime], Floats]], Floats]) -> StepTime:
    """A step time whose every array is made by ``pick``, which is handed the way to read that array from another."""
    by_axis: dict[str, Any] = {name: {axis: pick(_reader(name, axis)) for axis in AXES} for name in BY_AXIS}
    plain: dict[str, Any] = {
        field.name: pick(attrgetter(field.name)) for field in fields(StepTime) if field.name not in by_axis
    }
    return StepTime(**plain, **by_axis)


def _reader(name: str, axis: Axis) -> Callable[[StepTime], Floats]:
    def read(time: StepTime) -> Floats:
        values: dict[Axis, Floats] = getattr(time, name)
        return values[axis]

    return read
