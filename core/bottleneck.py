"""What step 1 shows of a scenario: every operator of its model under the roofline, in decode, prefill or training.

A pass is a sum of floors: one operator after another, each as fast as its own limit allows at datasheet rates, no
messages. Numbers are those of one GPU of a tensor-parallel group; the layers of all pipeline stages together.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from core.checks import Floats
from core.dtypes import bytes_per_element
from core.hardware import Accelerator
from core.lora import ADAPTERS, named_recipe
from core.operators import model_operators
from core.partition import positions
from core.scenario import Scenario, ServingScenario, TrainingScenario
from core.under_roof import MATRICES, Headline, Placed, matrix_roof, vector_roof
from core.work import Operator, Phase
from core.zero import recipe_of

PHASES: tuple[Phase, ...] = ("decode", "prefill", "training")
SLIDERS: dict[Phase, str] = {"decode": "batch", "prefill": "context_len", "training": "seq_len"}
# Two positions a doubling for the batch; sequences double.
BATCH = tuple(sorted({*(2**k for k in range(13)), *(3 * 2**k for k in range(11))}))
SEQ_LEN = tuple(128 * 2**k for k in range(11))
GROUP_OF_KIND = {
    "attention": "token mixing",
    "indexer": "token mixing",
    "state": "token mixing",
    "elementwise": "elementwise",
    "embedding": "elementwise",
    "optimizer": "optimizer",
}
MIXING_KINDS = tuple(kind for kind, group in GROUP_OF_KIND.items() if group == "token mixing")
KEPT_IN_16_BITS = ("head", "router")  # by published 4- and 8-bit checkpoints; see core.precision


def slider_value(scenario: Scenario, phase: Phase) -> int:
    """The scenario's own value of the field that a phase's slider changes."""
    part = scenario.training if phase == "training" else scenario.serving
    value: int = getattr(part, SLIDERS[phase])
    return value


def place(scenario: Scenario, phase: Phase) -> Placed:
    """Every operator of one phase at every position of its slider, in one call.

    Kept for the next call: moving the slider changes neither the positions nor what stands at them.
    """
    here = slider_value(scenario, phase)
    if phase == "training":
        run = scenario.training
        lengths = tuple(n for n in positions(SEQ_LEN, here) if n % run.context_parallel == 0)
        return _training(run.model_copy(update={"seq_len": run.context_parallel}), lengths)
    serving, field = scenario.serving, SLIDERS[phase]
    standard = BATCH if phase == "decode" else SEQ_LEN
    # A prompt is worked on alone, however many requests decode together.
    fixed: dict[str, object] = {field: 1, "memory_fraction": 0.9}
    if phase == "prefill":
        fixed["batch"] = 1
    return _serving(serving.model_copy(update=fixed), phase, positions(standard, here))


@lru_cache(maxsize=64)
def _serving(scenario: ServingScenario, phase: Phase, at: tuple[int, ...]) -> Placed:
    steps = np.array(at)
    seq_len, batch = (scenario.context_len, steps) if phase == "decode" else (steps, 1)
    stored = scenario.weight_dtype
    narrow = bytes_per_element(stored) < bytes_per_element("bf16")

    def run(weight_dtype: str) -> tuple[Operator, ...]:
        return model_operators(
            scenario.model,
            phase,
            seq_len=seq_len,
            batch=batch,
            tensor_parallel=scenario.serving_tensor_parallel,
            weight_dtype=weight_dtype,
            kv_dtype=scenario.kv_dtype,
        )

    operators = list(run(stored))
    if narrow:  # what published checkpoints leave in 16 bits
        wide = {operator.label: operator for operator in run("bf16")}
        operators = [
            wide[operator.label] if operator.on_vector_units or operator.kind in KEPT_IN_16_BITS else operator
            for operator in operators
        ]
    formats = dict.fromkeys((operator.kind for operator in operators), stored)
    for kind in (*MIXING_KINDS, *(KEPT_IN_16_BITS if narrow else ())):
        formats[kind] = "bf16"  # scores and values are multiplied in 16 bits whatever the cache is stored in
    return _placed(scenario.accelerator, phase, at, operators, formats)


@lru_cache(maxsize=64)
def _training(scenario: TrainingScenario, lengths: tuple[int, ...]) -> Placed:
    """One optimizer step. With context parallelism a GPU works on its share of each sequence."""
    shards = scenario.data_parallel * scenario.context_parallel if scenario.zero_stage else 1
    adapts = scenario.recipe in ADAPTERS

    def run(seq_len: NDArray[np.int64]) -> tuple[Operator, ...]:
        return model_operators(
            scenario.model,
            "training",
            seq_len=seq_len,
            batch=scenario.micro_batch_size,
            tensor_parallel=scenario.tensor_parallel,
            expert_parallel=scenario.expert_parallel,
            sequence_parallel=scenario.sequence_parallel,
            fused_attention=scenario.fused_attention,
            recompute=scenario.recompute,
            recipe="adam" if adapts else scenario.recipe,
            optimizer_shards=shards,
        )

    whole, parts = np.array(lengths), scenario.context_parallel
    across = {operator.label: operator for operator in run(whole)}
    operators = []
    for operator in run(whole // parts):
        if operator.kind in MIXING_KINDS:  # tokens see the whole sequence, each GPU asks for its share of them
            operator = _scaled(across[operator.label], 1 / parts)
        if operator.kind == "optimizer":
            if scenario.offload != "none":  # the host takes the step
                continue
            if adapts:
                operator = _scaled(operator, _adapter_share(scenario))
        else:
            operator = _scaled(operator, scenario.num_micro_batches)
            if adapts and operator.kind not in GROUP_OF_KIND:
                passes = 2 if scenario.recompute == "full" and operator.kind != "head" else 1
                operator = _scaled(operator, (passes + 1) / (passes + 2))  # frozen weights need no gradient
        operators.append(operator)
    kinds = {operator.kind for operator in operators}
    return _placed(scenario.accelerator, "training", lengths, operators, dict.fromkeys(kinds, "bf16"))


def _adapter_share(scenario: TrainingScenario) -> float:
    """Bytes of an adapter's optimizer step over those of full Adam, both spread over all parameters."""
    recipe, full = named_recipe(scenario.model, scenario.recipe), recipe_of("adam")
    trained = recipe.gradient_bytes + 2 * recipe.optimizer_bytes + (recipe.updated_weight_bytes or 0.0)
    return trained / (full.gradient_bytes + 2 * full.optimizer_bytes + full.weight_bytes)


