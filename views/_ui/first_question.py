"""Home's one question, about a fixed model: what is asked, the answer, and the slips that lead to other answers."""

from __future__ import annotations

from core.display import BYTE_UNITS
from core.dtypes import bytes_per_element
from core.kv_cache import kv_bytes, kv_bytes_per_token
from core.model_spec import ModelSpec, load_models
from core.params import count_params
from core.prediction import Slip
from core.working import product

MODEL_ID = "meta-llama/Llama-3.1-70B"
REQUESTS, CONTEXT = 32, 4096


def model() -> ModelSpec:
    """The model that the question describes."""
    return load_models()[MODEL_ID]


def prompt(unit: str) -> str:
    """The question; its numbers are the model's own."""
    spec = model()
    attention = spec.mixers[0]
    shape = f"{spec.num_layers} layers, {attention.num_kv_heads} KV heads of {attention.head_dim}, 16-bit cache"
    return f"A 70B model ({shape}) serves {REQUESTS} requests of {CONTEXT:,} tokens. **How many {unit} of KV cache?**"


def truth(unit: str) -> float:
    """The answer, in the chosen unit."""
    return float(kv_bytes(model(), CONTEXT, batch=REQUESTS)) / BYTE_UNITS[unit]


def show(value: float, unit: str) -> str:
    """An amount in the chosen unit, to the four digits in which GB and GiB and near misses differ."""
    return f"{value:,.4g} {unit}"


def weight_bytes() -> float:
    """What the weights take beside the cache."""
    return count_params(model()).total * bytes_per_element("bf16")


def slips(unit: str) -> tuple[Slip, ...]:
    """The usual wrong ways, each with the number that it ends at."""
    attention = model().mixers[0]
    right, weights = truth(unit), weight_bytes() / BYTE_UNITS[unit]
    other = "GiB" if unit == "GB" else "GB"
    all_heads = attention.num_heads / attention.num_kv_heads
    return (
        Slip(right / 2, "Half of it: that is the keys alone. A token leaves a key and a value in every layer."),
        Slip(
            right * all_heads,
            f"{all_heads:.0f} times as much: that caches all {attention.num_heads} query heads. "
            f"They share {attention.num_kv_heads} KV heads, and only those are kept.",
        ),
        Slip(right / REQUESTS, f"That is one request. All {REQUESTS} lie in memory at the same time."),
        Slip(right * 2, "Twice as much: that is four bytes an element. A 16-bit cache takes two."),
        Slip(weights, "That is the 16-bit weights. The cache lies beside them and grows with every token."),
        Slip(right + weights, "That is weights and cache together. The cache alone is what grows."),
        Slip(truth(other), f"That is the answer in {other}: the same bytes, counted in another unit."),
    )


def explain() -> str:
    """The factors of the answer with the model's numbers put in."""
    spec = model()
    attention = spec.mixers[0]
    a_token = float(kv_bytes_per_token(spec, CONTEXT))
    factors = product(2, spec.num_layers, attention.num_kv_heads, attention.head_dim, 2)
    total = float(kv_bytes(spec, CONTEXT, batch=REQUESTS))
    both = " or ".join(show(total / BYTE_UNITS[unit], unit) for unit in ("GB", "GiB"))
    return (
        f"Keys and values, layers, KV heads, head size, bytes: {factors} = **{a_token:,.0f} bytes a token**. "
        f"Times {REQUESTS} requests of {CONTEXT:,} tokens: {total:,.0f} bytes, {both}."
    )
