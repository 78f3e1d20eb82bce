"""Derivations of the headline numbers of step 2: parameters, states of one GPU, traffic, the largest model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from core.lora import named_recipe
from core.memory import TrainingMemory, stage_params
from core.memory_working import fullest_stage
from core.parallelism import layer_stages
from core.params import breakdown, count_params, split_layer_params
from core.partition import largest_of_shape, traffic_by_stage
from core.scenario import TrainingScenario
from core.traffic_working import traffic_working
from core.working import Term, Working, number, product
from core.zero_working import largest_model_working, zero_working


def state_workings(scenario: TrainingScenario) -> list[Working]:
    """Parameters, those of one GPU, model states, traffic, largest model."""
    fullest, memory = fullest_stage(scenario)
    ranks = scenario.data_parallel * scenario.context_parallel
    busiest = int(np.argmax(traffic_by_stage(scenario, scenario.data_parallel, scenario.zero_stage)))
    sharding: dict[str, Any] = {
        "stage": scenario.zero_stage,
        "optimizer": named_recipe(scenario.model, scenario.recipe),
    }

    def states(params: float, copies: int) -> Working:
        return zero_working(params, copies, **sharding, offload=scenario.offload)

    def traffic(params: float, copies: int) -> Working:
        return traffic_working(params, copies, **sharding, accumulation_steps=scenario.num_micro_batches)

    workings = [params_working(scenario)]
    split = scenario.gpus_per_replica > scenario.context_parallel or scenario.expert_parallel > 1
    if split:
        workings += [share_working(scenario, stage) for stage in sorted({fullest, busiest})]
    workings += [_dense_and_experts(scenario, fullest, states), _dense_and_experts(scenario, busiest, traffic)]
    if scenario.offload == "none":
        workings.append(
            largest_of_shape_working(scenario, memory)
            if split
            else largest_model_working(scenario.accelerator.hbm_bytes, ranks, **sharding)
        )
    return workings


def _dense_and_experts(scenario: TrainingScenario, stage: int, derive: Callable[[float, int], Working]) -> Working:
    """One derivation for what all data-parallel ranks share, and what only the holders of the same experts do."""
    params = stage_params(scenario.model, scenario.pipeline_parallel, scenario.virtual_stages)
    ranks = scenario.data_parallel * scenario.context_parallel
    dense = derive(float(params.dense[stage]) / scenario.tensor_parallel, ranks)
    if not params.experts[stage]:
        return dense
    share = float(params.experts[stage]) / (scenario.tensor_parallel * scenario.expert_parallel)
    experts = derive(share, ranks // scenario.expert_parallel)
    return replace(
        dense,
        formula=f"{dense.formula}, for dense weights and for experts, each with its own Ψ and N",
        terms=tuple(
            replace(term, label=f"{term.label}: {of}")
            for of, part in (("dense weights", dense), ("experts", experts))
            for term in part.terms
        ),
        value=dense.value + experts.value,
    )


def largest_of_shape_working(scenario: TrainingScenario, memory: TrainingMemory) -> Working:
    """The derivation of :func:`core.partition.largest_of_shape` for one layout."""
    total, hbm = count_params(scenario.model).total, scenario.accelerator.hbm_bytes
    value = float(largest_of_shape(scenario, memory))
    return Working(
        name=f"Largest model of this shape, ZeRO stage {scenario.zero_stage}",
        formula="parameters × M / states of the GPU that holds most",
        terms=(Term("parameters", f"{product(total, hbm)} / {number(memory.state_bytes.max())}", value, "params"),),
        value=value,
        unit="params",
        assumptions=("all parts of the model grow alike", "all of M is free for model states"),
        source="states are proportional to parameters; the states above",
    )


def share_working(scenario: TrainingScenario, stage: int) -> Working:
    """Weights that one GPU of a pipeline stage works with, before data parallelism shards them."""
    params = stage_params(scenario.model, scenario.pipeline_parallel, scenario.virtual_stages)
    layers = split_layer_params(scenario.model)
    own = layer_stages(scenario.model.num_layers, scenario.pipeline_parallel, virtual_stages=scenario.virtual_stages)
    split, expert_split = scenario.tensor_parallel, scenario.tensor_parallel * scenario.expert_parallel
    rows: list[tuple[str, float, float, int]] = []  # label, how many, weights of each, GPUs that share them
    for label, per_layer, over in (("dense weights", layers.dense, split), ("experts", layers.experts, expert_split)):
        counted = Counter(per_layer[own == stage].tolist())
        rows += [
            (f"{label} of {count} layer" + ("s" if count > 1 else ""), count, each, over)
            for each, count in counted.items()
            if each
        ]
    around = float(params.dense[stage] - layers.dense[own == stage].sum())
    if around:
        rows.append(("embedding, output head and what belongs to them", 1, around, split))
    terms = tuple(
        Term(
            label,
            (product(count, each) if count > 1 else number(each)) + (f" / {over}" if over > 1 else ""),
            count * each / over,
            "params",
        )
        for label, count, each, over in rows
    )
    return Working(
        name=f"Parameters of one GPU, pipeline stage {stage + 1} of {scenario.pipeline_parallel}",
        formula="Ψ = dense weights of the stage / t + routed experts of the stage / (t e)",
        terms=terms,
        value=sum(term.value for term in terms),
        unit="params",
        assumptions=(
            "t tensor-parallel and e expert-parallel GPUs",
            "embedding on the first stage, head on the last",
            "split evenly, also what tensor parallelism copies: norms, routers, a position table, latents' projections",
        ),
        source="Narayanan et al. 2021, arXiv:2104.04473, section 2; the parameters above",
    )


def params_working(scenario: TrainingScenario) -> Working:
    """The model's parameters, term by term."""
    total = count_params(scenario.model).total
    return Working(
        name=f"Parameters of {scenario.model.name}",
        formula="sum over the stored weights",
        terms=tuple(
            Term(label, number(params), float(params), "params") for label, params in breakdown(scenario.model)
        ),
        value=float(total),
        unit="params",
        assumptions=("tied weights once; no multi-token-prediction modules, no vision tower",),
        source="the model's config.json, read field by field",
    )