def _scaled(operator: Operator, times: float) -> Operator:
    """The same operator so many times as often."""
    return replace(
        operator,
        flops=operator.flops * times,
        weight_bytes=operator.weight_bytes * times,
        activation_bytes=operator.activation_bytes * times,
        cache_bytes=operator.cache_bytes * times,
    )


def _placed(
    accelerator: Accelerator, phase: Phase, at: tuple[int, ...], operators: list[Operator], formats: dict[str, str]
) -> Placed:

    def table(values: list[Floats]) -> Floats:
        return np.stack([np.broadcast_to(each, len(at)) for each in values], axis=-1)

    return Placed(
        phase=phase,
        positions=at,
        labels=tuple(operator.label for operator in operators),
        groups=tuple(GROUP_OF_KIND.get(operator.kind, MATRICES) for operator in operators),
        roofs=tuple(
            vector_roof(accelerator) if operator.on_vector_units else matrix_roof(accelerator, formats[operator.kind])
            for operator in operators
        ),
        flops=table([operator.flops for operator in operators]),
        bytes=table([operator.bytes for operator in operators]),
        weight_bytes=table([operator.weight_bytes for operator in operators]),
    )


def headline_of(scenario: Scenario, phase: Phase) -> Headline:
    """The scenario's own numbers in one phase."""
    placed = place(scenario, phase)
    return placed.headline(index_of(placed, scenario))


def index_of(placed: Placed, scenario: Scenario) -> int:
    """Where the scenario stands on the slider."""
    return placed.positions.index(slider_value(scenario, placed.phase))
