"""What step 5 shows of a deployment: throughput and latency over the batch, and the cache over the context."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.bend import bend_batch
from core.checks import Floats
from core.kv_cache import KvOptions, kv_bytes, kv_bytes_per_token
from core.measured_estimate import measured_decode, measured_serving_step
from core.measured_profile import Profile
from core.measured_step import MeasuredStep
from core.scenario import MOST_REQUESTS, Scenario, ServingScenario
from core.serving_fit import Deployment
from core.serving_memory import ServingMemory, most_sequences, serving_memory
from core.serving_messages import Fabric, fabric_of
from core.serving_step import ServingStep, serving_step
from core.serving_weights import ServingFormats

# Positions of the slider: up to four a doubling, beyond what a published deployment runs at once on one replica.
BATCHES = tuple(sorted({steps * 2**k // 4 for steps in (4, 5, 6, 7) for k in range(12)} | {4096}))
BLOCK_TOKENS = 16  # of a paged cache; vLLM's default
_LENGTHS = 64  # positions of the context slider
_SHORTEST, _LONGEST = 2048, 16_777_216  # where that slider may end


@dataclass(frozen=True, slots=True)
class Headline:
    """The numbers that a person compares before and after a change."""

    batch: int
    tokens_per_s: float  # estimate, all requests together
    most_tokens_per_s: float  # floor: a ceiling
    step_s: float  # estimate, of one step: the time between two tokens of a request
    floor_s: float
    max_batch: int  # requests that the memory beside the weights holds
    room_bytes: float  # on each GPU; negative where the batch does not fit

    @property
    def fits(self) -> bool:
        """Whether weights, cache and activations of this batch stay within what the engine may take."""
        return self.room_bytes >= 0

    @property
    def over_bytes(self) -> float:
        """By how much it exceeds that; 0 where it fits. [bytes per GPU]"""
        return max(-self.room_bytes, 0.0)

    def against(self, pinned: Headline) -> Difference:
        """How these numbers compare with pinned ones."""
        return Difference(
            tokens=self.tokens_per_s / pinned.tokens_per_s - 1,
            step=self.step_s / pinned.step_s - 1,
            max_batch=self.max_batch - pinned.max_batch,
            room_bytes=self.room_bytes - pinned.room_bytes,
            fitted=pinned.fits,
        )


@dataclass(frozen=True, slots=True)
class Difference:
    """One headline against another."""

    tokens: float  # share more [-]
    step: float  # share longer [-]
    max_batch: int
    room_bytes: float
    fitted: bool  # whether the other one did


@dataclass(frozen=True, slots=True, eq=False)
class BatchSweep:
    """A decode step at each batch; the axis is the slider's positions."""

    batch: tuple[int, ...]
    step: ServingStep
    max_batch: int
    matrices_bend: float  # requests from which the matrices' FLOPs take longer than reading them; NaN without a peak
    step_bends: float  # the same with each request's cache; infinite where no batch is bound by compute

    def headline(self, index: int) -> Headline:
        """One position."""
        return Headline(
            batch=self.batch[index],
            tokens_per_s=float(self.step.tokens_per_s[index]),
            most_tokens_per_s=float(self.step.most_tokens_per_s[index]),
            step_s=float(self.step.step_s[index]),
            floor_s=float(self.step.floor_s[index]),
            max_batch=self.max_batch,
            room_bytes=float(self.step.memory.room_bytes[index]),
        )

    @property
    def ceilings(self) -> dict[str, Floats]:
        """Tokens a second if one kind of work were all, at datasheet rates. [tokens/s]

        "weights": reading them, for all requests. "caches": reading each one's, states included. "flops": the matrices.
        """
        batch, floor = np.array(self.batch), self.step.floor
        with np.errstate(divide="ignore"):
            return {"weights": batch / floor.weight_s, "caches": batch / floor.kv_s, "flops": batch / floor.matmul_s}

    @property
    def alone(self) -> Headline:
        """One request on its own."""
        return self.headline(0)


@dataclass(frozen=True, slots=True, eq=False)
class ContextSweep:
    """Memory of one GPU over the tokens that each request has reached; the axis is the slider's positions."""

    context_len: tuple[int, ...]
    memory: ServingMemory
    max_batch: NDArray[np.int64]  # at each length
    uniform_kv_bytes: Floats  # where every layer reserves whole blocks for every token
    token_bytes: Floats  # what the next token of every request adds [bytes per GPU]
    batch: int

    @property
    def reserves_more(self) -> bool:
        """Whether reserving for every layer takes visibly more: some layers have a window."""
        return bool(np.any(self.uniform_kv_bytes > 1.05 * self.memory.kv_bytes + 1))


def formats_of(scenario: ServingScenario) -> ServingFormats:
    """The number formats of a scenario, as formulas take them."""
    return ServingFormats(weight_dtype=scenario.weight_dtype, kv_dtype=scenario.kv_dtype)


def fabric_between(scenario: Scenario) -> Fabric:
    """The scenario's own links between the GPUs that serve."""
    return fabric_of(scenario.accelerator, scale_up=scenario.scale_up, scale_out=scenario.scale_out)


def deployment_of(scenario: ServingScenario) -> Deployment:
    """The scenario as the checks of memory take it."""
    return Deployment(
        scenario.model,
        scenario.accelerator,
        scenario.context_len,
        scenario.batch,
        scenario.serving_tensor_parallel,
        scenario.memory_fraction,
        formats=formats_of(scenario),
    )


