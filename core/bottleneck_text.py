"""The words of step 1: numbers that its text quotes, rows of its tables, verdicts as sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.batch_text import standing_problems
from core.bottleneck_counts import COUNT_WORDS, COUNTS, Utilization
from core.bottleneck_questions import CeilingQuestion, IntensityQuestion
from core.bottleneck_verdict import Pressure, Verdict
from core.capacity import memory_problem
from core.display import digits, show_bytes, show_count, show_percent, show_rate, show_seconds
from core.scenario import Scenario
from core.under_roof import Placed, Roof, Spot, half_roof

BOUND_WORDS = {
    "bandwidth": "bandwidth-bound",
    "compute": "compute-bound",
    "at the ridge": "at the ridge",
    "unknown": "no peak to compare with",
}
LIMIT_WORDS = {
    "capacity": "memory capacity",
    "compute": "compute",
    "communication": "communication",
    "bandwidth": "memory bandwidth",
    "unknown": "unknown",
}


def limit_numbers(scenario: Scenario) -> dict[str, str]:
    """What the section "Limit" and the first question quote: the hardware, but no result."""
    roof = half_roof(scenario.accelerator)
    return {
        "model": scenario.model.name,
        "gpu": scenario.accelerator.name,
        "rates": _rates(roof),
        "batch": f"{scenario.serving.batch:,}",
        "requests": "request" if scenario.serving.batch == 1 else "requests",
        "dtype": scenario.serving.weight_dtype,
        "gpus": f"{scenario.serving.serving_tensor_parallel:,}",
        "gpu_word": "GPU" if scenario.serving.serving_tensor_parallel == 1 else "GPUs",
    }


def _rates(roof: Roof) -> str:
    reads = f"reads {show_rate(roof.bytes_per_s, 'B')}"
    if roof.flops_per_s is None:
        return f"{reads}, and no peak of its multipliers is confirmed"
    return f"{reads} and multiplies at {show_rate(roof.flops_per_s, 'FLOP')} dense"


def intensity_numbers(question: IntensityQuestion) -> dict[str, str]:
    """What the first answer quotes."""
    return {
        "largest": question.label,
        "intensity": digits(question.intensity),
        "weight_bytes": f"{question.weight_bytes:.3g}",
        "against_ridge": against_ridge(question.intensity, question.ridge),
    }


def against_ridge(intensity: float, ridge: float) -> str:
    """Where an intensity lies, as the end of a sentence."""
    if not np.isfinite(ridge):
        return "no peak of this accelerator is confirmed, so there is no ridge to compare with"
    ratio = intensity / ridge
    words = f"the ridge lies at {digits(ridge)}"
    if 0.9 <= ratio <= 1.1:
        return f"{words}: it is at the ridge, where both limits meet"
    if ratio > 1:
        return f"{words}: it is {digits(ratio)} times above, compute-bound"
    return f"{words}: it is {digits(1 / ratio)} times below, bandwidth-bound"


def ceiling_numbers(question: CeilingQuestion, scenario: Scenario) -> dict[str, str]:
    """What the second question and answer quote."""
    return {
        "mfu": f"{question.mfu:.0f}",
        "ceiling": digits(question.percent),
        "exact": digits(question.exact_percent),
        "model": scenario.model.name,
        "seq_len": f"{scenario.training.seq_len:,}",
    }


def verdict_sentence(verdict: Verdict) -> str:
    """What binds, and what binds next."""
    name = "Training" if verdict.of == "training" else "Serving"
    if verdict.limit == "unknown":
        return f"{name}: it fits, but without a confirmed peak no time can be estimated."
    if verdict.limit == "capacity":
        over = verdict.pressures[0]
        return f"{name}: memory capacity binds. It needs {digits(over.share)} times what there is, so it does not run."
    sentence = f"{name}: {LIMIT_WORDS[verdict.limit]} binds"
    if verdict.next.limit == "capacity":
        return f"{sentence}; memory is {show_percent(verdict.next.share)} full."
    if verdict.next.share > 0:
        return f"{sentence}; next is {LIMIT_WORDS[verdict.next.limit]}, {digits(verdict.next.room)} times less."
    return f"{sentence}."


def pressure_words(pressure: Pressure, verdict: Verdict, unit: str) -> tuple[str, str]:
    """A limit's own number, and how far it is from binding."""
    if not np.isfinite(pressure.share):
        return "not known", ""
    if pressure.limit == "capacity":
        amount = f"{show_bytes(pressure.value, unit)} of {show_bytes(pressure.whole, unit)}"
        if pressure.share > 1:
            return amount, f"{show_bytes(pressure.value - pressure.whole, unit)} over"
        return amount, "full" if pressure.share > 0.98 else f"room for {digits(pressure.room)} times as much"
    amount = show_seconds(pressure.value) if pressure.value else "none exposed"
    if pressure.limit == verdict.limit:
        return amount, "binds"
    if pressure.share == 1:
        return amount, "would bind if it fitted"
    return amount, f"{digits(pressure.room)} times below" if pressure.share > 0 else "far from binding"


