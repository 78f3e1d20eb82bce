"""Which layouts of a model over GPUs can run at all: each rule once, for numbers and columns, with its reason in words.

A rule answers with a mask, so the same rule refuses one typed value beside its field and prunes a million-row plan.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.model_spec import Attention, ModelSpec

MAX_DEGREE = 1024  # GPUs along one axis; refuses slips of the keyboard, and keeps lists of choices short

Columns = Mapping[str, ArrayLike]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Problem:
    """One refused value: what it is, which rule it breaks, and a way out."""

    field: str
    value: object
    rule: str
    way_out: str

    @property
    def sentence(self) -> str:
        """The refusal as one or two plain sentences."""
        return f"{label(self.field)} is {shown(self.value)}: {self.rule}. {self.way_out}"

    def seen_from(self, field: str, value: object) -> Problem:
        """The same refusal, beside the field whose change brought it about."""
        rule = f"with it, {label(self.field)} is {shown(self.value)}, but {self.rule}"
        way_out = f"For {label(self.field)}: {self.way_out[0].lower()}{self.way_out[1:]}"
        return Problem(field, value, rule, way_out)


@dataclass(frozen=True, slots=True)
class Constraint:
    """A rule over columns. ``rule`` and ``way_out`` put one row's values into words."""

    field: str
    holds: Callable[[ModelSpec, Columns], Mask]
    rule: Callable[[ModelSpec, Mapping[str, Any]], str]
    way_out: Callable[[ModelSpec, Mapping[str, Any]], str]


LABELS: dict[str, str] = {
    "data_parallel": "Data-parallel ranks",
    "tensor_parallel": "Tensor parallel",
    "pipeline_parallel": "Pipeline stages",
    "context_parallel": "Context parallel",
    "expert_parallel": "Expert parallel",
    "sequence_parallel": "Sequence parallel",
    "virtual_stages": "Virtual stages",
    "zero_stage": "ZeRO stage",
    "recipe": "Optimizer recipe",
    "offload": "CPU offload",
    "micro_batch_size": "Micro-batch size",
    "num_micro_batches": "Micro-batches a step",
    "seq_len": "Sequence length",
    "recompute": "Recompute",
    "fused_attention": "Fused attention",
    "serving_tensor_parallel": "Tensor parallel for serving",
    "weight_dtype": "Weight format",
    "kv_dtype": "KV cache format",
    "context_len": "Context length",
    "batch": "Concurrent requests",
    "memory_fraction": "Memory the engine may use",
    "mfu": "MFU, in percent,",
    "reported_hfu": "Reported HFU, in percent,",
    "tokens_per_s": "Tokens a second",
    "gpu": "Accelerator",
    "up": "Link inside a node",
    "out": "Link between nodes",
}


def label(field: str) -> str:
    """The words that a page writes beside a field."""
    return LABELS.get(field, field.replace("_", " ").capitalize())


def shown(value: object) -> str:
    """A value as a sentence shows it, cut short where it is long; of anything but a number or text, its kind."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int):  # Python refuses to write out thousands of digits
        return f"{value:,}" if abs(value) < 10**30 else "a number of more than 30 digits"
    if not isinstance(value, str | float):
        return "empty" if value is None else f"a {type(value).__name__}"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 40 else text[:37] + "..."


def length_note(model: ModelSpec, seq_len: int) -> str:
    """What a sequence beyond the model's positions means, in words; empty within them. No rule: training extends it."""
    most = model.max_position_embeddings
    if seq_len <= most:
        return ""
    return (
        f"{seq_len:,} tokens are {seq_len - most:,} more than the {most:,} that {model.name} was made for: arithmetic"
        " only. Shorten the sequence, or extend the model's positions first."
    )


def head_counts(model: ModelSpec) -> tuple[int, ...]:
    """The distinct numbers of heads among all mixers, keys and values of linear attention included. [heads]"""
    names = ("num_heads", "num_key_heads", "num_value_heads")
    counts = {getattr(mixer, name, None) for mixer in model.mixers for name in names}
    return tuple(sorted(count for count in counts if count is not None))


