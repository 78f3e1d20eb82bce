"""What binds a scenario in training and in serving, and the first fix: tried by the same estimate, not promised.

A fix is a change of fields. It is evaluated as any other scenario is, so its gain and its cost are numbers, and the
limit that binds after it is known too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from core import inference
from core.bottleneck_verdict import Verdict, serving_verdict, training_verdict
from core.capacity import first_cure, peak_bytes
from core.constraints import tensor_parallel_choices
from core.dtypes import bytes_per_element
from core.measured_profile import Profile
from core.scenario import Scenario, ScenarioError, ServingScenario, TrainingScenario, changed, field_values

Part = Literal["training", "serving"]
LEAST_GAIN = 1.03  # below, an estimate cannot tell a gain from nothing
NODE = 8  # GPUs among which tensor parallelism stays on the fast link
_RECOMPUTES = ("none", "selective", "full")


class Change(NamedTuple):
    """Fields to change together, and the name by which :mod:`core.verdict_text` knows what they do and cost."""

    name: str
    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Fix:
    """One change, before and after."""

    name: str
    fields: tuple[tuple[str, Any], ...]
    now: Verdict
    then: Verdict
    gpus_now: int
    gpus_then: int
    tokens_now: int  # of an optimizer step, or sequences of a decode step
    tokens_then: int

    @property
    def gain(self) -> float:
        """Tokens a second and GPU over those before; NaN where it did not run before. [-]"""
        before, after = self.now.tokens_per_s / self.gpus_now, self.then.tokens_per_s / self.gpus_then
        return np.nan if self.now.limit == "capacity" else after / before


@dataclass(frozen=True, slots=True)
class Finding:
    """One part of the scenario: what binds, and the first fix, if there is one."""

    part: Part
    verdict: Verdict
    fix: Fix | None


def finding(scenario: Scenario, part: Part, profile: Profile | None = None) -> Finding:
    """What binds one part of a scenario. Kept, so that a page can ask in every run.

    Args:
        scenario: what is judged.
        part: training or serving.
        profile: measured kernels that estimates come from, of fixes too; None: stated efficiencies.
    """
    # Each part has its own memory: a change of serving leaves training's answer as it is.
    return _training(scenario, profile) if part == "training" else _serving(scenario, profile)


@lru_cache(maxsize=64)
def _training(scenario: Scenario, profile: Profile | None) -> Finding:
    now = _verdict(scenario, "training", profile)
    run = scenario.training
    if now.limit == "capacity":
        cure = first_cure(run.model, run.layout, hbm_bytes=float(run.accelerator.hbm_bytes))
        return Finding(
            "training", now, _tried(scenario, "training", now, Change("fit", cure), profile) if cure else None
        )
    for tier in _training_tiers(run, now.limit):
        fixes = [fix for change in tier if (fix := _tried(scenario, "training", now, change, profile))]
        best = max(fixes, key=lambda fix: fix.gain, default=None)
        if best and best.gain >= LEAST_GAIN:
            return Finding("training", now, best)
    return Finding("training", now, None)


@lru_cache(maxsize=64)
def _serving(scenario: Scenario, profile: Profile | None) -> Finding:
    now = _verdict(scenario, "serving", profile)
    for change in _serving_changes(scenario.serving, now.limit):
        fix = _tried(scenario, "serving", now, change, profile)
        if fix and (now.limit == "capacity" or fix.gain >= LEAST_GAIN):
            return Finding("serving", now, fix)
    return Finding("serving", now, None)


def _verdict(scenario: Scenario, part: Part, profile: Profile | None) -> Verdict:
    judge = {"training": training_verdict, "serving": serving_verdict}[part]
    return judge(getattr(scenario, part), scenario.scale_up, scenario.scale_out, profile)


def _tried(scenario: Scenario, part: Part, now: Verdict, change: Change, profile: Profile | None) -> Fix | None:
    """The change evaluated; None where a rule refuses it, or it does not fit."""
    here = field_values(scenario)
    fields = {field: value for field, value in change.fields.items() if here[field] != value}
    try:
        other = changed(scenario, **fields)
    except ScenarioError:
        return None
    run = other.training
    if part == "training" and peak_bytes(run.model, run.layout) > run.accelerator.hbm_bytes:
        return None
    then = _verdict(other, part, profile)
    if then.limit == "capacity" or (now.runs and not then.runs):
        return None
    return Fix(
        change.name,
        tuple(fields.items()),
        now,
        then,
        *(_gpus(whole, part) for whole in (scenario, other)),
        *(_tokens(whole, part) for whole in (scenario, other)),
    )


def _gpus(scenario: Scenario, part: Part) -> int:
    return scenario.training.num_gpus if part == "training" else scenario.serving.serving_tensor_parallel


def _tokens(scenario: Scenario, part: Part) -> int:
    run = scenario.training
    if part == "serving":
        return scenario.serving.batch
    return run.data_parallel * run.num_micro_batches * run.micro_batch_size * run.seq_len


def _training_tiers(run: TrainingScenario, limit: str) -> Iterator[list[Change]]:
    """What matches a limit: first what leaves the GPUs and the batch as they are, then what takes a larger batch."""
    larger = [Change("accumulate", {"num_micro_batches": run.num_micro_batches * times}) for times in (2, 4)]
    if limit == "compute":
        yield [*_less_recompute(run)]
    if limit == "communication":
        yield [*_fewer_bytes(run), *_wider_steps(run)]
        yield larger[:1]
        yield larger[1:]
    if limit == "bandwidth":
        fused = [] if run.fused_attention else [Change("fuse", {"fused_attention": True})]
        yield [*fused, *_wider_steps(run)]
        yield [Change("larger micro-batch", {"micro_batch_size": run.micro_batch_size * 2})]


def _less_recompute(run: TrainingScenario) -> Iterator[Change]:
    """Keep activations instead of making them again; over more tensor-parallel ranks, if they need the room."""
    for recompute in _RECOMPUTES[: _RECOMPUTES.index(run.recompute)]:
        yield Change("keep", {"recompute": recompute})
    if run.recompute == "none":
        return
    for times in (2, 4, 8):
        if run.data_parallel % times == 0 and run.tensor_parallel * times <= NODE:
            layout = {
                "recompute": "none",
                "tensor_parallel": run.tensor_parallel * times,
                "sequence_parallel": True,
                "data_parallel": run.data_parallel // times,
                "num_micro_batches": run.num_micro_batches * times,
            }
            yield Change("keep, split", layout)


def _fewer_bytes(run: TrainingScenario) -> Iterator[Change]:
    """Less to send on the same GPUs for the same batch: a lower ZeRO stage, narrower groups, more chunks a stage."""
    for stage in range(1, run.zero_stage):
        yield Change("lower stage", {"zero_stage": stage})
    for axis in ("tensor_parallel", "pipeline_parallel", "context_parallel"):
        degree = getattr(run, axis)
        if degree % 2 == 0 and run.num_micro_batches % 2 == 0:
            layout = {
                axis: degree // 2,
                "data_parallel": run.data_parallel * 2,
                "num_micro_batches": run.num_micro_batches // 2,
            }
            if axis == "tensor_parallel" and degree == 2:
                layout["sequence_parallel"] = False
            yield Change(f"narrower {axis.removesuffix('_parallel')}", layout)
    if run.expert_parallel % 2 == 0:
        yield Change("narrower expert", {"expert_parallel": run.expert_parallel // 2})
    if run.pipeline_parallel > 1:
        yield Change("interleave", {"virtual_stages": run.virtual_stages * 2})


def _wider_steps(run: TrainingScenario) -> Iterator[Change]:
    """The same batch in fewer, larger micro-batches."""
    if run.num_micro_batches % 2 == 0:
        halves = {"micro_batch_size": run.micro_batch_size * 2, "num_micro_batches": run.num_micro_batches // 2}
        yield Change("wider", halves)


def _serving_changes(run: ServingScenario, limit: str) -> Iterator[Change]:
    """What matches a limit, in the order in which it is tried."""
    most = inference.estimate(run).max_batch
    cache = [Change("narrow cache", {"kv_dtype": "fp8"})] if bytes_per_element(run.kv_dtype) > 1 else []
    weights = [
        Change("narrow weights", {"weight_dtype": dtype})
        for dtype in ("fp8", "int4-g128")
        if bytes_per_element(dtype) < bytes_per_element(run.weight_dtype)
    ]
    degrees = tensor_parallel_choices(run.model)
    more = [Change("more GPUs", {"serving_tensor_parallel": n}) for n in degrees if n > run.serving_tensor_parallel]
    fewer = [Change("fewer GPUs", {"serving_tensor_parallel": n}) for n in degrees if n < run.serving_tensor_parallel]
    raised = min(2 * run.batch, most)
    batch = [Change("raise batch", {"batch": raised})] if raised > run.batch else []
    if limit == "capacity":
        yield from cache
        yield from weights
        if most:
            yield Change("lower batch", {"batch": most})
        yield from more
    elif limit == "bandwidth":
        yield from [*batch, *cache, *weights]
    elif limit == "communication":
        yield from [*batch, *reversed(fewer)]
    elif limit == "compute":
        yield from weights
