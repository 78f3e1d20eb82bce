"""A serving scenario in, a report out: prefill, decode, memory, the limit that binds, and what stands in the way.

Estimates and floors are separate fields. A deployment that does not fit has no latency: its estimates are NaN, and
``problems`` says by how much and what would cure it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from core.bend import bend_batch
from core.constraints import Problem
from core.measured_estimate import measured_decode, measured_prefill
from core.measured_profile import Profile
from core.measured_step import MeasuredStep
from core.prefix_cache import cached_tokens
from core.scenario import ServingScenario
from core.serving import prefill_estimate_s, prefill_floor_s
from core.serving_fit import Deployment, fit_problems
from core.serving_memory import CHUNK_TOKENS, ServingMemory
from core.serving_messages import Fabric, fabric_of
from core.serving_metrics import cost_per_million_tokens, request_latency_s
from core.serving_rates import EFFICIENCIES, Efficiencies, StepTime, multiply_dtype
from core.serving_step import ServingStep, serving_step
from core.serving_weights import ServingFormats
from core.speculation import expected_speculative_tokens

Limit = Literal["capacity", "compute", "communication", "bandwidth"]


@dataclass(frozen=True, slots=True)
class Traffic:
    """What requests look like, and what they run with, beyond the scenario's fields."""

    prompt_len: int | None = None  # None: the whole context
    output_len: int = 256
    prefix_hit: float = 0.0  # share of a prompt found in the prefix cache
    draft_tokens: int = 0  # of speculative decoding; 0: none
    acceptance: float = 0.8  # chance that a draft token is accepted
    draft_cost: float = 0.05  # time of one draft token over a plain decode step
    price_per_gpu_hour: float | None = None


@dataclass(frozen=True, slots=True)
class InferenceReport:
    """One deployment. Memory and times are those of the fullest GPU; estimates are NaN where it does not fit."""

    prefill_s: float  # estimate, one prompt alone, from when it starts to run
    prefill_floor_s: float
    decode_step_s: float  # estimate; with speculation, of a step that drafts and checks
    decode_floor_s: float  # of a plain step
    tokens_per_s: float  # estimate, all sequences together
    most_tokens_per_s: float  # the same at the floor, without speculation: a ceiling
    token_s: float  # estimate, between two tokens of one sequence
    request_s: float  # estimate, of a request that finds its place at once
    tokens_per_step: float  # of one sequence; 1 without speculation
    cost_per_million_tokens: float | None  # output tokens; None without a price
    max_batch: int
    bend_batch: float  # at this context; infinite where no batch is bound by compute
    num_gpus: int
    memory: ServingMemory
    limit: Limit
    shares: dict[Limit, float]  # how near each limit is to binding: 1 binds, a capacity above 1 does not fit
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]  # what the numbers assume, in sentences
    floor: StepTime  # of a plain step, by kind of work
    estimate: StepTime  # of a plain step, if it fitted

    @property
    def fits(self) -> bool:
        """Whether weights, cache and activations stay within what the engine may take."""
        return bool(self.memory.fits)


def estimate(
    scenario: ServingScenario,
    *,
    traffic: Traffic | None = None,
    fabric: Fabric | None = None,
    efficiencies: Efficiencies = EFFICIENCIES,
    expert_dtype: str | None = None,
    chunk_tokens: int = CHUNK_TOKENS,
    profile: Profile | None = None,
) -> InferenceReport:
    """Report on one deployment.

    Args:
        scenario: the model, the accelerator and how it is served.
        traffic: prompts, answers, speculation and price; None takes :class:`Traffic`'s defaults.
        fabric: links between the GPUs; None takes the catalog's.
        efficiencies: what estimates assume.
        expert_dtype: format of routed experts where it differs from the other weights'.
        chunk_tokens: tokens of a prefill step, which set the activations' memory. [tokens]
        profile: measured kernels that estimates come from, instead of ``efficiencies``. A checking pass of speculation
            and a prompt that is partly in the cache keep their stated proportion to the plain ones.
    """
    asked, links = traffic or Traffic(), fabric or fabric_of(scenario.accelerator)
    formats = ServingFormats(weight_dtype=scenario.weight_dtype, kv_dtype=scenario.kv_dtype, expert_dtype=expert_dtype)
    gpus = scenario.serving_tensor_parallel

    def step(tokens_per_sequence: int) -> ServingStep:
        return serving_step(
            scenario.model,
            scenario.accelerator,
            scenario.context_len,
            batch=scenario.batch,
            tensor_parallel=gpus,
            tokens_per_sequence=tokens_per_sequence,
            memory_fraction=scenario.memory_fraction,
            chunk_tokens=chunk_tokens,
            fabric=links,
            efficiencies=efficiencies,
            **formats,
        )

    plain = step(1)
    checking = step(asked.draft_tokens + 1) if asked.draft_tokens else plain
    check_s = float(checking.step_s)
    measured = _measured(scenario, profile, links, formats)
    if measured is not None:
        check_s *= float(measured.decode.step_s / plain.step_s)
        plain = replace(plain, estimate=measured.decode.time)
    runs = 1.0 if bool(plain.memory.fits) else np.nan  # nothing that cannot run has a latency
    decode = runs * float(check_s + asked.draft_tokens * asked.draft_cost * plain.step_s)
    tokens = float(expected_speculative_tokens(asked.acceptance, asked.draft_tokens))
    prompt = asked.prompt_len or scenario.context_len
    known = float(cached_tokens(prompt, asked.prefix_hit))
    prefill = runs * float(
        prefill_estimate_s(
            scenario.model,
            scenario.accelerator,
            prompt,
            tensor_parallel=gpus,
            cached_tokens=known,
            fabric=links,
            efficiencies=efficiencies,
            **formats,
        )
    )
    if measured is not None:
        prefill *= measured.prefill_factor(prompt, efficiencies)
    rate = scenario.batch * tokens / decode
    price = asked.price_per_gpu_hour
    return InferenceReport(
        prefill_s=prefill,
        prefill_floor_s=float(
            prefill_floor_s(
                scenario.model, scenario.accelerator, prompt, tensor_parallel=gpus, cached_tokens=known, **formats
            )
        ),
        decode_step_s=decode,
        decode_floor_s=float(plain.floor_s),
        tokens_per_s=rate,
        most_tokens_per_s=float(plain.most_tokens_per_s),
        token_s=decode / tokens,
        request_s=_request_s(prefill, decode / tokens, asked.output_len),
        tokens_per_step=tokens,
        cost_per_million_tokens=None if price is None else _cost(rate, gpus, price),
        max_batch=int(plain.max_batch),
        bend_batch=float(
            bend_batch(scenario.model, scenario.accelerator, scenario.context_len, tensor_parallel=gpus, **formats)
        ),
        num_gpus=gpus,
        memory=plain.memory,
        limit=str(plain.limit),  # type: ignore[arg-type]
        shares={name: float(share) for name, share in plain.shares.items()},  # type: ignore[misc]
        problems=tuple(fit_problems(_deployment(scenario, chunk_tokens, formats))),
        notes=(*_notes(scenario, links), *(measured.notes if measured else ())),
        floor=plain.floor,
        estimate=plain.estimate,
    )


