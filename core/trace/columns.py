"""What a trace is once read: columns of events for each rank, and the words that mark what was left out."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.checks import Floats

NONE = -1  # no correlation, no stream, no name


class TraceError(ValueError):
    """A trace that cannot be read, in words for the person who uploaded it."""


class Kind(IntEnum):
    """What an event is. The first four ran on the GPU; the others on the host."""

    COMPUTE = 0
    COMMUNICATION = 1
    MEMCPY = 2
    MEMSET = 3
    RUNTIME = 4  # a call of the CUDA runtime or driver
    STEP = 5  # a ProfilerStep# annotation
    INPUT = 6  # the data loader's annotation
    HOST_COMMUNICATION = 7  # a collective that the host itself carries out or waits in


COPIES = (Kind.MEMCPY, Kind.MEMSET)
LAST_GPU_KIND = Kind.MEMSET


@dataclass(frozen=True, slots=True)
class RankTrace:
    """Events of one rank, sorted by start. All columns have the shape (events,)."""

    rank: int
    file: str
    gpu: str  # as the driver names it; empty where the trace does not say
    names: tuple[str, ...]
    kind: NDArray[np.uint8]  # of Kind
    start_s: Floats  # from the first GPU event of the rank; negative before it
    end_s: Floats
    device: NDArray[np.int64]  # NONE on the host
    stream: NDArray[np.int64]  # NONE on the host
    name: NDArray[np.int64]  # index into `names`
    correlation: NDArray[np.int64]  # joins a GPU event to the call that launched it; NONE without
    collective: NDArray[np.int64]  # index into `names`, of the collective's own name; NONE without
    message_bytes: Floats  # what a rank puts into the collective; NaN without

    def only(self, rows: NDArray[np.bool_]) -> RankTrace:
        """The same rank with these events alone; ``rows`` has the shape (events,)."""
        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        kept: dict[str, Any] = {name: one[rows] for name, one in columns.items() if isinstance(one, np.ndarray)}
        return replace(self, **kept)

    @property
    def on_gpu(self) -> NDArray[np.bool_]:
        """Which events ran on a GPU."""
        return self.kind <= LAST_GPU_KIND

    def is_kind(self, *kinds: Kind) -> NDArray[np.bool_]:
        """Which events are of one of these kinds."""
        return np.isin(self.kind, kinds)

    @property
    def devices(self) -> tuple[int, ...]:
        """GPUs that did something, in order."""
        return tuple(int(device) for device in np.unique(self.device[self.on_gpu]))


@dataclass(frozen=True, slots=True)
class Trace:
    """All ranks that could be read, in order, and what the reader had to leave out."""

    ranks: tuple[RankTrace, ...]
    notes: tuple[str, ...]  # sentences; each marks something that is missing or doubtful

    @property
    def partial(self) -> bool:
        """Whether anything is missing or doubtful."""
        return bool(self.notes)