@lru_cache(maxsize=128)
def heads_to_split(model: ModelSpec) -> int:
    """Greatest common divisor of the head counts of all mixers: tensor parallel must divide it. [heads]"""
    return math.gcd(*head_counts(model)) or model.hidden_size


def kv_head_counts(model: ModelSpec) -> tuple[int, ...]:
    """The distinct numbers of KV heads among attention layers that keep a cache. [heads]"""
    return tuple(sorted({m.num_kv_heads for m in model.mixers if isinstance(m, Attention) and not m.shares_kv}))


def tensor_parallel_choices(model: ModelSpec) -> list[int]:
    """Every tensor-parallel degree that splits all heads of the model evenly. [GPUs]"""
    heads = heads_to_split(model)
    return [
        degree
        for degree in range(1, min(heads, MAX_DEGREE) + 1)
        if heads % degree == 0 and all(kv % degree == 0 or degree % kv == 0 for kv in kv_head_counts(model))
    ]


def expert_parallel_choices(model: ModelSpec, ranks: int) -> list[int]:
    """Degrees that divide both the experts and the ranks that may share them. [GPUs]"""
    limit = math.gcd(model.num_experts, ranks) if model.num_experts else 1
    return [degree for degree in range(1, limit + 1) if limit % degree == 0]


def _divides(whole: ArrayLike, part: ArrayLike) -> Mask:
    return np.asarray(np.mod(whole, part) == 0)


def _splits_kv_heads(model: ModelSpec, degree: ArrayLike) -> Mask:
    ok = np.ones(np.shape(degree), dtype=np.bool_)
    for kv in kv_head_counts(model):
        ok &= _divides(kv, degree) | _divides(degree, kv)
    return ok


def _expert_ranks(columns: Columns) -> NDArray[Any]:
    """GPUs that hold other tokens and so may hold other experts; each expert is also split over the tensor ranks."""
    ranks = np.asarray(1)
    for field in ("data_parallel", "context_parallel"):
        ranks = ranks * np.asarray(columns[field])
    return ranks


def _divisors(number: int) -> list[int]:
    return [degree for degree in range(1, min(number, MAX_DEGREE) + 1) if number % degree == 0]


def _tensor_rule(model: ModelSpec) -> str:
    split = f"the {_and(head_counts(model))} heads" if head_counts(model) else f"the width {model.hidden_size}"
    kv_heads = kv_head_counts(model)
    shared = f" and share its {_and(kv_heads)} KV heads evenly" if kv_heads else ""
    return f"it must divide {split} of {model.name}{shared}"


def _and(numbers: tuple[int, ...]) -> str:
    *most, last = map(str, numbers)
    return f"{', '.join(most)} and {last}" if most else last


def tensor_parallel_problem(model: ModelSpec, field: str, degree: int) -> Problem | None:
    """Why a model's heads cannot be split so many ways, if they cannot; training and serving ask alike."""
    choices = tensor_parallel_choices(model)
    return None if degree in choices else Problem(field, degree, _tensor_rule(model), _choose(choices))


def _chunk(values: Mapping[str, Any]) -> str:
    virtual = int(values["virtual_stages"])
    return "stage" if virtual == 1 else f"of a stage's {virtual} virtual stages"


def _stage_way_out(model: ModelSpec, virtual_stages: int) -> str:
    most = model.num_layers // virtual_stages
    if virtual_stages > 1 and most < 2:  # one stage alone would break the rule for virtual stages
        return f"Choose one virtual stage, and at most {model.num_layers} stages."
    return f"Choose at most {most}."


def _choose(choices: list[int]) -> str:
    few = choices if len(choices) <= 12 else [*choices[:11], choices[-1]]
    return "Choose " + (f"{few[0]}." if len(few) == 1 else f"one of {', '.join(map(str, few))}.")


