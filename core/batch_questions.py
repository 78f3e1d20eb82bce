"""The two predictions of step 5, asked about the scenario's own model: the truth, and the slips known by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from core.batch import formats_of, most_requests
from core.constraints import tensor_parallel_choices
from core.dtypes import bytes_per_element
from core.prediction import Slip
from core.scenario import ServingScenario
from core.serving_rates import StepTime, floor_time
from core.serving_work import ServingWork, decode_work

MANY = 32
TWIST_GPUS, OTHER_GPUS = 4, 8


@dataclass(frozen=True, slots=True)
class RatioQuestion:
    """How many times the tokens a second of one request 32 requests get together, both at the floor."""

    one: float  # tokens/s
    many: float  # tokens/s
    one_work: ServingWork
    many_work: ServingWork
    many_time: StepTime
    slips: tuple[Slip, ...]

    @property
    def times(self) -> float:
        """Throughput of 32 requests over that of one. [x]"""
        return self.many / self.one


def throughput_ratio(scenario: ServingScenario) -> RatioQuestion:
    """Most people name the batch; each request also brings a cache of its own, and a MoE model hits more experts."""

    def step(batch: int) -> tuple[ServingWork, StepTime]:
        work = decode_work(
            scenario.model,
            scenario.context_len,
            batch=batch,
            tensor_parallel=scenario.serving_tensor_parallel,
            **formats_of(scenario),
        )
        return work, floor_time(work, scenario.accelerator)

    (one_work, one), (many_work, many) = step(1), step(MANY)
    slips = (
        Slip(float(MANY), "That counts the weights alone. Every request also reads a cache of its own, each step."),
        Slip(1.0, "That is what happens once nothing is shared. The weights are: one read serves all requests."),
    )
    return RatioQuestion(
        one=1 / float(one.overlapped_s),
        many=MANY / float(many.overlapped_s),
        one_work=one_work,
        many_work=many_work,
        many_time=many,
        slips=slips,
    )


@dataclass(frozen=True, slots=True)
class TwistQuestion:
    """How many requests fit on another number of GPUs with a cache of other width."""

    gpus: int
    kv_dtype: str
    before: int  # requests that fit as it stands
    truth: int
    same_cache: int  # on those GPUs, the cache left as it was
    scaled: float  # in proportion to GPUs and bytes: the slip
    slips: tuple[Slip, ...]


def twist(scenario: ServingScenario) -> TwistQuestion:
    """Four GPUs (eight, where it is on four now) and a cache of 8 bits (16, where it is at 8 or fewer now).

    Where the model's heads do not split so, or its weights do not fit, the nearest degree that can serve.
    """
    dtype = "fp8" if bytes_per_element(scenario.kv_dtype) > 1.1 else "bf16"

    def requests(**changes: object) -> int:
        return most_requests(scenario.model_copy(update=changes))

    near = _nearest(scenario, lambda degree: requests(serving_tensor_parallel=degree, kv_dtype=dtype) > 0)
    before, truth = requests(), requests(serving_tensor_parallel=near, kv_dtype=dtype)
    same_cache = requests(serving_tensor_parallel=near)
    width = bytes_per_element(scenario.kv_dtype) / bytes_per_element(dtype)
    scaled = before * near / scenario.serving_tensor_parallel * width
    slips = (
        Slip(scaled, "That scales with the GPUs. The weights take the same bytes on all of them together."),
        Slip(float(same_cache), "That moves to the other GPUs, and leaves the cache as wide as it was."),
    )
    return TwistQuestion(near, dtype, before, truth, same_cache, scaled, slips)


def _nearest(scenario: ServingScenario, serves: Callable[[int], bool]) -> int:
    """The degree to ask about: powers of two first, as nodes and engines have them, then any that splits the heads."""
    here = scenario.serving_tensor_parallel
    wanted = OTHER_GPUS if here == TWIST_GPUS else TWIST_GPUS
    degrees = [degree for degree in tensor_parallel_choices(scenario.model) if degree != here]
    ranked = sorted(degrees, key=lambda degree: (degree & (degree - 1) != 0, abs(math.log(degree / wanted))))
    return next((degree for degree in ranked if serves(degree)), here)
