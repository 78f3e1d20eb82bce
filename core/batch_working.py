"""Derivations of the headline numbers of step 5: what a step reads, how long it takes, and how many requests fit."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from core.batch import Headline, formats_of, headline_of, memory_of, over_batch
from core.batch_questions import MANY, throughput_ratio
from core.batch_token import DRAFT_TOKENS, over_draft, prices
from core.dtypes import bytes_per_element
from core.hardware import Accelerator
from core.kv_working import kv_working
from core.scenario import Scenario, ServingScenario
from core.serving_memory import CHUNK_TOKENS, activation_bytes_per_token
from core.serving_rates import EFFICIENCIES, StepTime, multiply_dtype, multiply_flops_per_s
from core.serving_weights import dtype_of_parts, lookup_params, served_matrices, vector_bytes
from core.serving_work import ServingWork, decode_work
from core.working import Term, Working, number, product

_POPE = "Pope et al. 2022, arXiv:2211.05102, section 2.1"


def step_workings(scenario: Scenario) -> list[Working]:
    """The first question's ratio; floor, estimate and throughput of the step; the bend."""
    here = scenario.serving
    head = headline_of(scenario)
    workings = [_ratio(here), _floor(here, head), _estimate(scenario, head), _throughput(head)]
    sweep = over_batch(scenario)
    return [*workings, _bend(here, sweep.matrices_bend)] if math.isfinite(sweep.matrices_bend) else workings


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
    return [_weights(here), cache, _cap(here)]


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


def _floor(scenario: ServingScenario, head: Headline) -> Working:
    work, rate = _work(scenario, head.batch), number(scenario.accelerator.hbm_bytes_per_s)
    reads = {"weights": work.weight_bytes, "caches": work.kv_bytes, "states, read and written": work.state_bytes}
    terms = tuple(
        Term(label, f"{number(size)} / {rate}", float(size) / scenario.accelerator.hbm_bytes_per_s, "s")
        for label, size in reads.items()
        if size
    )
    if sum(term.value for term in terms) < head.floor_s * (1 - 1e-9):
        terms = _flops_terms(work, scenario.accelerator)
        formula, binds = "FLOPs of one GPU / dense peak", "compute takes longer than memory"
    else:
        formula, binds = "bytes that one GPU reads / bandwidth", "memory takes longer than compute"
    return Working(
        name=f"Decode step, floor, {head.batch:,} requests",
        formula=formula,
        terms=terms,
        value=head.floor_s,
        unit="s",
        assumptions=(binds, "datasheet rates, no messages, everything overlapped"),
        source=_POPE,
    )


def _flops_terms(work: ServingWork, accelerator: Accelerator) -> tuple[Term, ...]:
    """Matrices by the format in which they are stored, and attention, over the peaks that multiply them."""
    terms = [
        Term(f"matrices stored in {dtype}", f"{number(flops)} / {number(peak)}", float(flops) / peak, "s")
        for dtype, flops in work.matmul_flops.items()
        if (peak := multiply_flops_per_s(accelerator, dtype)) is not None
    ]
    peak = multiply_flops_per_s(accelerator, "bf16")
    if work.attention_flops and peak is not None:
        value = float(work.attention_flops) / peak
        terms.append(Term("attention", f"{number(work.attention_flops)} / {number(peak)}", value, "s"))
    return tuple(terms)


def _estimate(scenario: Scenario, head: Headline) -> Working:
    sweep = over_batch(scenario)
    at = sweep.batch.index(head.batch)
    work, rate = _work(scenario.serving, head.batch), number(scenario.accelerator.hbm_bytes_per_s)
    share, time = EFFICIENCIES, sweep.step.estimate
    terms = [
        _slower("weights", work.weight_bytes, share.weight_bandwidth, rate, time, "weight_s", "matmul_s", at),
        _slower(
            "caches and states",
            work.kv_bytes + work.state_bytes,
            share.kv_bandwidth,
            rate,
            time,
            "kv_s",
            "attention_s",
            at,
        ),
    ]
    sent = _at(time.communication_s, at)
    if sent:
        each = sent / work.num_messages
        terms.append(Term("all-reduces", product(work.num_messages, each), sent, "s"))
    starts = (
        (work.num_matmuls, share.matmul_start_s),
        (work.num_mixers, share.attention_start_s),
        (work.num_layers * share.small_kernels_per_layer, share.small_kernel_s),
    )
    started = " + ".join(product(count, each) for count, each in starts)
    terms.append(Term("starts of kernels", started, _at(time.overhead_s, at), "s"))
    return Working(
        name=f"Decode step, estimate, {head.batch:,} requests",
        formula="matrices + attention, each at the slower of memory and compute, + all-reduces + starts",
        terms=tuple(terms),
        value=head.step_s,
        unit="s",
        assumptions=("one kernel after another", "shares of peaks as measured for kernels of ten systems"),
        source="NVIDIA AIConfigurator 0.12 (kernel times); core/serving_rates.py says which number is which",
    )


