"""What else a token costs: drafts that are checked, prefixes that are known, the rent of the GPUs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from core.batch import BATCHES, BLOCK_TOKENS, BatchSweep, fabric_between, formats_of
from core.checks import Floats
from core.measured_estimate import measured_decode, measured_prefill
from core.measured_profile import Profile
from core.prefix_cache import cached_tokens, prefill_saved_share, shared_prefix_bytes
from core.scenario import Scenario, ServingScenario
from core.serving import prefill_estimate_s, verify_cost
from core.serving_messages import Fabric
from core.serving_metrics import cost_per_million_tokens
from core.speculation import expected_speculative_tokens, speculative_speedup

DRAFT_TOKENS = tuple(range(1, 13))
HIT_SHARES = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class SpeculationSweep:
    """Speculative decoding over draft length (rows) and batch (columns)."""

    draft_tokens: tuple[int, ...]
    batch: tuple[int, ...]
    tokens: Floats  # that a pass yields, (drafts,)
    speedup: Floats  # tokens a second over plain decoding, (drafts, batches)
    verify_cost: Floats  # time of the checking pass over a plain step, (drafts, batches)
    basis: str = "at the floor"  # on what these two times rest


def over_draft(
    scenario: Scenario, acceptance: float, draft_cost: float, profile: Profile | None = None
) -> SpeculationSweep:
    """Every draft length at every batch; kept, since moving the slider changes none of it.

    Args:
        scenario: the deployment.
        acceptance: chance that a draft token is accepted. [-]
        draft_cost: time of one draft token over one plain step. [-]
        profile: measured kernels that the checking pass and the plain step take; None: both at their floors.
    """
    batches = tuple(sorted({*BATCHES, scenario.serving.batch}))
    plain, fabric = scenario.serving.model_copy(update={"batch": 1}), fabric_between(scenario)
    return _over_draft(plain, fabric, batches, acceptance, draft_cost, profile)


@lru_cache(maxsize=64)
def _over_draft(
    scenario: ServingScenario,
    fabric: Fabric,
    batches: tuple[int, ...],
    acceptance: float,
    draft_cost: float,
    profile: Profile | None,
) -> SpeculationSweep:
    drafts = np.array(DRAFT_TOKENS)[:, None]
    cost = _verify_cost(scenario, fabric, batches, profile)
    return SpeculationSweep(
        draft_tokens=DRAFT_TOKENS,
        batch=batches,
        tokens=expected_speculative_tokens(acceptance, np.array(DRAFT_TOKENS)),
        speedup=speculative_speedup(acceptance, drafts, draft_cost=draft_cost, verify_cost=cost),
        verify_cost=cost,
        basis="at the floor" if profile is None else "as measured",
    )


@lru_cache(maxsize=64)
def _verify_cost(
    scenario: ServingScenario, fabric: Fabric, batches: tuple[int, ...], profile: Profile | None
) -> Floats:
    """Whatever the draft costs and however often it is right."""
    drafts, batch, gpus = np.array(DRAFT_TOKENS)[:, None], np.array(batches), scenario.serving_tensor_parallel
    model, chip, context = scenario.model, scenario.accelerator, scenario.context_len
    if profile is None:
        return verify_cost(model, chip, context, drafts, batch=batch, tensor_parallel=gpus, **formats_of(scenario))

    def seconds(tokens: Floats) -> Floats:
        return measured_decode(
            profile,
            model,
            context,
            batch=batch,
            tensor_parallel=gpus,
            accelerator=chip,
            fabric=fabric,
            tokens_per_sequence=tokens,
            **formats_of(scenario),
        ).step_s

    return np.asarray(seconds(drafts + 1) / seconds(np.ones(1)))


@dataclass(frozen=True, slots=True, eq=False)
class PrefixHits:
    """What shared prefixes save; each array has one entry for each hit share."""

    share: tuple[float, ...]
    cached_tokens: Floats
    prefill_s: Floats  # estimate, one prompt as long as the context; NaN without a confirmed peak
    saved_flops: Floats  # share of the prompt's FLOPs
    saved_bytes: Floats  # cache that the batch does not hold twice, on each GPU


def prefix_hits(scenario: Scenario, profile: Profile | None = None) -> PrefixHits:
    """A prompt that fills the context, with growing parts of it in the cache already.

    Args:
        scenario: the deployment.
        profile: measured kernels that prefill takes; None: stated efficiencies.
    """
    here, gpus = scenario.serving, scenario.serving.serving_tensor_parallel
    cached = cached_tokens(here.context_len, np.array(HIT_SHARES), block_tokens=BLOCK_TOKENS)
    shared = shared_prefix_bytes(
        here.model, np.maximum(cached, 1), here.batch, kv_dtype=here.kv_dtype, tensor_parallel=gpus, indexer="included"
    )
    return PrefixHits(
        share=HIT_SHARES,
        cached_tokens=cached,
        prefill_s=_prefill_s(here, fabric_between(scenario), cached, profile),
        saved_flops=prefill_saved_share(here.model, here.context_len, cached),
        saved_bytes=np.where(cached > 0, shared, 0.0),
    )


def _prefill_s(scenario: ServingScenario, fabric: Fabric, cached: Floats, profile: Profile | None) -> Floats:
    model, chip, gpus = scenario.model, scenario.accelerator, scenario.serving_tensor_parallel
    if profile is None:
        return prefill_estimate_s(
            model,
            chip,
            scenario.context_len,
            tensor_parallel=gpus,
            cached_tokens=cached,
            fabric=fabric,
            **formats_of(scenario),
        )
    return measured_prefill(
        profile,
        model,
        scenario.context_len,
        tensor_parallel=gpus,
        accelerator=chip,
        cached_tokens=cached,
        fabric=fabric,
        **formats_of(scenario),
    ).step_s


@dataclass(frozen=True, slots=True)
class Price:
    """What a million output tokens cost at one batch, in the currency of the rent."""

    batch: int
    fits: bool
    tokens_per_s: float  # estimate
    estimate: float
    floor: float


def prices(sweep: BatchSweep, scenario: ServingScenario, rent: float, utilization: float) -> list[Price]:
    """One request, the scenario's batch, and the most that fit, decode alone; prompts are paid beside it."""
    wanted = sorted({1, scenario.batch, max(sweep.max_batch, 1)})

    def cost(tokens_per_s: float) -> float:
        return float(
            cost_per_million_tokens(
                tokens_per_s,
                num_gpus=scenario.serving_tensor_parallel,
                price_per_gpu_hour=rent,
                utilization=utilization,
            )
        )

    rows = [sweep.headline(sweep.batch.index(batch)) for batch in wanted]
    return [
        Price(row.batch, row.fits, row.tokens_per_s, cost(row.tokens_per_s), cost(row.most_tokens_per_s))
        for row in rows
    ]