CONSTRAINTS: tuple[Constraint, ...] = (
    Constraint(
        "tensor_parallel",
        lambda m, c: _divides(heads_to_split(m), c["tensor_parallel"]) & _splits_kv_heads(m, c["tensor_parallel"]),
        lambda m, c: _tensor_rule(m),
        lambda m, c: _choose(tensor_parallel_choices(m)),
    ),
    Constraint(
        "pipeline_parallel",
        lambda m, c: np.asarray(c["pipeline_parallel"]) * c["virtual_stages"] <= m.num_layers,
        lambda m, c: f"each {_chunk(c)} needs a layer of its own, and {m.name} has {m.num_layers}",
        lambda m, c: _stage_way_out(m, int(c["virtual_stages"])),
    ),
    Constraint(
        "virtual_stages",
        lambda m, c: (np.asarray(c["virtual_stages"]) == 1) | (np.asarray(c["pipeline_parallel"]) > 1),
        lambda m, c: "interleaving needs a pipeline of two stages or more",
        lambda m, c: "Choose 1, or raise the pipeline stages.",
    ),
    Constraint(
        "context_parallel",
        lambda m, c: _divides(c["seq_len"], c["context_parallel"]),
        lambda m, c: f"it must divide the sequence length {int(c['seq_len']):,}",
        lambda m, c: _choose(_divisors(int(c["seq_len"]))),
    ),
    Constraint(
        "sequence_parallel",
        lambda m, c: ~np.asarray(c["sequence_parallel"], dtype=np.bool_) | (np.asarray(c["tensor_parallel"]) > 1),
        lambda m, c: "it splits along the tensor-parallel ranks, and there is only one",
        lambda m, c: "Turn it off, or raise tensor parallel.",
    ),
    Constraint(
        "expert_parallel",
        lambda m, c: (
            (np.asarray(c["expert_parallel"]) == 1)
            if not m.num_experts
            else _divides(m.num_experts, c["expert_parallel"]) & _divides(_expert_ranks(c), c["expert_parallel"])
        ),
        lambda m, c: (
            f"it must divide the {m.num_experts} experts of {m.name} and the {int(_expert_ranks(c)):,} ranks"
            " (data x context) that share them"
            if m.num_experts
            else f"{m.name} has no experts to spread"
        ),
        lambda m, c: _choose(expert_parallel_choices(m, int(_expert_ranks(c)))),
    ),
    Constraint(
        "offload",
        lambda m, c: (np.asarray(c["offload"]) != "optimizer") | (np.asarray(c["zero_stage"]) >= 1),
        lambda m, c: "moving states to the host builds on a sharded optimizer",
        lambda m, c: "Choose ZeRO stage 1 or higher, or no offload.",
    ),
    Constraint(
        "offload",
        lambda m, c: (np.asarray(c["offload"]) != "optimizer+parameters") | (np.asarray(c["zero_stage"]) == 3),
        lambda m, c: "parameters can leave the GPU only where they are sharded",
        lambda m, c: "Choose ZeRO stage 3, or no offload.",
    ),
)


def broken(model: ModelSpec, columns: Columns) -> list[tuple[Constraint, Mask]]:
    """Each constraint with the mask of rows that break it; masks have the broadcast shape of the columns it reads."""
    return [(constraint, ~np.asarray(constraint.holds(model, columns))) for constraint in CONSTRAINTS]


def feasible(model: ModelSpec, columns: Columns) -> Mask:
    """Rows that break no constraint. Columns of shape (N,), or scalars, give (N,)."""
    mask: Mask = np.asarray(True)
    for _, bad in broken(model, columns):
        mask = mask & ~bad
    return mask


def problems(model: ModelSpec, values: Mapping[str, Any]) -> list[Problem]:
    """The constraints that one layout breaks, as sentences. ``values`` holds scalars."""
    return [
        Problem(c.field, values[c.field], c.rule(model, values), c.way_out(model, values))
        for c, bad in broken(model, values)
        if bool(bad)
    ]