def _slower(
    what: str, size: object, share: float, rate: str, time: StepTime, memory: str, compute: str, at: int
) -> Term:
    """One kind of kernel: its bytes at a share of the bandwidth, or its FLOPs where they take longer."""
    reading, multiplying = _at(getattr(time, memory), at), _at(getattr(time, compute), at)
    if multiplying > reading:  # False where no peak is confirmed
        return Term(f"{what}: FLOPs take longer than reading", number(multiplying), multiplying, "s")
    return Term(f"{what} read", f"{number(size)} / ({rate} × {share:g})", reading, "s")  # type: ignore[arg-type]


def _at(values: object, index: int) -> float:
    flat = np.ravel(np.asarray(values, dtype=np.float64))
    return float(flat[index if flat.size > 1 else 0])


def _throughput(head: Headline) -> Working:
    return Working(
        name=f"Tokens a second, estimate, {head.batch:,} requests",
        formula="B / step",
        terms=(Term("tokens", f"{number(head.batch)} / {number(head.step_s)}", head.tokens_per_s, "tokens/s"),),
        value=head.tokens_per_s,
        unit="tokens/s",
        assumptions=("each request gets one token a step", "the step's estimate above"),
        source="identity",
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


def _cap(scenario: ServingScenario) -> Working:
    memory = memory_of(scenario.model_copy(update={"batch": 1}))
    per_token = float(activation_bytes_per_token(scenario.model, scenario.serving_tensor_parallel))
    free = (
        f"({product(scenario.accelerator.hbm_bytes, scenario.memory_fraction)} - {number(memory.weight_bytes)}"
        f" - {product(CHUNK_TOKENS, per_token)})"
    )
    each = [memory.kv_bytes, *([memory.state_bytes] if memory.state_bytes else []), memory.logits_bytes]
    left = float(memory.budget_bytes - memory.weight_bytes - memory.working_bytes)
    value = left / float(memory.sequence_bytes)
    expression = f"{free} / ({' + '.join(number(part) for part in each)})"
    return Working(
        name="Requests that fit, before rounding down; below 0 the weights alone do not fit",
        formula="(M × share - weights - activations) / (cache + states + logits of one request)",
        terms=(Term("requests", expression, value, "requests"),),
        value=value,
        unit="requests",
        assumptions=(
            f"the engine may use {scenario.memory_fraction:g} of the GPU's memory",
            f"activations of {CHUNK_TOKENS:,} tokens of prefill in one step, logits in fp32",
            "exact tokens, no blocks",
        ),
        source="vLLM's own split (vLLM issue 13061)",
    )


def speculation_workings(scenario: Scenario, acceptance: float, draft_cost: float, index: int) -> list[Working]:
    """Tokens that a pass yields, and the speed-up at the scenario's batch."""
    sweep, draft = over_draft(scenario, acceptance, draft_cost), DRAFT_TOKENS[index]
    at = sweep.batch.index(scenario.serving.batch)
    tokens, speedup, verify = (
        float(v) for v in (sweep.tokens[index], sweep.speedup[index, at], sweep.verify_cost[index, at])
    )
    powers = ["1", *(" × ".join([number(acceptance)] * power) for power in range(1, draft + 1))]
    assumed = ("each token is accepted with the same chance", "floors")
    source = "Leviathan et al. 2022, arXiv:2211.17192, equation 1 and theorem 3.8"
    return [
        Working(
            name="Tokens that a pass yields",
            formula="1 + a + a² + ... + a^g",
            terms=(Term("tokens", " + ".join(powers), tokens, "tokens"),),
            value=tokens,
            unit="tokens",
            assumptions=assumed,
            source=source,
        ),
        Working(
            name=f"Speed-up at {scenario.serving.batch:,} requests",
            formula="tokens a pass / (checking pass / plain step + g × draft's cost)",
            terms=(
                Term("speed-up", f"{number(tokens)} / ({number(verify)} + {product(draft, draft_cost)})", speedup, "x"),
            ),
            value=speedup,
            unit="x",
            assumptions=assumed,
            source=source,
        ),
    ]


def price_workings(scenario: Scenario, rent: float, use: float) -> Sequence[Working]:
    """What a million output tokens cost at the scenario's batch."""
    here = scenario.serving
    row = next(row for row in prices(over_batch(scenario), here, rent, use) if row.batch == here.batch)
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
