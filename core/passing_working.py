"""The derivation of what passes through a GPU in the backward pass: whole weights and gradients, a layer made again."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

from core.activations import layer_activation_bytes
from core.lora import named_recipe
from core.memory import stage_params
from core.parallelism import layer_stages
from core.scenario import TrainingScenario
from core.working import Term, number, product
from core.zero import BUCKET_PARAMS, LIVE_UNITS, StateRecipe
from core.zero_working import trained_state


def passing_terms(scenario: TrainingScenario, stage: int, logits_bytes: float, run: dict[str, Any]) -> list[Term]:
    """Each part of :attr:`core.memory.TrainingMemory.transient_bytes` that is there.

    Args:
        scenario: the layout.
        stage: which pipeline stage, from 0. [-]
        logits_bytes: logits that lie on this stage. [bytes]
        run: one micro-batch, as :func:`core.activations.layer_activation_bytes` takes it.
    """
    params = stage_params(scenario.model, scenario.pipeline_parallel, scenario.virtual_stages)
    recipe, ranks = named_recipe(scenario.model, scenario.recipe), scenario.data_parallel * scenario.context_parallel
    split, experts = scenario.tensor_parallel, scenario.expert_parallel
    groups = (
        ("a layer, embedding or head", params.dense, params.largest_unit, split, ranks),
        ("experts", params.experts, params.largest_expert_unit, split * experts, ranks // experts),
    )
    terms: list[Term] = []
    for what, held, unit, over, copies in groups:
        if held[stage] and copies > 1:
            sharded = {2: _bucket, 3: _gathered}.get(scenario.zero_stage)
            terms += sharded(what, float(held[stage]), float(unit[stage]), over, recipe) if sharded else ()
    return [*terms, *_made_again(scenario, stage, logits_bytes, run)]


def _bucket(what: str, held: float, _unit: float, over: int, recipe: StateRecipe) -> Iterator[Term]:
    """Stage 2: gradients on their way to the reduce-scatter, as many as there are or as fit into the bucket."""
    _, _, share, each = trained_state(recipe, "gradients", "gradient_bytes")
    label = "bucket of experts' whole gradients" if what == "experts" else "bucket of whole gradients"
    if share * held / over > BUCKET_PARAMS:
        yield _term(label, (each, BUCKET_PARAMS), 1)
    else:
        yield _term(label, (each, share * held), over)


def _gathered(what: str, held: float, unit: float, over: int, recipe: StateRecipe) -> Iterator[Term]:
    """Stage 3: whole weights of the largest unit and of one prefetched, and the whole gradients of one."""
    live = (LIVE_UNITS, unit) if LIVE_UNITS * unit <= held else (held,)
    yield _term(f"whole weights of {what}, and of one prefetched", (recipe.weight_bytes, *live), over)
    yield _term(f"whole gradients of {what}", (recipe.gradient_bytes, unit), over)


def _made_again(scenario: TrainingScenario, stage: int, logits_bytes: float, run: dict[str, Any]) -> Iterator[Term]:
    """What one layer keeps while it is made again, less what it had kept; logits were freed before."""
    model = scenario.model
    place = layer_stages(model.num_layers, scenario.pipeline_parallel, virtual_stages=scenario.virtual_stages)
    sizes = []
    for layer in {layer for layer, at in zip(model.layers, place, strict=True) if at == stage}:
        whole, kept = (
            float(
                layer_activation_bytes(
                    layer, model.hidden_size, recompute=how, residual_streams=model.residual_streams, **run
                )
            )
            for how in ("none", scenario.recompute)
        )
        sizes.append((whole - kept, whole, kept))
    more, whole, kept = max(sizes)
    if more > logits_bytes:
        freed = f" - {number(logits_bytes)}" if logits_bytes else ""
        label = "a layer made again, less what it had kept" + (" and the freed logits" if logits_bytes else "")
        yield Term(label, f"{number(whole)} - {number(kept)}{freed}", more - logits_bytes, "bytes")


def _term(label: str, factors: tuple[float, ...], over: int) -> Term:
    expression = product(*factors) + (f" / {over}" if over > 1 else "")
    return Term(label, expression, prod(factors) / over, "bytes")
