"""The derivations of ridge point, crossing batch, and the least time of an operator."""

from __future__ import annotations

from numpy.typing import ArrayLike

from core.hardware import Accelerator
from core.roofline import crossover_batch, ridge_point
from core.work import Operator
from core.working import Term, Working, number, product, scalar

_ROOFLINE = "Williams, Waterman and Patterson 2009, doi:10.1145/1498765.1498785"


def ridge_working(accelerator: Accelerator, dtype: str) -> Working:
    """The derivation of :func:`core.roofline.ridge_point`."""
    value = ridge_point(accelerator, dtype)
    expression = f"{number(accelerator.peak_flops_per_s(dtype))} / {number(accelerator.hbm_bytes_per_s)}"
    return Working(
        name=f"Ridge point, {accelerator.name}, {dtype}",
        formula="dense peak / memory bandwidth",
        terms=(Term("ridge", expression, value, "FLOP/byte"),),
        value=value,
        unit="FLOP/byte",
        assumptions=("dense peak and pin rate: measured kernels reach less of both",),
        source=f"{_ROOFLINE}; numbers: {accelerator.source}",
    )


def crossover_working(accelerator: Accelerator, dtype: str, *, weight_bytes: ArrayLike = 2.0) -> Working:
    """The derivation of :func:`core.roofline.crossover_batch`."""
    size = scalar("weight_bytes", weight_bytes)
    value = float(crossover_batch(accelerator, dtype, weight_bytes=size))
    return Working(
        name=f"Batch at which decode products turn compute-bound, {accelerator.name}, {dtype}",
        formula="ridge × bytes of a weight / 2 FLOP",
        terms=(Term("batch", f"{product(ridge_point(accelerator, dtype), size)} / 2", value, "sequences"),),
        value=value,
        unit="sequences",
        assumptions=("each weight makes 2 FLOP for each sequence", "activations are left out; KV reads never cross"),
        source=_ROOFLINE,
    )


def operator_working(operator: Operator, accelerator: Accelerator, dtype: str) -> Working:
    """The derivation of :meth:`core.work.Operator.time_floor_s`: the longer of two times, the other said beside it."""
    value = scalar("time_floor_s", operator.time_floor_s(accelerator, dtype))
    flops, moved = scalar("flops", operator.flops), scalar("bytes", operator.bytes)
    peak = accelerator.peak_flops_per_s(dtype)
    if operator.on_vector_units:
        peak = accelerator.fp32_flops_per_s or peak
    times = (
        ("computing", f"{number(flops)} / {number(peak)}", flops / peak),
        ("moving", f"{number(moved)} / {number(accelerator.hbm_bytes_per_s)}", moved / accelerator.hbm_bytes_per_s),
    )
    (shorter, other, beside), (longer, expression, _) = sorted(times, key=lambda time: time[2])
    return Working(
        name=f"Least time, {operator.label}",
        formula="the longer of FLOPs / peak and bytes / bandwidth",
        terms=(Term(longer, expression, value, "s"),),
        value=value,
        unit="s",
        assumptions=(f"{shorter} takes {number(beside)} s, {other}, and hides behind {longer}",),
        source=f"{_ROOFLINE}; numbers: {accelerator.source}",
    )
