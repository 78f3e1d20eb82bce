"""Derivations of the headline numbers of step 1: intensity, ridge, floor, distance of each limit, utilization."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from core.activations import Recompute
from core.bottleneck_counts import COUNT_WORDS, Utilization
from core.bottleneck_verdict import Verdict
from core.flops_working import utilization_working
from core.hardware import Accelerator
from core.roofline_working import crossover_working, ridge_working
from core.scenario import TrainingScenario
from core.under_roof import Placed, Spot
from core.working import Term, Working, number, product

_PALM = "Chowdhery et al. 2022, arXiv:2204.02311, section 4.1"
_ROOFLINE = "Williams, Waterman and Patterson 2009, doi:10.1145/1498765.1498785"


def roofline_workings(placed: Placed, index: int, accelerator: Accelerator, weight_bytes: float) -> Iterator[Working]:
    """Intensity of the largest product, its ridge, the batch at which decode crosses it, the floor of the pass."""
    largest = placed.largest
    yield intensity_working(placed.spot(index, largest))
    roof = placed.roofs[largest]
    if roof.flops_per_s is not None:
        yield ridge_working(accelerator, roof.name)
        if placed.phase == "decode":
            yield crossover_working(accelerator, roof.name, weight_bytes=weight_bytes)
    yield floor_working(placed, index)


def intensity_working(spot: Spot) -> Working:
    """FLOPs over bytes of one operator."""
    rest = spot.num_bytes - spot.weight_bytes
    return Working(
        name=f"Arithmetic intensity, {spot.label}",
        formula="FLOPs / (bytes of weights + bytes of inputs and outputs)",
        terms=(
            Term(
                "intensity",
                f"{number(spot.flops)} / ({number(spot.weight_bytes)} + {number(rest)})",
                spot.intensity,
                "FLOP/byte",
            ),
        ),
        value=spot.intensity,
        unit="FLOP/byte",
        assumptions=("one GPU, all layers", "every operand is moved once: rereads make the real intensity lower"),
        source=_ROOFLINE,
    )


def floor_working(placed: Placed, index: int) -> Working:
    """The floor of a pass: for each operator the longer of its two times."""
    bandwidth = placed.roofs[0].bytes_per_s
    terms = []
    for operator in np.argsort(-placed.seconds[index], kind="stable").tolist():
        spot, peak = placed.spot(index, operator), placed.roofs[operator].flops_per_s
        computes = peak is not None and spot.flops / peak > spot.num_bytes / bandwidth
        top, below, what = (spot.flops, peak or 1.0, "FLOPs") if computes else (spot.num_bytes, bandwidth, "bytes")
        terms.append(Term(f"{spot.label}: {what}", f"{number(top)} / {number(below)}", spot.seconds, "s"))
    return Working(
        name=f"Floor of one {'step' if placed.phase == 'decode' else 'pass'}, {placed.phase}",
        formula="sum over operators of the longer of FLOPs / peak and bytes / bandwidth",
        terms=tuple(terms),
        value=float(placed.floor_s[index]),
        unit="s",
        assumptions=(
            "datasheet rates, one operator after another, no messages, no launches",
            "one GPU; layers of all pipeline stages together",
        ),
        source=_ROOFLINE,
    )


def verdict_workings(verdicts: Sequence[Verdict]) -> Iterator[Working]:
    """How far each known limit is from binding."""
    for verdict in verdicts:
        for pressure in verdict.pressures:
            if not np.isfinite(pressure.share):
                continue
            memory = pressure.limit == "capacity"
            yield Working(
                name=f"{verdict.of.capitalize()}: {pressure.limit}",
                formula="bytes needed / bytes there are" if memory else "time of this limit / longest of the times",
                terms=(
                    Term("share", f"{number(pressure.value)} / {number(pressure.whole)}", pressure.share, "of binding"),
                ),
                value=pressure.share,
                unit="of binding",
                assumptions=(
                    ("the fullest GPU, at its peak",)
                    if memory
                    else ("an estimate: efficiencies of step time and serving apply", "communication: what is exposed")
                ),
                source="memory: step 2; time: the report of this scenario",
            )


def utilization_workings(used: Utilization, index: int, run: TrainingScenario, dtype: str | None) -> Iterator[Working]:
    """MFU and HFU by the chosen count, and the most that recomputation alone explains."""
    count, sweep = used.known.count, used.sweep
    if used.rate is not None and dtype is not None:
        rate, peak = float(used.rate[index]), run.accelerator.peak_flops_per_s(dtype)
        ways: tuple[Recompute, ...] = ("none",) if run.recompute == "none" else ("none", run.recompute)
        for recompute in ways:
            if count == "6N":
                yield _matrices_only(used, index, rate, run.num_gpus, peak, recompute)
            else:
                yield utilization_working(
                    rate,
                    run.model,
                    sweep.seq_len[index],
                    num_gpus=run.num_gpus,
                    peak_flops_per_s=peak,
                    causal=count == "causal",
                    recompute=recompute,
                )
    more, less = (float(sweep.per_token(count, recompute)[index]) for recompute in ("full", "none"))
    yield Working(
        name=f"Most that recomputation explains, {COUNT_WORDS[count]}",
        formula="FLOPs a token with every layer made again / without",
        terms=(Term("ceiling", f"{number(more)} / {number(less)}", more / less, "HFU over MFU"),),
        value=more / less,
        unit="HFU over MFU",
        assumptions=("one more forward pass of three; the output head is never made again",),
        source=f"Narayanan et al. 2021, arXiv:2104.04473, equation 3; {_PALM}",
    )


def _matrices_only(
    used: Utilization, index: int, rate: float, num_gpus: int, peak: float, recompute: Recompute
) -> Working:
    """Utilization by the 6N count: products with weights alone."""
    per_token, value = float(used.sweep.per_token("6N", recompute)[index]), float(used.share("6N", recompute)[index])
    return Working(
        name=f"{'MFU' if recompute == 'none' else 'HFU'}, 6N",
        formula="tokens a second × FLOPs a token / (GPUs × dense peak)",
        terms=(Term("share", f"{product(rate, per_token)} / ({product(num_gpus, peak)})", value, "of the peak"),),
        value=value,
        unit="of the peak",
        assumptions=("6 FLOP for each weight of a matrix that a token meets", "attention is not counted"),
        source=_PALM,
    )