@dataclass(frozen=True, slots=True)
class _Measured:
    """What a profile says of a deployment."""

    scenario: ServingScenario
    profile: Profile
    links: Fabric
    formats: ServingFormats
    decode: MeasuredStep

    def prefill_factor(self, prompt: int, efficiencies: Efficiencies) -> float:
        """A whole prompt as measured over the stated estimate of it. [-]"""
        run, gpus = self.scenario, self.scenario.serving_tensor_parallel
        stated = prefill_estimate_s(
            run.model,
            run.accelerator,
            prompt,
            tensor_parallel=gpus,
            fabric=self.links,
            efficiencies=efficiencies,
            **self.formats,
        )
        measured = measured_prefill(
            self.profile,
            run.model,
            prompt,
            tensor_parallel=gpus,
            accelerator=run.accelerator,
            fabric=self.links,
            **self.formats,
        )
        return float(measured.step_s / stated)

    @property
    def notes(self) -> tuple[str, ...]:
        """Whose kernels, and where their tables end."""
        return (f"Estimates from measured kernels of {self.profile.name}.", *self.decode.notes)


def _measured(
    scenario: ServingScenario, profile: Profile | None, links: Fabric, formats: ServingFormats
) -> _Measured | None:
    if profile is None:
        return None
    decode = measured_decode(
        profile,
        scenario.model,
        scenario.context_len,
        batch=scenario.batch,
        tensor_parallel=scenario.serving_tensor_parallel,
        accelerator=scenario.accelerator,
        fabric=links,
        **formats,
    )
    return _Measured(scenario, profile, links, formats, decode)


def _request_s(prefill: float, token: float, output_len: int) -> float:
    known = np.isfinite(prefill) and np.isfinite(token)
    return float(request_latency_s(prefill, token, output_len)) if known else np.nan


def _cost(rate: float, gpus: int, price: float) -> float:
    return float(cost_per_million_tokens(rate, num_gpus=gpus, price_per_gpu_hour=price)) if rate > 0 else np.nan


def _deployment(scenario: ServingScenario, chunk_tokens: int, formats: ServingFormats) -> Deployment:
    return Deployment(
        scenario.model,
        scenario.accelerator,
        scenario.context_len,
        scenario.batch,
        scenario.serving_tensor_parallel,
        scenario.memory_fraction,
        chunk_tokens,
        formats,
    )


def _notes(scenario: ServingScenario, links: Fabric) -> list[str]:
    """What a reader should know of the numbers."""
    accelerator, gpus, notes = scenario.accelerator, scenario.serving_tensor_parallel, []
    multiplied = multiply_dtype(accelerator, scenario.weight_dtype)
    if multiplied is None:
        notes.append(
            f"No peak of {accelerator.name} is confirmed, so prefill has no time and decode is memory's alone."
        )
    elif multiplied != scenario.weight_dtype:
        notes.append(f"{scenario.weight_dtype} weights are multiplied in {multiplied} on {accelerator.name}.")
    if gpus > links.gpus_per_node:
        notes.append(f"{gpus} GPUs span nodes of {links.gpus_per_node}, so every all-reduce waits for the network.")
    if gpus > 1:
        notes += links.assumed
    if scenario.model.num_experts:
        notes.append("A step reads the experts that its tokens hit if all are equally likely; real routing hits fewer.")
    return notes
