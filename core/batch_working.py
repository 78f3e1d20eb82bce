"""Derivations of the headline numbers of step 5: what a step reads, how long it takes, and how many requests fit."""

from __future__ import annotations

import math
from collections.abc import Sequence

from core.batch import formats_of, measured_of, memory_of, over_batch, step_of
from core.batch_questions import MANY, throughput_ratio
from core.batch_token import DRAFT_TOKENS, over_draft, prices
from core.dtypes import bytes_per_element
from core.kv_working import kv_working
from core.measured_profile import Profile
from core.measured_working import measured_working
from core.scenario import Scenario, ServingScenario
from core.serving_rates import multiply_dtype, multiply_flops_per_s
from core.serving_weights import dtype_of_parts, lookup_params, served_matrices, vector_bytes
from core.serving_work import ServingWork, decode_work
from core.serving_working import (
    estimate_working,
    floor_working,
    max_batch_working,
    speculation_working,
    tokens_working,
)
from core.working import Term, Working, number, product

_POPE = "Pope et al. 2022, arXiv:2211.05102, section 2.1"


def step_workings(scenario: Scenario, profile: Profile | None = None) -> list[Working]:
    """The first question's ratio; floor, estimate and throughput of the step; the bend."""
    here, step, bend = scenario.serving, step_of(scenario, profile), over_batch(scenario).matrices_bend
    estimate = estimate_working(step) if profile is None else measured_working(measured_of(scenario, profile))
    workings = [_ratio(here), floor_working(step, here.accelerator), estimate, tokens_working(step)]
    return [*workings, _bend(here, bend)] if math.isfinite(bend) else workings


def cap_workings(scenario: Scenario) -> list[Working]:
    """Weights, one request's cache and states, activations, and the requests that fit."""
    here = scenario.serving
    cache = kv_working(
        here.model,
        here.context_len,
        kv_dtype=here.kv_dtype,
        tensor_parallel=here.serving_tensor_parallel,
        indexer="included",
    )
    return [_weights(here), cache, max_batch_working(step_of(scenario))]


def _work(scenario: ServingScenario, batch: int) -> ServingWork:
    return decode_work(
        scenario.model,
        scenario.context_len,
        batch=batch,
        tensor_parallel=scenario.serving_tensor_parallel,
        **formats_of(scenario),
    )


def _ratio(scenario: ServingScenario) -> Working:
    question = throughput_ratio(scenario)
    alone, together = 1 / question.one, MANY / question.many
    return Working(
        name=f"{MANY} requests against one, at the floor",
        formula="(B / step of B) / (1 / step of one)",
        terms=(Term("throughput", f"{MANY} × {number(alone)} / {number(together)}", question.times, "x"),),
        value=question.times,
        unit="x",
        assumptions=("memory holds them", "floors in seconds, as below"),
        source=_POPE,
    )


def _bend(scenario: ServingScenario, bend: float) -> Working:
    accelerator = scenario.accelerator
    one, gpus = _work(scenario, 1), scenario.serving_tensor_parallel
    formats = formats_of(scenario)
    matrices = served_matrices(scenario.model, gpus, formats)
    read = sum(float(one.read_bytes(bend)) for one in matrices) + vector_bytes(scenario.model, formats)
    flops = " + ".join(
        f"{number(count)} / {number(peak)}"
        for dtype, count in one.matmul_flops.items()
        if (peak := multiply_flops_per_s(accelerator, dtype)) is not None
    )
    expression = f"{number(read)} / {number(accelerator.hbm_bytes_per_s)} / ({flops})"
    return Working(
        name="Requests at which the matrices bend",
        formula="(weights read / bandwidth) / (FLOPs of one request's matrices / peak)",
        terms=(Term("bend", expression, bend, "requests"),),
        value=bend,
        unit="requests",
        assumptions=(
            f"dense peak, multiplied in {multiply_dtype(accelerator, scenario.weight_dtype)}",
            "attention and its cache left out",
            *(("experts that so many tokens hit",) if scenario.model.num_experts else ()),
        ),
        source=f"{_POPE}; the ridge of Williams et al. 2009",
    )


