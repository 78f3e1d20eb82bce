"""A step predicted from a measured profile: its parts, each with what it rests on, and the datasheet's floor beside."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from core.checks import Floats
from core.serving_rates import StepTime

Basis = Literal["measured", "bounded", "continued", "stated"]
MATRICES, ATTENTION, BETWEEN, MESSAGES, LAUNCHES = "matrices", "attention", "between", "messages", "launches"
_OUTSIDE = ("embedding", "final norm", "output head")


class Part(NamedTuple):
    """One kind of kernel of a step, over all layers."""

    label: str
    kind: str  # matrices, attention, between (norms, activations, cache writes), messages, launches
    seconds: Floats
    # measured: between measured cells. bounded: smaller, charged as the next larger one. continued: beyond the last,
    # or from cells that are no bound. stated: not measured at all.
    basis: Basis
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredStep:
    """A step predicted from a profile; arrays have the broadcast shape of batch and length."""

    parts: tuple[Part, ...]
    floor: StepTime  # the datasheet's, which nothing beats
    citation: str

    @property
    def step_s(self) -> Floats:
        """The prediction. [s]"""
        return sum((part.seconds for part in self.parts), np.zeros(()))

    @property
    def floor_s(self) -> Floats:
        """The datasheet's floor. [s]"""
        return self.floor.overlapped_s

    @property
    def notes(self) -> tuple[str, ...]:
        """How tables were read where not as they stand, each sentence once."""
        return tuple(dict.fromkeys(note for part in self.parts for note in part.notes))

    def of_kind(self, kind: str) -> Floats:
        """All parts of one kind. [s]"""
        return sum((part.seconds for part in self.parts if part.kind == kind), np.zeros(()))

    @property
    def layers(self) -> MeasuredStep:
        """All layers without what stands before and behind them: embedding, final norm, head."""
        return replace(self, parts=tuple(part for part in self.parts if part.label not in _OUTSIDE))

    @property
    def layers_s(self) -> Floats:
        """The time of :attr:`layers`. [s]"""
        return self.layers.step_s

    def share(self, basis: Basis) -> Floats:
        """Share of the prediction that rests on measured, bounded or continued cells, or on stated efficiencies. [-]"""
        mine = sum((part.seconds for part in self.parts if part.basis == basis), np.zeros(()))
        return np.asarray(mine / self.step_s)

    @property
    def time(self) -> StepTime:
        """The prediction by kind of work, as every page takes an estimate; its ``sequential_s`` is ``step_s``.

        A kernel's time cannot be told apart into memory and compute. The longer of the two floors is given all of it,
        the shorter its own proportion, so that limits compare as under the roofline.
        """
        floor = self.floor
        weight, matmul = _split(self.of_kind(MATRICES), floor.weight_s, floor.matmul_s)
        cache, attention = _split(self.of_kind(ATTENTION), floor.kv_s, floor.attention_s)
        overhead = self.of_kind(BETWEEN) + self.of_kind(LAUNCHES)
        return StepTime(weight, cache, matmul, attention, np.asarray(self.of_kind(MESSAGES)), np.asarray(overhead))


def _split(seconds: Floats, memory: Floats, compute: Floats) -> tuple[Floats, Floats]:
    """One time as memory's and compute's, the longer of which is all of it; an unknown one stays unknown."""
    longer = np.fmax(memory, compute)
    none = longer == 0  # nothing of the kind: the time, if any, is memory's
    scale = seconds / np.where(none, 1.0, longer)
    return np.asarray(np.where(none, seconds, memory * scale)), np.asarray(np.where(none, 0.0, compute * scale))
