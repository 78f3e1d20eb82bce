"""The two predictions of step 2, asked about the scenario's own model: the truth, and the slips known by name."""

from __future__ import annotations

from dataclasses import dataclass

from core.lora import named_recipe
from core.memory import training_memory
from core.params import count_params
from core.prediction import Slip
from core.scenario import TrainingScenario
from core.zero import zero_memory

RANKS = 8
LONG = 32_768
MANY_RANKS = 10**9  # stands for the limit of ever more GPUs
PARTS = ("weights", "gradients", "optimizer", "activations")


@dataclass(frozen=True, slots=True)
class ShareQuestion:
    """How much ZeRO-1 leaves on each of eight GPUs, in percent of a full copy."""

    copy_bytes: float
    left_bytes: float
    percent: float
    slips: tuple[Slip, ...]


def zero_one_share(scenario: TrainingScenario) -> ShareQuestion:
    """Most people name the limit for many GPUs; with eight, each still holds an eighth of the optimizer's states."""
    params = float(count_params(scenario.model).total)

    recipe = named_recipe(scenario.model, scenario.recipe)

    def left(ranks: int, stage: int) -> float:
        return float(zero_memory(params, ranks, stage=stage, optimizer=recipe).total_bytes)

    copy = left(RANKS, 0)
    slips = (
        Slip(
            100 * left(MANY_RANKS, 1) / copy,
            "That is the limit for ever more GPUs. With eight, each still holds an eighth of the optimizer's states.",
        ),
        Slip(100 * left(RANKS, 2) / copy, "That shards the gradients too, which is stage 2."),
        Slip(100 * left(RANKS, 3) / copy, "That divides everything by eight, which is stage 3."),
    )
    return ShareQuestion(copy, left(RANKS, 1), 100 * left(RANKS, 1) / copy, slips)


@dataclass(frozen=True, slots=True)
class LargestQuestion:
    """Which part is the largest on a GPU when the sequence is long and nothing is recomputed."""

    seq_len: int
    truth: str
    bytes_by_part: dict[str, float]


def largest_part(scenario: TrainingScenario) -> LargestQuestion:
    """The scenario as it stands, at 32k tokens without recomputation: activations grow with tokens, states do not."""
    seq_len = -(-LONG // scenario.context_parallel) * scenario.context_parallel
    layout = scenario.layout | {"seq_len": seq_len, "recompute": "none"}
    memory = training_memory(scenario.model, **layout).fullest()
    values = (memory.weight_bytes, memory.gradient_bytes, memory.optimizer_bytes, memory.activation_bytes)
    by_part = {part: float(value) for part, value in zip(PARTS, values, strict=True)}
    return LargestQuestion(seq_len, max(by_part, key=lambda part: by_part[part]), by_part)
