"""What else a token costs: drafts that are checked, prefixes that are known, the rent of the GPUs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from core.batch import BATCHES, BLOCK_TOKENS, BatchSweep, fabric_between, formats_of
from core.checks import Floats
from core.prefix_cache import cached_tokens, prefill_saved_share, shared_prefix_bytes
from core.scenario import Scenario, ServingScenario
from core.serving import prefill_estimate_s, verify_cost
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


def over_draft(scenario: Scenario, acceptance: float, draft_cost: float) -> SpeculationSweep:
    """Every draft length at every batch; kept, since moving the slider changes none of it."""
    batches = tuple(sorted({*BATCHES, scenario.serving.batch}))
    return _over_draft(scenario.serving.model_copy(update={"batch": 1}), batches, acceptance, draft_cost)


@lru_cache(maxsize=64)
def _over_draft(
    scenario: ServingScenario, batches: tuple[int, ...], acceptance: float, draft_cost: float
) -> SpeculationSweep:
    drafts = np.array(DRAFT_TOKENS)[:, None]
    cost = verify_cost(
        scenario.model,
        scenario.accelerator,
        scenario.context_len,
        drafts,
        batch=np.array(batches),
        tensor_parallel=scenario.serving_tensor_parallel,
        **formats_of(scenario),
    )
    return SpeculationSweep(
        draft_tokens=DRAFT_TOKENS,
        batch=batches,
        tokens=expected_speculative_tokens(acceptance, np.array(DRAFT_TOKENS)),
        speedup=speculative_speedup(acceptance, drafts, draft_cost=draft_cost, verify_cost=cost),
        verify_cost=cost,
    )


@dataclass(frozen=True, slots=True, eq=False)
class PrefixHits:
    """What shared prefixes save; each array has one entry for each hit share."""

    share: tuple[float, ...]
    cached_tokens: Floats
    prefill_s: Floats  # estimate, one prompt as long as the context; NaN without a confirmed peak
    saved_flops: Floats  # share of the prompt's FLOPs
    saved_bytes: Floats  # cache that the batch does not hold twice, on each GPU


def prefix_hits(scenario: Scenario) -> PrefixHits:
    """A prompt that fills the context, with growing parts of it in the cache already."""
    here, gpus = scenario.serving, scenario.serving.serving_tensor_parallel
    cached = cached_tokens(here.context_len, np.array(HIT_SHARES), block_tokens=BLOCK_TOKENS)
    shared = shared_prefix_bytes(
        here.model, np.maximum(cached, 1), here.batch, kv_dtype=here.kv_dtype, tensor_parallel=gpus, indexer="included"
    )
    return PrefixHits(
        share=HIT_SHARES,
        cached_tokens=cached,
        prefill_s=prefill_estimate_s(
            here.model,
            here.accelerator,
            here.context_len,
            tensor_parallel=gpus,
            cached_tokens=cached,
            fabric=fabric_between(scenario),
            **formats_of(here),
        ),
        saved_flops=prefill_saved_share(here.model, here.context_len, cached),
        saved_bytes=np.where(cached > 0, shared, 0.0),
    )


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