def pressure_rows(verdict: Verdict, unit: str) -> list[tuple[str, float | None, str, str, bool]]:
    """A verdict's four limits: name, share of binding, own number, distance, and whether it binds."""
    return [
        (
            LIMIT_WORDS[pressure.limit],
            pressure.share if np.isfinite(pressure.share) else None,
            *pressure_words(pressure, verdict, unit),
            pressure.limit == verdict.limit,
        )
        for pressure in verdict.pressures
    ]


def problem_sentences(scenario: Scenario, of: str, unit: str) -> list[str]:
    """Why training or serving cannot run as it stands, by how much, and a cure; bytes in a family of units."""
    if of == "serving":
        return [problem.sentence for problem in standing_problems(scenario.serving, unit)]
    problem = memory_problem(scenario.training, unit)
    return [problem.sentence] if problem else []


def layout_in_words(scenario: Scenario, phase: str) -> str:
    """The scenario in a few words, to recognise a pinned one."""
    serving, run = scenario.serving, scenario.training
    if phase == "training":
        return (
            f"{scenario.model.name} on {run.num_gpus:,} x {scenario.accelerator.name}, training, {run.seq_len:,} tokens"
        )
    of = f"{scenario.model.name} on {serving.serving_tensor_parallel:,} x {scenario.accelerator.name}, {phase}"
    return f"{of}, {serving.context_len:,} tokens" + (f", batch {serving.batch:,}" if phase == "decode" else "")


def operator_table(placed: Placed, index: int, unit: str) -> list[dict[str, str]]:
    """Every operator of a pass at one position, those that take longest first."""
    return [
        {
            "operator": spot.label,
            "FLOP": show_count(spot.flops) if spot.flops else "0, a copy",
            "bytes": show_bytes(spot.num_bytes, unit),
            "FLOP/byte": digits(spot.intensity),
            "bound by": BOUND_WORDS[spot.bound].removesuffix("-bound"),
            "of the floor": show_percent(spot.share),
        }
        for spot in placed.spots(index)
    ]


def utilization_table(used: Utilization, index: int) -> list[dict[str, str]]:
    """The same speed counted each way at one length."""
    return [
        {
            "what is counted": COUNT_WORDS[count],
            "FLOP a token": show_count(float(used.sweep.per_token(count)[index])),
            "MFU": show_percent(float(used.share(count)[index])),
            "HFU, all recomputed": show_percent(float(used.share(count, "full")[index])),
            "ceiling": f"{float(used.sweep.ceiling(count)[index]):.3f} x",
        }
        for count in COUNTS
    ]


def said_numbers(scenario: Scenario, pair: Sequence[Verdict], decode: Spot) -> dict[str, str]:
    """What the section "Say it" quotes; ``decode`` is the largest product of a decode step."""
    training, serving = pair
    return {
        "training": verdict_sentence(training),
        "serving": verdict_sentence(serving),
        "largest": decode.label,
        "intensity": digits(decode.intensity),
        "against_ridge": against_ridge(decode.intensity, decode.ridge),
        "batch": f"{scenario.serving.batch:,}",
    }


