"""Whether a layout fits the GPU's memory, by how much it does not, and the smallest change that would cure it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from core.constraints import Problem, feasible, label, shown, tensor_parallel_choices
from core.display import show_bytes
from core.memory import training_memory
from core.model_spec import ModelSpec
from core.scenario import TrainingScenario

Values = Mapping[str, Any]


def peak_bytes(model: ModelSpec, layout: Values) -> float:
    """Peak of the fullest pipeline stage's GPU. [bytes]"""
    return float(training_memory(model, **layout).peak_bytes.max())


def capacity_problem(
    model: ModelSpec, layout: Values, *, hbm_bytes: float, accelerator: str, unit: str = "GB"
) -> Problem | None:
    """Why one layout's peak does not fit, with a cure that was tried; None where it fits.

    Args:
        model: the model.
        layout: fields of a training scenario, scalars.
        hbm_bytes: memory of one GPU. [bytes]
        accelerator: its name, for the sentence.
        unit: "GB" or "GiB", the family that bytes are said in.
    """
    need = peak_bytes(model, layout)
    if need <= hbm_bytes:
        return None
    more = show_bytes(need - hbm_bytes, unit)
    over = f"the fullest pipeline stage needs {show_bytes(need, unit)}, {more} more than the GPU has"
    return Problem("gpu", accelerator, over, _cure(model, layout, hbm_bytes, unit))


@lru_cache(maxsize=128)
def memory_problem(run: TrainingScenario, unit: str = "GB") -> Problem | None:
    """Why a run would not fit its GPUs, and what would cure it; None where it fits."""
    gpu = run.accelerator
    return capacity_problem(run.model, run.layout, hbm_bytes=float(gpu.hbm_bytes), accelerator=gpu.name, unit=unit)


def first_cure(model: ModelSpec, layout: Values, *, hbm_bytes: float) -> dict[str, Any] | None:
    """The fields to change that :func:`capacity_problem` names as its way out; None where none was found that fits."""
    return _find(model, layout, hbm_bytes).change


@dataclass(frozen=True, slots=True)
class _Found:
    change: dict[str, Any] | None  # what fits
    price: str = ""
    single: bool = True
    tried: Values = field(default_factory=dict)  # all cheap changes that help, whether they fit or not


def _find(model: ModelSpec, layout: Values, hbm_bytes: float) -> _Found:
    """The first single change that fits, cheapest in time first; else all cheap ones together; else more GPUs."""
    together: dict[str, Any] = {}
    best = peak_bytes(model, layout)
    for change, price in _changes(model, layout):
        if not _can(model, layout, change):
            continue
        need = peak_bytes(model, {**layout, **change})
        if need <= hbm_bytes:
            return _Found(change, price)
        if not price and need < best:
            together |= change
    if not together or not _can(model, layout, together):
        return _Found(None)
    fits = peak_bytes(model, {**layout, **together}) <= hbm_bytes
    return _Found(together if fits else None, single=False, tried=together)


def _cure(model: ModelSpec, layout: Values, hbm_bytes: float, unit: str) -> str:
    """The way out in words."""
    found = _find(model, layout, hbm_bytes)
    change = found.change or found.tried
    if not change:
        return "It takes more GPUs a replica, or larger ones."
    need = show_bytes(peak_bytes(model, {**layout, **change}), unit)
    if found.change and found.single:
        verb = "brings" if len(change) == 1 else "bring"
        return f"Cure: {_words(change)} {verb} it to {need}{found.price}."
    if found.change:
        return f"No single change is enough; {_words(change)} bring it to {need}."
    leave = "leaves" if len(change) == 1 else "together leave"
    return f"Even {_words(change)} {leave} {need}: it takes more GPUs a replica, or larger ones."


def _changes(model: ModelSpec, layout: Values) -> Iterator[tuple[dict[str, Any], str]]:
    """Changes to try, and what is said of those that take more GPUs. Cheap ones keep the number of GPUs."""
    if not layout["fused_attention"]:
        yield {"fused_attention": True}, ""
    if layout["tensor_parallel"] > 1 and not layout["sequence_parallel"]:
        yield {"sequence_parallel": True}, ""
    for stage in range(layout["zero_stage"] + 1, 4):
        if layout["data_parallel"] * layout["context_parallel"] > 1:
            yield {"zero_stage": stage}, ""
    order = ("none", "selective", "full")
    for recompute in order[order.index(layout["recompute"]) + 1 :]:
        yield {"recompute": recompute}, ""
    if layout["micro_batch_size"] > 1:
        times = layout["micro_batch_size"]
        yield {"micro_batch_size": 1, "num_micro_batches": layout["num_micro_batches"] * times}, ""
    if all(layout[f"{axis}_parallel"] == 1 for axis in ("data", "tensor", "pipeline", "context")):
        for recipe in ("lora", "qlora"):
            yield {"recipe": recipe, "recompute": "full", "micro_batch_size": 1}, ", training adapters alone"
    more = ", on {} times as many GPUs"
    for degree in tensor_parallel_choices(model):
        times = degree / layout["tensor_parallel"]
        if degree > layout["tensor_parallel"] and degree <= 8 and times == int(times):
            yield {"tensor_parallel": degree, "sequence_parallel": True}, more.format(int(times))
    for times in (2, 4, 8, 16, 32, 64):
        yield {"data_parallel": layout["data_parallel"] * times, "zero_stage": 3}, more.format(times)
    for times in (2, 4, 8, 16):
        yield {"pipeline_parallel": layout["pipeline_parallel"] * times}, more.format(times)


def _can(model: ModelSpec, layout: Values, change: Values) -> bool:
    return bool(feasible(model, {**layout, **change}))


def _words(change: Values) -> str:
    def name(field: str) -> str:
        words = label(field)
        return words if any(letter.isupper() for letter in words[1:]) else words[0].lower() + words[1:]

    return " and ".join(f"{name(field)} {shown(value).strip(chr(39))}" for field, value in change.items())
