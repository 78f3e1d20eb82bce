"""Predict against measure: steps of one decoder layer from the kernels of the same run, which never saw them.

Decode and prefill are predicted by :mod:`core.measured_estimate`, which every page uses. A training step without its
optimizer is the sum of its kernels: products forward and both gradients, attention and kernels between with their
backward pass, and two more sums where gradients of the residual stream meet.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass
from datetime import date
from functools import lru_cache
from itertools import product
from typing import Literal

import numpy as np

from core.checks import Floats
from core.hardware import PEAK_DTYPES, Accelerator
from core.log_grid import Reading
from core.measured_estimate import measured_decode, measured_prefill
from core.measured_profile import Profile, Role, product_flops_per_s
from core.model_spec import ModelSpec, from_hf_config
from core.own_entry import Entry, median_s
from core.own_views import layer_matrices
from core.prediction_error import errors_of

Phase = Literal["decode", "prefill", "training"]
PHASES: tuple[Phase, ...] = ("decode", "prefill", "training")
MODES = ("graph", "eager")
ROLES: tuple[Role, ...] = ("forward", "input_gradient", "weight_gradient")
_EXTRA_ADDS = 2  # in the backward pass, where a residual's gradient meets that of its branch


@dataclass(frozen=True, slots=True)
class Judged:
    """One measured step beside its prediction."""

    phase: Phase
    model: str
    batch: int
    seq_len: int  # decode: of the cache, the new token included
    mode: str
    measured_s: float
    predicted_s: float
    inside: bool  # whether all of it was read between measured cells
    notes: tuple[str, ...]

    @property
    def error(self) -> float:
        """Prediction over measurement, less one. [-]"""
        return self.predicted_s / self.measured_s - 1


@dataclass(frozen=True, slots=True)
class Score:
    """How well one phase is predicted, launched in one way."""

    phase: Phase
    mode: str  # eager: kernel by kernel; graph
    count: int
    median: float  # of the error's size [-]
    p90: float
    worst: float
    bias: float  # median of the error itself: below zero where predictions are too short


def judge(result: Entry, profile: Profile) -> tuple[Judged, ...]:
    """Every step of a result that the profile can predict.

    Args:
        result: a validated document ``microbench/1`` as plain values.
        profile: of the same run, from :func:`core.own_profile.profile_of`; or of another system, to see how far off
            that is.
    """
    shapes = {shape["model"]: shape for shape in result["run"]["models"]}
    chip = profile.accelerator or stand_in(profile, int(result["system"]["memory_bytes"]))
    if chip is None:
        return ()
    steps = [one for one in result["measurements"] if one["kind"] == "step" and one["model"] in shapes]
    judged = (_judged(one, shapes[one["model"]], profile, chip) for one in steps)
    return tuple(sorted(filter(None, judged), key=lambda one: (PHASES.index(one.phase), one.model, one.mode)))


def scores(judged: Iterable[Judged]) -> tuple[Score, ...]:
    """One row for each phase and mode that has steps."""
    found = []
    every = tuple(judged)
    for phase, mode in product(PHASES, MODES):
        errors = errors_of([one.error for one in every if (one.phase, one.mode) == (phase, mode)])
        if errors:
            found.append(Score(phase, mode, *astuple(errors)))
    return tuple(found)


def stand_in(profile: Profile, memory_bytes: int) -> Accelerator | None:
    """A row for a device that the catalog does not have: what it reached is its peak. None without a copy's rate.

    Its floors are no datasheet's; it serves to predict steps, and no page offers it as an accelerator.
    """
    if profile.memory_bytes_per_s is None:
        return None
    best = {
        f"{dtype}_flops_per_s": _best_flops_per_s(profile, dtype) for dtype in profile.dtypes if dtype in PEAK_DTYPES
    }
    return Accelerator.model_validate(
        {
            "id": "measured",
            "name": profile.file.device.strip()[:120],
            "source": profile.file.source,
            "checked": profile.file.dated if isinstance(profile.file.dated, date) else date.today(),
            "vendor": "unknown",
            "architecture": "unknown",
            "hbm_bytes": max(memory_bytes, 1),
            "hbm_bytes_basis": "driver",
            "hbm_bytes_per_s": profile.memory_bytes_per_s,
            **best,
        }
    )


def _best_flops_per_s(profile: Profile, dtype: str) -> float:
    table = profile.products[dtype, "forward"].table
    n, k, m = np.meshgrid(table.n, table.k, table.m, indexing="ij")
    seconds = np.array(table.seconds, dtype=np.float64)
    there = ~np.isnan(seconds)
    return float(product_flops_per_s(m[there], n[there], k[there], seconds[there]).max())


def _judged(one: Entry, shape: Entry, profile: Profile, chip: Accelerator) -> Judged | None:
    phase, batch, length, dtype = one["phase"], one["batch"], one["seq_len"], one["dtype"]
    if phase == "training":
        found = _training_s(profile, shape, batch, length, dtype)
    else:
        predict = measured_decode if phase == "decode" else measured_prefill
        step = predict(
            profile,
            model_of(shape),
            length,
            batch=batch,
            accelerator=chip,
            eager=one["mode"] == "eager",
            weight_dtype=dtype,
            kv_dtype=dtype,
        )
        layers = step.layers
        found = (float(layers.step_s), bool(layers.share("measured") > 1 - 1e-9), layers.notes)
    if found is None or not np.isfinite(found[0]) or found[0] <= 0:
        return None
    seconds, inside, notes = found
    return Judged(phase, one["model"], batch, length, one["mode"], median_s(one), seconds, inside, notes)


def _training_s(
    profile: Profile, shape: Entry, batch: int, length: int, dtype: str
) -> tuple[float, bool, tuple[str, ...]] | None:
    """Forward and backward of one layer as the sum of its kernels; None where a kind of kernel was not measured."""
    rows = batch * length
    element = 4 if dtype == "fp32" else 2
    readings: list[Reading | None] = [
        profile.matmul_s(rows, n, k, dtype, role=role) for n, k in layer_matrices(shape).values() for role in ROLES
    ]
    heads = {"heads": shape["num_heads"], "kv_heads": shape["num_kv_heads"], "head_dim": shape["head_dim"]}
    readings.append(profile.attention_s("training", batch, length, **heads, kv_dtype=dtype))
    for op, direction, count, width in _between(shape):
        grid = profile.vectors.get((op, direction))
        passes = 1 if direction == "forward" else 2  # gradients are as wide
        readings.append(None if grid is None else grid.read(float(passes * element * rows * width)).times(count))
    if any(reading is None for reading in readings):
        return None
    there = [reading for reading in readings if reading is not None]
    total: Floats = np.sum([reading.seconds for reading in there], axis=0)
    notes = tuple(dict.fromkeys(note for reading in there for note in reading.notes))
    return float(total), all(reading.inside for reading in there), notes


def _between(shape: Entry) -> tuple[tuple[str, str, int, int], ...]:
    """Kernels between: which, in which direction, how often in a step, and elements of a token that it moves once."""
    hidden, inner, width = shape["hidden_size"], shape["intermediate_size"], shape["head_dim"]
    queries, kv = shape["num_heads"] * width, shape["num_kv_heads"] * width
    return (
        ("norm", "training", 2, 2 * hidden),
        ("heads", "training", 1, 2 * queries + 3 * kv),  # reads queries, keys and values; writes queries and keys
        ("swiglu", "training", 1, 3 * inner),
        ("add", "training", 2, 3 * hidden),
        ("add", "forward", _EXTRA_ADDS, 3 * hidden),
    )


def model_of(shape: Entry) -> ModelSpec:
    """A measured layer's sizes, as a result's ``run.models`` holds them, as a model of one such layer."""
    names = ("model", "hidden_size", "num_heads", "num_kv_heads", "head_dim", "intermediate_size", "qk_norm")
    return layer_model(*(shape[name] for name in names))


@lru_cache(maxsize=32)
def layer_model(
    model: str, hidden: int, heads: int, kv_heads: int, head_dim: int, inner: int, qk_norm: bool
) -> ModelSpec:
    """A model of one such layer; its embedding and head are left out of what is judged."""
    return from_hf_config(
        {
            "model_type": "qwen3" if qk_norm else "llama",
            "architectures": ["Qwen3ForCausalLM" if qk_norm else "LlamaForCausalLM"],
            "_name_or_path": model,
            "hidden_size": hidden,
            "intermediate_size": inner,
            "num_hidden_layers": 1,
            "num_attention_heads": heads,
            "num_key_value_heads": kv_heads,
            "head_dim": head_dim,
            "vocab_size": 1024,
            "max_position_embeddings": 131_072,
            "tie_word_embeddings": False,
            "hidden_act": "silu",
        }
    )
