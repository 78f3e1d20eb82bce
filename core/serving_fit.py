"""Why a deployment cannot run, by how much, and what would cure it: words for what the arrays found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from core.constraints import Problem, tensor_parallel_choices
from core.display import show_bytes
from core.dtypes import bytes_per_element
from core.hardware import Accelerator
from core.model_spec import ModelSpec
from core.serving_memory import CHUNK_TOKENS, ServingMemory, most_sequences, serving_memory
from core.serving_weights import ServingFormats

_NARROWER_WEIGHTS = ("fp8", "int4-g128")  # what to try, widest first
_NARROWER_CACHE = "fp8"
_ROUND_LENGTHS = tuple(2**power for power in range(4, 25))


@dataclass(frozen=True, slots=True)
class Deployment:
    """One way to serve a model: scalars only."""

    model: ModelSpec
    accelerator: Accelerator
    context_len: int
    batch: int
    tensor_parallel: int
    memory_fraction: float
    chunk_tokens: int = CHUNK_TOKENS
    formats: ServingFormats = field(default_factory=ServingFormats)

    @property
    def budget_bytes(self) -> float:
        """What the engine may take of each GPU. [bytes]"""
        return self.accelerator.hbm_bytes * self.memory_fraction

    def memory(self, context_len: ArrayLike | None = None) -> ServingMemory:
        """Its memory, or that at other lengths."""
        return serving_memory(
            self.model,
            self.context_len if context_len is None else context_len,
            batch=self.batch,
            tensor_parallel=self.tensor_parallel,
            budget_bytes=self.budget_bytes,
            chunk_tokens=self.chunk_tokens,
            **self.formats,
        )

    @property
    def fits(self) -> bool:
        """Whether weights, cache and activations stay within the budget."""
        return bool(self.memory().fits)


def fit_problems(deployment: Deployment, unit: str = "GB") -> list[Problem]:
    """The constraints that a deployment breaks: memory, and a context beyond the model's; bytes in a family of units.

    Each says by how much, and its way out names values that were tried and fit, each alone. Whether the degree splits
    the model's heads is the scenario's rule.
    """
    model, memory = deployment.model, deployment.memory()
    found: list[Problem] = []
    if deployment.context_len > model.max_position_embeddings:
        most = f"{model.max_position_embeddings:,}"
        rule = f"{model.name} was made for {most} tokens"
        found.append(Problem("context_len", deployment.context_len, rule, f"Choose at most {most}."))
    if not bool(memory.fits):
        too_much = _too_many(deployment, memory, unit) if int(most_sequences(memory)) else _too_large(deployment, unit)
        found.append(too_much)
    return found


def _too_many(deployment: Deployment, memory: ServingMemory, unit: str) -> Problem:
    """Some of the sequences fit beside the weights: the cache caps the batch."""
    batch, needed = deployment.batch, float(memory.total_bytes)
    rule = f"with {deployment.context_len:,} tokens each, they and the weights need {_over(deployment, needed, unit)}"
    ways = [f"at most {int(most_sequences(memory)):,} requests", *_cures(deployment)]
    return Problem("batch", batch, rule, f"Choose {_or(ways)}.")


def _too_large(deployment: Deployment, unit: str) -> Problem:
    """Not even one sequence fits."""
    one = replace(deployment, batch=1)
    memory = one.memory()
    weights, needed = float(memory.weight_bytes), float(memory.total_bytes)
    alone = weights > deployment.budget_bytes
    rule = (
        f"the weights alone need {_over(deployment, weights, unit)}"
        if alone
        else f"the weights and one request of {deployment.context_len:,} tokens need {_over(deployment, needed, unit)}"
    )
    ways = list(_cures(one))
    way_out = f"Choose {_or(ways)}." if ways else "Choose a GPU with more memory, or a smaller model."
    return Problem("serving_tensor_parallel", deployment.tensor_parallel, rule, way_out)


def _over(deployment: Deployment, needed: float, unit: str) -> str:
    """A need against the budget."""
    budget = deployment.budget_bytes
    return (
        f"{show_bytes(needed, unit)} on each GPU, {show_bytes(needed - budget, unit)} more than the"
        f" {show_bytes(budget, unit)} "
        f"that the engine may take of {deployment.accelerator.name}"
    )


def _cures(deployment: Deployment) -> Iterator[str]:
    """Single changes that make it fit, each tried; the least of each kind."""
    formats = deployment.formats
    for degree in tensor_parallel_choices(deployment.model):
        if degree > deployment.tensor_parallel and replace(deployment, tensor_parallel=degree).fits:
            yield f"tensor parallel {degree}"
            break
    for dtype in _NARROWER_WEIGHTS:
        narrower = bytes_per_element(dtype) < bytes_per_element(formats.get("weight_dtype", "bf16"))
        if narrower and replace(deployment, formats=formats | {"weight_dtype": dtype}).fits:
            yield f"{dtype} weights"
            break
    narrower = bytes_per_element(_NARROWER_CACHE) < bytes_per_element(formats.get("kv_dtype", "bf16"))
    if narrower and replace(deployment, formats=formats | {"kv_dtype": _NARROWER_CACHE}).fits:
        yield f"an {_NARROWER_CACHE} cache"
    shorter = np.array([length for length in _ROUND_LENGTHS if length < deployment.context_len], dtype=np.int64)
    if shorter.size and (fitting := shorter[deployment.memory(shorter).fits]).size:
        yield f"a context of {fitting[-1]:,}"


def _or(ways: list[str]) -> str:
    *most, last = ways
    return f"{', '.join(most)} or {last}" if most else last
