"""What lifts the cap on the batch: single changes, each tried; number formats; what is reserved and never used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from core.batch import BLOCK_TOKENS, memory_of, most_requests
from core.checks import Floats
from core.constraints import tensor_parallel_problem
from core.dtypes import DTYPES, bytes_per_element
from core.kv_cache import kv_bytes
from core.model_spec import Attention, ModelSpec
from core.precision import effective_bits, weight_bytes
from core.scenario import ServingScenario

WEIGHT_FORMATS = ("bf16", "fp8", "mxfp6", "int4-g128", "nvfp4", "mxfp4", "nf4")
BLOCK_SIZES = (16, 64, 256)


@dataclass(frozen=True, slots=True)
class Lever:
    """One change alone, and what it does to the cap."""

    name: str
    max_batch: int
    gpus: int
    sequence_bytes: float  # one request on one GPU: cache, states, logits [bytes]


def half_kv_heads(model: ModelSpec) -> ModelSpec | None:
    """The same model with half the KV heads in every layer that has an even number; None where none has."""

    def halved(mixer: Attention) -> Attention:
        return mixer.model_copy(update={"num_kv_heads": mixer.num_kv_heads // 2})

    layers = tuple(
        layer.model_copy(update={"mixer": halved(layer.mixer)})
        if isinstance(layer.mixer, Attention) and layer.mixer.num_kv_heads % 2 == 0
        else layer
        for layer in model.layers
    )
    if layers == model.layers:
        return None
    # Built anew: a copy would keep the counts of the layers that it no longer has.
    fields = {name: getattr(model, name) for name in ModelSpec.model_fields}
    return ModelSpec(**fields | {"layers": layers})


def levers(scenario: ServingScenario) -> tuple[Lever, ...]:
    """The cap as it stands, and after each change on its own; kept, since no batch changes it."""
    return _levers(scenario.model_copy(update={"batch": 1}))


@lru_cache(maxsize=128)
def _levers(scenario: ServingScenario) -> tuple[Lever, ...]:
    return (_lever("as it stands", scenario), *_changes(scenario), *_reservations(scenario))


def _lever(name: str, scenario: ServingScenario) -> Lever:
    memory = memory_of(scenario)
    return Lever(name, most_requests(scenario), scenario.serving_tensor_parallel, float(memory.sequence_bytes))


def _changes(scenario: ServingScenario) -> Iterator[Lever]:
    now = memory_of(scenario)
    for field, dtype, name in (
        ("kv_dtype", "fp8", "cache in 8 bits"),
        ("weight_dtype", "fp8", "weights in 8 bits"),
        ("weight_dtype", "int4-g128", "weights in 4 bits, with scales"),
    ):
        if bytes_per_element(dtype) < bytes_per_element(getattr(scenario, field)):
            yield _lever(name, scenario.model_copy(update={field: dtype}))
    fewer = half_kv_heads(scenario.model)
    if fewer is not None:
        lever = _lever("half the KV heads, another model", scenario.model_copy(update={"model": fewer}))
        yield _copied(lever, float(now.sequence_bytes))
    if scenario.context_len > 1:
        yield _lever("half the context", scenario.model_copy(update={"context_len": scenario.context_len // 2}))
    double = 2 * scenario.serving_tensor_parallel
    if tensor_parallel_problem(scenario.model, "serving_tensor_parallel", double) is None:
        lever = _lever("twice the GPUs", scenario.model_copy(update={"serving_tensor_parallel": double}))
        yield _copied(lever, float(now.sequence_bytes))


def _copied(lever: Lever, before: float) -> Lever:
    """The same, named for what it meets: a GPU holds one KV head at least, and latents whole."""
    less = lever.sequence_bytes < 0.99 * before
    return lever if less else replace(lever, name=f"{lever.name} (each GPU holds as much of a request's cache)")


def _reservations(scenario: ServingScenario) -> Iterator[Lever]:
    """What pages take beyond the tokens themselves, where it is more."""
    memory = memory_of(scenario)
    free = float(memory.budget_bytes - memory.weight_bytes - memory.working_bytes)
    exact = float(memory.kv_bytes)
    for reservation, name in (
        ("ideal", f"whole blocks of {BLOCK_TOKENS} tokens"),
        ("uniform", "blocks for every token in every layer"),
    ):
        paged = float(
            kv_bytes(
                scenario.model,
                scenario.context_len,
                reservation=reservation,  # type: ignore[arg-type]
                page_tokens=BLOCK_TOKENS,
                kv_dtype=scenario.kv_dtype,
                indexer="included",
                tensor_parallel=scenario.serving_tensor_parallel,
            )
        )
        if paged > exact:
            exact, each = paged, float(memory.sequence_bytes) - float(memory.kv_bytes) + paged
            yield Lever(name, int(max(free, 0.0) // each), scenario.serving_tensor_parallel, each)


@dataclass(frozen=True, slots=True)
class Format:
    """One number format, for weights and for the cache."""

    name: str
    bits: float  # an element, with its share of the scale
    weight_bytes: float  # the whole model; embedding, head, norms and router stay in 16 bits
    kv_bytes: float  # one request on one GPU
    with_weights: int  # requests that fit with these weights
    with_cache: int  # and with this cache


def formats(scenario: ServingScenario) -> tuple[Format, ...]:
    """Formats side by side, on the scenario's GPUs; kept, since no batch changes them."""
    return _formats(scenario.model_copy(update={"batch": 1}))


@lru_cache(maxsize=128)
def _formats(scenario: ServingScenario) -> tuple[Format, ...]:
    return tuple(_format(scenario, name) for name in WEIGHT_FORMATS)


def _format(scenario: ServingScenario, name: str) -> Format:
    dtype = DTYPES[name]
    bits = effective_bits(dtype.element_bits, scale_bits=dtype.scale_bits, block_size=dtype.block_size)
    cache = scenario.model_copy(update={"kv_dtype": name})
    return Format(
        name=name,
        bits=float(bits),
        weight_bytes=weight_bytes(scenario.model, name),
        kv_bytes=float(memory_of(cache).kv_bytes),
        with_weights=most_requests(scenario.model_copy(update={"weight_dtype": name})),
        with_cache=most_requests(cache),
    )


@dataclass(frozen=True, slots=True)
class Reserved:
    """One way to set memory aside for a request of the scenario's length."""

    name: str
    tokens: float  # room that is set aside, on average over lengths near it [tokens]
    wasted: float  # share of that room without a token [-]


def reservations(scenario: ServingScenario) -> list[Reserved]:
    """Blocks of growing size, and the whole length that the model can take, as engines reserved before paging.

    A last block is half empty on average: (block - 1) / 2 tokens.
    """
    held, most = float(scenario.context_len), float(max(scenario.model.max_position_embeddings, scenario.context_len))
    rooms = [(f"blocks of {block} tokens", held + (block - 1) / 2) for block in BLOCK_SIZES]
    rooms.append((f"all {most:,.0f} tokens at once", most))
    return [Reserved(name, room, float(wasted_share(held, room))) for name, room in rooms]


def wasted_share(used: ArrayLike, reserved: ArrayLike) -> Floats:
    """Share of a reservation that never holds a token. [-]"""
    return np.asarray(1 - np.asarray(used, dtype=np.float64) / np.asarray(reserved, dtype=np.float64))