@lru_cache(maxsize=256)
def memory_of(scenario: ServingScenario) -> ServingMemory:
    """Memory of one GPU for the scenario as it stands; kept, since many numbers of the page start from it."""
    return deployment_of(scenario).memory()


def most_requests(scenario: ServingScenario) -> int:
    """The cap: requests of the scenario's length that fit beside the weights. [sequences]"""
    return int(most_sequences(memory_of(scenario.model_copy(update={"batch": 1}))))


def over_batch(scenario: Scenario, profile: Profile | None = None) -> BatchSweep:
    """Every position of the batch slider in one call; kept, since moving the slider changes none of it.

    Args:
        scenario: the deployment.
        profile: measured kernels that estimates come from; None: stated efficiencies. Floors are the datasheet's.
    """
    here = scenario.serving
    anywhere = here.model_copy(update={"batch": 1})
    # Of what fits, no more than a scenario may hold: the slider hands its position on.
    marks = {here.batch, min(max(most_requests(anywhere), 1), MOST_REQUESTS)}
    return _over_batch(anywhere, fabric_between(scenario), tuple(sorted({*BATCHES, *marks})), profile)


@lru_cache(maxsize=128)
def _over_batch(
    scenario: ServingScenario, fabric: Fabric, batches: tuple[int, ...], profile: Profile | None
) -> BatchSweep:
    formats, gpus = formats_of(scenario), scenario.serving_tensor_parallel
    bends = [
        float(bend_batch(scenario.model, scenario.accelerator, length, tensor_parallel=gpus, **formats))
        for length in (None, scenario.context_len)
    ]
    step = _step(scenario, fabric, np.array(batches), profile)
    return BatchSweep(batches, step, most_requests(scenario), *bends)


def step_of(scenario: Scenario, profile: Profile | None = None) -> ServingStep:
    """The scenario's own decode step, as its derivations take it."""
    return _step(scenario.serving, fabric_between(scenario), scenario.serving.batch, profile)


@lru_cache(maxsize=64)
def measured_of(scenario: Scenario, profile: Profile) -> MeasuredStep:
    """The scenario's own decode step kernel by kernel, as a profile predicts it."""
    here = scenario.serving
    return measured_decode(
        profile,
        here.model,
        here.context_len,
        batch=here.batch,
        tensor_parallel=here.serving_tensor_parallel,
        accelerator=here.accelerator,
        fabric=fabric_between(scenario),
        **formats_of(here),
    )


def _step(scenario: ServingScenario, fabric: Fabric, batch: ArrayLike, profile: Profile | None) -> ServingStep:
    if profile is not None:
        return measured_serving_step(
            profile,
            scenario.model,
            scenario.context_len,
            batch=batch,
            tensor_parallel=scenario.serving_tensor_parallel,
            accelerator=scenario.accelerator,
            memory_fraction=scenario.memory_fraction,
            fabric=fabric,
            **formats_of(scenario),
        )
    return serving_step(
        scenario.model,
        scenario.accelerator,
        scenario.context_len,
        batch=batch,
        tensor_parallel=scenario.serving_tensor_parallel,
        memory_fraction=scenario.memory_fraction,
        fabric=fabric,
        **formats_of(scenario),
    )


def headline_of(scenario: Scenario, profile: Profile | None = None) -> Headline:
    """The scenario's own numbers."""
    sweep = over_batch(scenario, profile)
    return sweep.headline(sweep.batch.index(scenario.serving.batch))


def over_context(scenario: Scenario) -> ContextSweep:
    """Every position of the context slider in one call; kept as the one over the batch."""
    own = scenario.serving.context_len
    anywhere = scenario.serving.model_copy(update={"context_len": 1})
    reach = min(max(2 * own, min(4 * _longest_that_fits(anywhere), 16 * own), _SHORTEST), _LONGEST)
    step = 2 ** int(np.ceil(np.log2(reach))) // _LENGTHS
    return _over_context(anywhere, tuple(sorted({*range(step, step * _LENGTHS + 1, step), own})))


@lru_cache(maxsize=128)
def _longest_that_fits(scenario: ServingScenario) -> int:
    """The largest power of two, from 16 on, that the batch fits at; 0 where none is. [tokens]"""
    powers = 2 ** np.arange(4, 25)
    fitting = powers[deployment_of(scenario).memory(powers).fits]
    return int(fitting[-1]) if fitting.size else 0


@lru_cache(maxsize=128)
def _over_context(scenario: ServingScenario, lengths: tuple[int, ...]) -> ContextSweep:
    tokens = np.array(lengths)
    gpus = scenario.serving_tensor_parallel
    options = KvOptions(kv_dtype=scenario.kv_dtype, tensor_parallel=gpus, indexer="included")
    memory = serving_memory(
        scenario.model,
        tokens,
        batch=scenario.batch,
        tensor_parallel=gpus,
        budget_bytes=deployment_of(scenario).budget_bytes,
        **formats_of(scenario),
    )
    reserved = options | KvOptions(reservation="uniform", page_tokens=BLOCK_TOKENS)
    return ContextSweep(
        context_len=lengths,
        memory=memory,
        max_batch=most_sequences(memory),
        uniform_kv_bytes=kv_bytes(scenario.model, tokens, batch=scenario.batch, **reserved),
        token_bytes=scenario.batch * kv_bytes_per_token(scenario.model, tokens, **options),
        batch=scenario.batch,
    )