def _weights(scenario: ServingScenario) -> Working:
    """Weights on one GPU, matrix by matrix."""
    model, gpus, formats = scenario.model, scenario.serving_tensor_parallel, formats_of(scenario)
    dtypes = dtype_of_parts(formats)
    terms = [
        Term(
            f"{one.layers} x {one.matrix.label}",
            product(one.layers, one.matrix.params, bytes_per_element(one.dtype)),
            float(one.stored_bytes),
            "bytes",
        )
        for one in served_matrices(model, gpus, formats)
    ]
    tables, size = lookup_params(model), bytes_per_element(dtypes["embedding"])
    if tables:
        terms.append(Term("embedding", f"{product(tables, size)} / {gpus}", tables * size / gpus, "bytes"))
    vectors = vector_bytes(model, formats)
    terms.append(Term("norms, biases and what else is no matrix", number(vectors), vectors, "bytes"))
    value = float(memory_of(scenario).weight_bytes)
    return Working(
        name=f"Weights on each of {gpus} GPUs",
        formula="sum over matrices: layers × weights on one GPU × bytes each",
        terms=tuple(terms),
        value=value,
        unit="bytes",
        assumptions=(
            f"{scenario.weight_dtype} matrices",
            "tensor parallelism splits heads, widths and vocabulary",
            "embedding, head, norms and router stay in 16 bits under a narrower format",
        ),
        source="the model's config.json; Shoeybi et al. 2019, arXiv:1909.08053, section 3",
    )


def speculation_workings(
    scenario: Scenario, acceptance: float, draft_cost: float, index: int, profile: Profile | None = None
) -> list[Working]:
    """Tokens that a pass yields, and the speed-up at the scenario's batch."""
    sweep, draft = over_draft(scenario, acceptance, draft_cost, profile), DRAFT_TOKENS[index]
    at = sweep.batch.index(scenario.serving.batch)
    speedup, verify = float(sweep.speedup[index, at]), float(sweep.verify_cost[index, at])
    expression = f"{number(sweep.tokens[index])} / ({number(verify)} + {product(draft, draft_cost)})"
    return [
        speculation_working(acceptance, draft),
        Working(
            name=f"Speed-up at {scenario.serving.batch:,} requests",
            formula="tokens a pass / (checking pass / plain step + g × draft's cost)",
            terms=(Term("speed-up", expression, speedup, "x"),),
            value=speedup,
            unit="x",
            assumptions=("the checking pass and the plain step at their floors",)
            if profile is None
            else (
                "the checking pass and the plain step from measured kernels",
                "attention of several tokens: that of one, times the ratio of their floors",
            ),
            source="Leviathan et al. 2022, arXiv:2211.17192, theorem 3.8"
            + ("" if profile is None else f"; kernels: {profile.citation}"),
        ),
    ]


def price_workings(scenario: Scenario, rent: float, use: float, profile: Profile | None = None) -> Sequence[Working]:
    """What a million output tokens cost at the scenario's batch."""
    here = scenario.serving
    row = next(row for row in prices(over_batch(scenario, profile), here, rent, use) if row.batch == here.batch)
    gpus = here.serving_tensor_parallel
    expression = f"{product(gpus, rent)} / 3600 / ({number(row.tokens_per_s)} × {number(use)}) × 1000000"
    return [
        Working(
            name=f"A million output tokens, estimate, {here.batch:,} requests",
            formula="GPUs × rent / 3600 s / (tokens a second × share in use) × 10^6",
            terms=(Term("price", expression, row.estimate, "of the rent's currency"),),
            value=row.estimate,
            unit="of the rent's currency",
            assumptions=("decode alone", "the batch stays full while it is in use"),
            source="identity",
        )
    ]
