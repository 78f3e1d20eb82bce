"""What a person is looking at: one model on one accelerator, trained in one way and served in one way.

A scenario that exists is valid: types, ranges and every cross-field rule are checked when it is built, and refusals are
:class:`ScenarioError` with one :class:`~core.constraints.Problem` for each field at fault.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from core import constraints
from core.constraints import Problem
from core.dtypes import DTYPES
from core.hardware import Accelerator, Link
from core.model_spec import ModelSpec

# Named again in formulas (zero, lora, activations), which lie above this floor; tests/core/test_scenario.py compares.
RECIPES = ("adam", "adam-fp32-grads", "adam-8bit", "adam-bf16", "adam-fp32", "sgd-momentum", "lora", "qlora")
OFFLOADS = ("none", "optimizer", "optimizer+parameters")
RECOMPUTES = ("none", "selective", "full")


@dataclass(frozen=True, slots=True)
class WholeNumber:
    """The range of an integer field; the top refuses slips of the keyboard, not real clusters."""

    low: int
    high: int

    @property
    def rule(self) -> str:
        """The range as the end of a refusal."""
        return f"it must be a whole number from {self.low:,} to {self.high:,}"


@dataclass(frozen=True, slots=True)
class Share:
    """A fraction above zero and at most one."""

    rule = "it must be a share above 0 and at most 1"


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words."""

    options: tuple[str, ...]

    @property
    def rule(self) -> str:
        """The options as the end of a refusal."""
        return "it must be one of " + ", ".join(self.options)


Range = WholeNumber | Choice | Share | type[bool]

MOST_REQUESTS = 1_000_000  # of one deployment

TRAINING_FIELDS: dict[str, Range] = {
    "data_parallel": WholeNumber(1, 65_536),
    "tensor_parallel": WholeNumber(1, constraints.MAX_DEGREE),
    "pipeline_parallel": WholeNumber(1, constraints.MAX_DEGREE),
    "context_parallel": WholeNumber(1, constraints.MAX_DEGREE),
    "expert_parallel": WholeNumber(1, 4096),
    "sequence_parallel": bool,
    "virtual_stages": WholeNumber(1, 64),
    "zero_stage": WholeNumber(0, 3),
    "recipe": Choice(RECIPES),
    "offload": Choice(OFFLOADS),
    "micro_batch_size": WholeNumber(1, 4096),
    "num_micro_batches": WholeNumber(1, 65_536),
    "seq_len": WholeNumber(1, 16_777_216),
    "recompute": Choice(RECOMPUTES),
    "fused_attention": bool,
}
SERVING_FIELDS: dict[str, Range] = {
    "serving_tensor_parallel": WholeNumber(1, constraints.MAX_DEGREE),
    "weight_dtype": Choice(tuple(DTYPES)),
    "kv_dtype": Choice(tuple(DTYPES)),
    "context_len": WholeNumber(1, 16_777_216),
    "batch": WholeNumber(1, MOST_REQUESTS),
    "memory_fraction": Share(),
}
FIELDS: dict[str, Range] = TRAINING_FIELDS | SERVING_FIELDS


class ScenarioError(ValueError):
    """A scenario that cannot be: ``problems`` names every field at fault, ``str()`` joins their sentences."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(" ".join(problem.sentence for problem in problems))
        self.problems = problems


def read_field(field: str, value: object) -> Any:
    """A value of the field's own type, whole numbers also from "64" or 64.0.

    Raises:
        ScenarioError: the value is of the wrong type or out of range.
    """
    kind = FIELDS[field]
    if kind is bool:
        if isinstance(value, int | str) and value in (0, 1, "0", "1"):
            return bool(int(value))
        raise ScenarioError([Problem(field, value, "it is either on or off", "Use 1 for on or 0 for off.")])
    if isinstance(kind, Choice):
        if isinstance(value, str) and value in kind.options:
            return value
        raise ScenarioError([Problem(field, value, kind.rule, f"Try {kind.options[0]}.")])
    if isinstance(kind, Share):
        number = _number(value)
        if number is not None and 0 < number <= 1:
            return number
        raise ScenarioError([Problem(field, value, kind.rule, "Try 0.9.")])
    assert isinstance(kind, WholeNumber)
    number = _number(value)
    if number is not None and number == math.floor(number) and kind.low <= number <= kind.high:
        return int(number)
    nearest = kind.low if number is None else min(max(round(number), kind.low), kind.high)
    raise ScenarioError([Problem(field, value, kind.rule, f"Try {nearest:,}.")])


def _number(value: object) -> float | None:
    """The finite number that a value means, or None."""
    if isinstance(value, bool) or not isinstance(value, Real | str):  # NumPy's numbers are real too
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


class _Checked(BaseModel):
    """Reads each field by its range, then applies the cross-field rules; collects all problems of the first kind."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _read_fields(cls, values: Any) -> Any:
        if not isinstance(values, Mapping):
            return values
        read, found = dict(values), []
        for field in FIELDS.keys() & values.keys() & cls.model_fields.keys():
            try:
                read[field] = read_field(field, values[field])
            except ScenarioError as error:
                found += error.problems
        if found:
            raise ScenarioError(sorted(found, key=lambda problem: problem.field))
        return read


