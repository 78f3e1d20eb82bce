"""Which pipeline schedule a page draws, over a slider of micro-batches: its numbers, and passes few enough to see."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from core.parallelism import in_flight_micro_batches, schedule_bubble
from core.pipeline_schedule import Schedule, pipeline_schedule
from core.scenario import TrainingScenario

MICRO_BATCHES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
ROUNDS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)  # of an interleaved schedule, each as many micro-batches as stages
MOST_STAGES, MOST_CHUNKS, MOST_PASSES = 16, 8, 1024  # drawn: more would be thinner than a pixel
EXAMPLE_STAGES, EXAMPLE_CHUNKS = 8, 2  # drawn where the scenario has one stage, or one chunk a stage


@dataclass(frozen=True, slots=True, eq=False)
class PipelineDrawing:
    """One schedule over micro-batches: numbers of the whole pipeline, and the passes that are drawn of it."""

    kind: str
    stages: int
    virtual_stages: int
    micro_batches: tuple[int, ...]  # positions of the slider
    of_total: tuple[float, ...]  # idle time over the whole
    of_ideal: tuple[float, ...]  # idle time over the time without waiting
    kept: tuple[float, ...]  # micro-batches whose activations the first stage keeps
    drawn: tuple[Schedule, ...]

    def scaled(self, index: int) -> bool:
        """Whether what is drawn at a position is smaller than the pipeline."""
        shown = self.drawn[index]
        whole = self.stages, self.micro_batches[index], self.virtual_stages
        return (shown.stages, shown.micro_batches, shown.virtual_stages) != whole

    def nearest(self, micro_batches: int) -> int:
        """The position at a number of micro-batches, or the closest one."""
        return int(np.argmin(np.abs(np.log(np.array(self.micro_batches) / micro_batches))))


def pipeline_drawing(kind: str, stages: int, micro_batches: int, *, virtual_stages: int = 1) -> PipelineDrawing:
    """The schedule at every position of the slider, the scenario's own number of micro-batches among them.

    An interleaved schedule runs in rounds of as many micro-batches as stages, so it has those positions alone. Where
    there are more stages or micro-batches than can be drawn, fewer of both are, in proportion as far as it goes.
    """
    v = virtual_stages if kind == "interleaved" else 1
    if kind == "interleaved" and v > 1 and stages > 1:
        standard = {stages * rounds for rounds in ROUNDS}
        own = {micro_batches} if micro_batches % stages == 0 else set()
    else:
        standard, own = set(MICRO_BATCHES), {micro_batches}
    return _pipeline_drawing(kind, stages, v, tuple(sorted(standard | own)))


@lru_cache(maxsize=64)
def _pipeline_drawing(kind: str, stages: int, virtual_stages: int, counts: tuple[int, ...]) -> PipelineDrawing:
    m = np.array(counts)
    bubble = schedule_bubble(kind, stages, m, virtual_stages=virtual_stages)
    if kind == "gpipe":
        kept = m.astype(np.float64)
    else:  # zero-bubble H1 keeps as many as 1F1B at its first stage
        kept = in_flight_micro_batches(stages, m, virtual_stages=virtual_stages)
    return PipelineDrawing(
        kind,
        stages,
        virtual_stages,
        counts,
        tuple(bubble.of_total.tolist()),
        tuple(bubble.of_ideal.tolist()),
        tuple(np.broadcast_to(kept, m.shape).tolist()),
        tuple(_drawn(kind, stages, count, virtual_stages) for count in counts),
    )


def _drawn(kind: str, stages: int, micro_batches: int, virtual_stages: int) -> Schedule:
    p, v = min(stages, MOST_STAGES), min(virtual_stages, MOST_CHUNKS)
    most = max(MOST_PASSES // (p * v), 1)
    m = min(max(round(micro_batches * p / stages), 1), most)
    if v > 1 and p > 1:
        m = max(m // p, 1) * p
    return _played(kind, p, m, v)


@lru_cache(maxsize=256)
def _played(kind: str, stages: int, micro_batches: int, virtual_stages: int) -> Schedule:
    return pipeline_schedule(stages, micro_batches, kind, virtual_stages=virtual_stages)


def own_drawing(kind: str, run: TrainingScenario) -> PipelineDrawing:
    """A scenario's pipeline under one schedule; an example where it has one stage, or one chunk to interleave."""
    stages = run.pipeline_parallel if run.pipeline_parallel > 1 else EXAMPLE_STAGES
    chunks = run.virtual_stages if run.virtual_stages > 1 else EXAMPLE_CHUNKS
    return pipeline_drawing(kind, stages, run.num_micro_batches, virtual_stages=chunks)