# What to look at, and which two suspects it tells apart.
INSTRUMENTS = (
    {
        "instrument": "allocator's peak, steady against highest",
        "tells apart": "capacity / fragmentation or one transient",
        "reads": "peak near the card and steady far below: a transient; reserved far above allocated: fragments",
    },
    {
        "instrument": "trace: what precedes each gap",
        "tells apart": "communication / bubble, data loader, launches",
        "reads": "a collective before the gap, a stage that waits, a CPU thread that is late",
    },
    {
        "instrument": "kernel profile: FLOP/s and bytes/s of the longest kernels",
        "tells apart": "compute / memory bandwidth",
        "reads": "whichever is near its roof; neither: launches, tiles or occupancy",
    },
    {
        "instrument": "MFU beside HFU",
        "tells apart": "extra work / waiting",
        "reads": "the gap is work that was added; what HFU leaves of 100% is stalls and slow kernels",
    },
    {
        "instrument": "batch doubled",
        "tells apart": "bandwidth / compute, in decode",
        "reads": "step time hardly moves: bandwidth; it doubles: compute or KV reads",
    },
    {
        "instrument": "one node against many, work per GPU kept",
        "tells apart": "network / everything inside a node",
        "reads": "the step grows with nodes: the network or stragglers",
    },
)

# Symptom, instrument, limit, step.
SYMPTOMS = (
    {
        "symptom": "out of memory",
        "instrument": "allocator's peak by part",
        "limit": "capacity; or a transient, or fragments",
        "step": "2 Partition",
    },
    {
        "symptom": "MFU falls as nodes are added",
        "instrument": "trace: exposed collectives",
        "limit": "communication",
        "step": "3 Communication",
    },
    {
        "symptom": "MFU falls as sequences grow",
        "instrument": "kernel profile of attention",
        "limit": "bandwidth, where scores are written out",
        "step": "4 Attention",
    },
    {
        "symptom": "few tokens a second, and a larger batch is nearly free",
        "instrument": "bytes/s of decode's products",
        "limit": "bandwidth",
        "step": "5 Batch",
    },
    {
        "symptom": "requests wait while the GPU computes little",
        "instrument": "KV blocks in use",
        "limit": "capacity of the cache",
        "step": "5 Batch",
    },
    {
        "symptom": "MFU is high and the step is still too slow",
        "instrument": "roofline: products near the peak",
        "limit": "compute",
        "step": "more or faster GPUs, narrower products",
    },
)

# When it helps, what to do, what it gains and costs, how to confirm it.
FIXES = (
    {
        "when": "capacity binds",
        "do": "shard states, recompute, narrower formats (step 2)",
        "gains": "it runs",
        "costs": "traffic, a third more FLOPs, accuracy to check",
        "confirm by": "peak memory after the first optimizer step",
    },
    {
        "when": "communication binds",
        "do": "keep chatty groups inside a node, overlap, larger micro-batches (step 3)",
        "gains": "at most the exposed time",
        "costs": "memory for what is prefetched, layout limits",
        "confirm by": "exposed collectives in a trace, before and after",
    },
    {
        "when": "bandwidth binds in training or prefill",
        "do": "tile attention, fuse elementwise work (step 4)",
        "gains": "bytes that are never written",
        "costs": "kernels to maintain, scores made again backward",
        "confirm by": "bytes moved by the kernel, not its FLOPs",
    },
    {
        "when": "bandwidth binds in decode",
        "do": "raise the batch, shrink weights and cache (step 5)",
        "gains": "throughput almost in proportion, up to the ridge",
        "costs": "cache memory, and latency once KV reads count",
        "confirm by": "tokens a second and time per token, both",
    },
    {
        "when": "compute binds",
        "do": "narrower products, fewer recomputed layers, more or faster GPUs",
        "gains": "up to the ratio of peaks; recomputed layers are up to a quarter of the work",
        "costs": "accuracy to check, memory, money",
        "confirm by": "HFU and MFU together, same count and peak",
    },
)