class TrainingScenario(_Checked):
    """One training run's layout. GPUs are data x tensor x pipeline x context ranks; experts live inside those."""

    model: ModelSpec
    accelerator: Accelerator
    data_parallel: int = 64
    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    context_parallel: int = 1
    expert_parallel: int = 1
    sequence_parallel: bool = False
    virtual_stages: int = 1
    zero_stage: int = 3
    recipe: str = "adam"
    offload: Literal["none", "optimizer", "optimizer+parameters"] = "none"
    micro_batch_size: int = 1
    num_micro_batches: int = 1
    seq_len: int = 4096
    recompute: Literal["none", "selective", "full"] = "full"
    fused_attention: bool = True

    @model_validator(mode="after")
    def _fits_together(self) -> TrainingScenario:
        if found := constraints.problems(self.model, self.layout):
            raise ScenarioError(found)
        return self

    @property
    def layout(self) -> dict[str, Any]:
        """The fields without model and accelerator, as formulas and constraints take them."""
        return {field: getattr(self, field) for field in TRAINING_FIELDS}

    @property
    def num_gpus(self) -> int:
        """All GPUs of the run. [GPUs]"""
        return self.data_parallel * self.gpus_per_replica

    @property
    def gpus_per_replica(self) -> int:
        """GPUs that hold one copy of the model before ZeRO shards it. [GPUs]"""
        return self.tensor_parallel * self.pipeline_parallel * self.context_parallel


class ServingScenario(_Checked):
    """One serving deployment's layout."""

    model: ModelSpec
    accelerator: Accelerator
    serving_tensor_parallel: int = 8
    weight_dtype: str = "bf16"
    kv_dtype: str = "bf16"
    context_len: int = 4096
    batch: int = 32
    memory_fraction: float = 0.9  # what the engine may take; vLLM's --gpu-memory-utilization has this default

    @model_validator(mode="after")
    def _splits_evenly(self) -> ServingScenario:
        field = "serving_tensor_parallel"
        if problem := constraints.tensor_parallel_problem(self.model, field, self.serving_tensor_parallel):
            raise ScenarioError([problem])
        return self


class Scenario(BaseModel):
    """What travels through the pages and lives in the URL: both scenarios, on the same model and hardware."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    training: TrainingScenario
    serving: ServingScenario
    scale_up: Link
    scale_out: Link

    @property
    def model(self) -> ModelSpec:
        """The one model of both parts."""
        return self.training.model

    @property
    def accelerator(self) -> Accelerator:
        """The one accelerator of both parts."""
        return self.training.accelerator


def build(
    model: ModelSpec, accelerator: Accelerator, scale_up: Link, scale_out: Link, values: Mapping[str, object]
) -> Scenario:
    """A scenario from a model, hardware and plain field values; fields left out take their defaults.

    Raises:
        ScenarioError: with every problem found, each naming its field.
    """
    unknown = sorted(values.keys() - FIELDS.keys())
    found = [Problem(name, values[name], "there is no such field", "Remove it.") for name in unknown]
    parts: list[Any] = []
    for scenario_type, fields in ((TrainingScenario, TRAINING_FIELDS), (ServingScenario, SERVING_FIELDS)):
        chosen = {name: values[name] for name in fields if name in values}
        try:
            parts.append(scenario_type.model_validate({"model": model, "accelerator": accelerator, **chosen}))
        except ValidationError as error:
            found += problems_of(error)
    if found:
        raise ScenarioError(found)
    return Scenario(training=parts[0], serving=parts[1], scale_up=scale_up, scale_out=scale_out)


def problems_of(error: ValidationError) -> list[Problem]:
    """The problems that a validation error carries, ours as they were and pydantic's own in the same form."""
    found: list[Problem] = []
    for item in error.errors():
        inner = item.get("ctx", {}).get("error")
        if isinstance(inner, ScenarioError):
            found += inner.problems
        else:
            field = ".".join(str(part) for part in item["loc"]) or "scenario"
            found.append(Problem(field, item["input"], item["msg"].lower(), "Correct it or take a preset."))
    return found


def field_values(scenario: Scenario) -> dict[str, Any]:
    """All field values of a scenario, as :func:`build` takes them."""
    return {name: getattr(scenario.training, name) for name in TRAINING_FIELDS} | {
        name: getattr(scenario.serving, name) for name in SERVING_FIELDS
    }


def changed(scenario: Scenario, **changes: object) -> Scenario:
    """The scenario with some fields changed, all rules applied again. Raises ScenarioError."""
    return build(
        scenario.model, scenario.accelerator, scenario.scale_up, scenario.scale_out, field_values(scenario) | changes
    )


def with_model(scenario: Scenario, model: ModelSpec) -> tuple[Scenario, list[str]]:
    """The scenario on another model. Degrees that the new model cannot take are lowered, and each change is said.

    Returns:
        the new scenario, and one sentence for each field that had to change.
    """
    values = field_values(scenario)
    degrees = constraints.tensor_parallel_choices(model)
    limits = {
        name: max(d for d in degrees if d <= values[name]) for name in ("tensor_parallel", "serving_tensor_parallel")
    }
    limits["pipeline_parallel"] = min(values["pipeline_parallel"], model.num_layers)
    limits["virtual_stages"] = min(values["virtual_stages"], max(1, model.num_layers // limits["pipeline_parallel"]))
    if limits["pipeline_parallel"] == 1:
        limits["virtual_stages"] = 1
    ranks = values["data_parallel"] * values["context_parallel"]
    limits["expert_parallel"] = max(
        d for d in constraints.expert_parallel_choices(model, ranks) if d <= values["expert_parallel"]
    )
    fitted: dict[str, object] = dict(limits)
    if limits["tensor_parallel"] == 1:
        fitted["sequence_parallel"] = False
    said = [
        f"{constraints.label(name)} went from {constraints.shown(values[name])} to {constraints.shown(new)}"
        f" because {model.name} cannot take it."
        for name, new in fitted.items()
        if new != values[name]
    ]
    new = build(model, scenario.accelerator, scenario.scale_up, scenario.scale_out, values | fitted)
    return new, said
