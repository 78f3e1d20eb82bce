"""The numbers that the words of step 5 quote, by the names that the text uses."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

from core.batch import (
    BatchSweep,
    Headline,
    deployment_of,
    fabric_between,
    formats_of,
    headline_of,
    memory_of,
    over_batch,
)
from core.batch_questions import MANY, RatioQuestion, TwistQuestion
from core.constraints import Problem
from core.display import digits, show_bytes, show_seconds
from core.dtypes import bytes_per_element
from core.measured_profile import Profile
from core.scenario import Scenario, ServingScenario
from core.serving_fit import fit_problems
from core.serving_rates import EFFICIENCIES, multiply_dtype
from core.serving_work import decode_work


def limit_numbers(scenario: ServingScenario, unit: str) -> dict[str, str]:
    """What the section "Limit" quotes: what is shared, and what is held; no result of batching."""
    memory = memory_of(scenario)
    return {
        "model": scenario.model.name,
        "gpus": _gpus(scenario.serving_tensor_parallel, scenario),
        "reads": _reads(scenario.model_copy(update={"batch": 1}), float(memory.weight_bytes), unit),
        "context": f"{scenario.context_len:,}",
        "budget": show_bytes(float(memory.budget_bytes), unit),
        "keeps": "a state of its own" if _keeps_states_alone(scenario) else "a KV cache of its own",
    }


@lru_cache(maxsize=128)
def _reads(scenario: ServingScenario, stored: float, unit: str) -> str:
    if scenario.model.num_experts:
        return f"the weights in use, up to {show_bytes(stored, unit)} on each GPU"
    work = decode_work(scenario.model, 1, tensor_parallel=scenario.serving_tensor_parallel, **formats_of(scenario))
    return f"{show_bytes(float(work.weight_bytes), unit)} of weights on each GPU"


def ratio_numbers(question: RatioQuestion, unit: str) -> dict[str, str]:
    """What the first question and its answer quote."""
    one, many, time = question.one_work, question.many_work, question.many_time
    said = [
        f"One request reads {show_bytes(float(one.weight_bytes), unit)} of weights and"
        f" {show_bytes(float(one.kv_bytes + one.state_bytes), unit)} of its own cache on each GPU;"
        f" {MANY} read {show_bytes(float(many.weight_bytes), unit)} and"
        f" {show_bytes(float(many.kv_bytes + many.state_bytes), unit)}."
    ]
    if many.weight_bytes > 1.05 * one.weight_bytes:
        said.append("The weights grow too, since more requests choose more experts.")
    if float(time.compute_s) > float(time.bandwidth_s):
        said.append("Their FLOPs take longer still, so compute binds.")
    return {
        "one": digits(question.one),
        "many": digits(question.many),
        "times": digits(question.times),
        "why": " ".join(said),
    }


def twist_numbers(question: TwistQuestion, scenario: ServingScenario, unit: str) -> dict[str, str]:
    """What the second question and its answer quote."""
    there = scenario.model_copy(
        update={"serving_tensor_parallel": question.gpus, "kv_dtype": question.kv_dtype, "batch": 1}
    )
    memory = memory_of(there)
    free = float(memory.budget_bytes - memory.weight_bytes - memory.working_bytes)
    stands = f"{question.before:,}" if question.before else "no"
    plural = "request" if question.before == 1 else "requests"
    return {
        "stands": f"{stands} {plural} of {scenario.context_len:,} tokens",
        "now": _gpus(scenario.serving_tensor_parallel, scenario),
        "then": _gpus(question.gpus, scenario),
        "dtype": "8 bits" if bytes_per_element(question.kv_dtype) == 1 else "16 bits",
        "free": show_bytes(max(free, 0.0), unit),
        "each": show_bytes(float(memory.sequence_bytes), unit),
        "truth": f"{question.truth:,}",
        "beside": _beside(question),
    }


def _beside(question: TwistQuestion) -> str:
    if not question.before:
        return "As it stood, the weights left no room for a single one."
    scaled = f"In proportion to GPUs and bytes it would be {question.scaled:,.0f}."
    if abs(question.truth - question.scaled) <= 0.02 * question.scaled:
        return f"{scaled} The weights are so small here that the cache decides alone."
    return f"{scaled} The weights take the same bytes however many GPUs share them, and do not shrink with the cache."


def said_numbers(scenario: Scenario, unit: str, profile: Profile | None = None) -> dict[str, str]:
    """What the section "Say it" quotes: the limit's numbers and the scenario's results."""
    sweep, here = over_batch(scenario, profile), headline_of(scenario, profile)
    alone = sweep.alone
    return limit_numbers(scenario.serving, unit) | {
        "cache": show_bytes(_brought(scenario.serving), unit),
        "batch": f"{here.batch:,}",
        "one": digits(alone.most_tokens_per_s),
        "many": digits(here.most_tokens_per_s),
        "times": digits(here.most_tokens_per_s / alone.most_tokens_per_s),
        "cap": _cap(here),
        "estimate": digits(here.tokens_per_s),
        "token": show_seconds(here.step_s),
        "bend": _bend_said(sweep),
    }


def _cap(here: Headline) -> str:
    if not here.max_batch:
        return "Memory does not hold even one request beside the weights, so first it must fit."
    holds = f"Memory holds {here.max_batch:,} of them"
    return f"{holds}, so these fit." if here.fits else f"{holds}, so these do not fit."


def _bend_said(sweep: BatchSweep) -> str:
    if not math.isfinite(sweep.matrices_bend):
        return "No confirmed peak tells where compute would bind."
    bend = f"The matrices turn compute-bound at {digits(sweep.matrices_bend)} requests"
    return f"{bend}; reading the cache never does." if math.isinf(sweep.step_bends) else f"{bend}."


def bend_in_words(scenario: Scenario) -> str:
    """The bend explained under the first picture, with the numbers put in."""
    sweep, here = over_batch(scenario), scenario.serving
    if not math.isfinite(sweep.matrices_bend):
        return (
            f"No peak of {here.accelerator.name} is confirmed, so only memory's side is drawn: reading the weights,"
            " which all requests share, and the cache, which each brings."
        )
    floor, dtype = sweep.step.floor, multiply_dtype(here.accelerator, here.weight_dtype)
    cache, flops = float(floor.kv_s[0]), float(floor.matmul_s[0] + floor.attention_s[0])
    said = [
        f"Reading the weights is shared, so its ceiling rises with the batch; that of the FLOPs is flat. They meet at"
        f" {digits(sweep.matrices_bend)} requests, at the dense {dtype} peak: there the matrices turn compute-bound."
        f" Caches set a flat ceiling too: each takes {show_seconds(cache)} to read, and its request's FLOPs"
        f" {show_seconds(flops)}."
    ]
    if math.isinf(sweep.step_bends):
        said.append(
            f"That ceiling is the lower one, so at {here.context_len:,} tokens a whole step stays bound by memory at"
            " any batch."
        )
    else:
        said.append(
            f"That ceiling is the higher one, so a whole step bends too, at {digits(sweep.step_bends)} requests."
        )
    if sweep.max_batch < sweep.matrices_bend:
        said.append(f"Memory stops at {sweep.max_batch:,}, before the bend.")
    return " ".join(said)


def assumptions_in_words(scenario: Scenario, profile: Profile | None = None) -> str:
    """What floors and estimates assume, in one line."""
    if profile is not None:
        return (
            "Floors: datasheet bandwidth and dense peaks, nothing lost. Estimates: kernels and messages as measured on "
            f"{profile.name}, one after the other."
        )
    share, gpus = EFFICIENCIES, scenario.serving.serving_tensor_parallel
    over = f", all-reduces over {scenario.scale_up.name}" if gpus > 1 else ""
    return (
        "Floors: datasheet bandwidth and dense peaks, nothing lost. Estimates:"
        f" {share.weight_bandwidth:g} of the bandwidth for weights and {share.kv_bandwidth:g} for the cache,"
        f" {share.matmul_compute:g} of the peak for matrices, kernel starts{over}."
    )


@lru_cache(maxsize=128)
def standing_problems(scenario: ServingScenario, unit: str) -> tuple[Problem, ...]:
    """Why the deployment cannot run as it stands, by how much, and what was tried and would cure it."""
    return tuple(fit_problems(deployment_of(scenario), unit))


def layout_in_words(scenario: ServingScenario) -> str:
    """The scenario in a few words, to recognise a pinned one."""
    return (
        f"{scenario.model.name} on {_gpus(scenario.serving_tensor_parallel, scenario)}, {scenario.weight_dtype}"
        f" weights, {scenario.kv_dtype} cache, {scenario.batch:,} x {scenario.context_len:,} tokens"
    )


def notes(scenario: Scenario) -> Iterator[str]:
    """What a reader should know of these numbers, in sentences."""
    here = scenario.serving
    yield from fabric_between(scenario).assumed if here.serving_tensor_parallel > 1 else ()
    multiplied = multiply_dtype(here.accelerator, here.weight_dtype)
    if multiplied is not None and multiplied != here.weight_dtype:
        yield f"{here.weight_dtype} weights are multiplied in {multiplied} on {here.accelerator.name}."
    if here.model.num_experts:
        yield "A step reads the experts that its tokens hit if all are equally likely; real routing hits fewer."


def _gpus(count: int, scenario: ServingScenario) -> str:
    return f"{count:,} x {scenario.accelerator.name}"


def _brought(scenario: ServingScenario) -> float:
    """What one request reads of its own on each GPU in a step. [bytes]"""
    memory = memory_of(scenario.model_copy(update={"batch": 1}))
    return float(memory.kv_bytes + memory.state_bytes)


def _keeps_states_alone(scenario: ServingScenario) -> bool:
    return float(memory_of(scenario).kv_bytes) == 0


FIXES = (
    {
        "when": "requests wait and memory is left",
        "do": "raise the engine's limit on running requests",
        "gains": "tokens a second, until reading caches takes longer than reading weights",
        "costs": "each request waits longer for its next token",
        "confirm by": "tokens a second and time per token against running requests",
    },
    {
        "when": "memory is reserved and not used",
        "do": "paged cache, shared prefixes",
        "gains": "less than one block wasted a request; one copy of a common prefix",
        "costs": "a block table, and kernels that follow it",
        "confirm by": "tokens held against blocks in use; preemptions in the engine's log",
    },
    {
        "when": "the cache is full",
        "do": "an 8-bit cache",
        "gains": "twice the requests, half the cache read",
        "costs": "accuracy, above all on long contexts",
        "confirm by": "blocks that the engine reports at start; recall on your longest prompts",
    },
    {
        "when": "weights leave little room",
        "do": "8- or 4-bit weights, or more GPUs",
        "gains": "room, and less to read each step",
        "costs": "accuracy; more all-reduces; nothing gained where heads must be copied",
        "confirm by": "blocks at start; an evaluation; time per token at your batch",
    },
    {
        "when": "the model may still change",
        "do": "fewer KV heads, latents, windows",
        "gains": "the cache divided",
        "costs": "another training run; quality to be shown",
        "confirm by": "bytes a token from its config",
    },
    {
        "when": "few requests, and each token must come sooner",
        "do": "speculative decoding",
        "gains": "several tokens a pass",
        "costs": "the draft's time and memory; it loses once compute binds",
        "confirm by": "accepted tokens a pass; tokens a second at your own batch",
    },
    {
        "when": "prompts begin alike",
        "do": "prefix caching",
        "gains": "their prefill is skipped, their cache held once",
        "costs": "memory for prefixes; requests must reach the replica that has them",
        "confirm by": "hit rate; time to the first token",
    },
)
