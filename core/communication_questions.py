"""The two predictions of step 3: bytes of a ring over more ranks, and the bubble of a pipeline; truths and slips."""

from __future__ import annotations

from dataclasses import dataclass

from core.collectives import bytes_per_rank, waiting_messages
from core.lora import named_recipe
from core.parallelism import pipeline_bubble
from core.params import count_params
from core.prediction import Slip
from core.scenario import TrainingScenario

FEW, MANY = 8, 512
STAGES, MICRO_BATCHES, CHUNKS = 8, 32, 4


@dataclass(frozen=True, slots=True)
class RingQuestion:
    """How many times as much each GPU sends in a ring all-reduce over many ranks as over few."""

    gradient_bytes: float
    few_bytes: float
    many_bytes: float
    few_messages: int
    many_messages: int
    times: float
    slips: tuple[Slip, ...]


def ring_bytes(scenario: TrainingScenario) -> RingQuestion:
    """The gradients of one whole copy, in the format that the recipe keeps them in."""
    recipe = named_recipe(scenario.model, scenario.recipe)
    size = recipe.gradient_bytes * float(count_params(scenario.model).total)
    few, many = (float(bytes_per_rank("all_reduce", size, ranks)) for ranks in (FEW, MANY))
    slips = (
        Slip(
            MANY / FEW,
            "That is how the traffic of all GPUs together grows. Each one sends to its neighbour alone, in ever "
            "smaller pieces.",
        ),
        Slip(
            FEW / MANY,
            "That is how one piece shrinks. A GPU sends two pieces for each other rank, so the pieces add up again.",
        ),
        Slip(3.0, "That is how a tree's rounds grow, log2 of the ranks: they count messages, not bytes."),
    )
    waits, more_waits = (int(waiting_messages("all_reduce", ranks)) for ranks in (FEW, MANY))
    return RingQuestion(size, few, many, waits, more_waits, many / few, slips)


@dataclass(frozen=True, slots=True)
class BubbleQuestion:
    """Which share of the whole step each stage of a pipeline stands idle, in percent."""

    percent: float
    of_ideal_percent: float
    interleaved_percent: float
    slips: tuple[Slip, ...]


def idle_share() -> BubbleQuestion:
    """Papers quote idle over ideal time; a profiler's timeline shows idle over all of it."""
    plain = pipeline_bubble(STAGES, MICRO_BATCHES)
    split = pipeline_bubble(STAGES, MICRO_BATCHES, virtual_stages=CHUNKS)
    total, ideal, short = (100 * float(share) for share in (plain.of_total, plain.of_ideal, split.of_total))
    slips = (
        Slip(ideal, "That is idle time over the ideal time, as papers quote it. Of the whole step it is less."),
        Slip(
            100 * STAGES / MICRO_BATCHES,
            "That is stages over micro-batches. A stage waits for the seven others; the whole step is the base.",
        ),
        Slip(short, "That is the interleaved schedule, with four chunks of layers a stage."),
    )
    return BubbleQuestion(total, ideal, short, slips)
