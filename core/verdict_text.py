"""A verdict and its first fix in words: what binds, what the fix gains and costs, and which step it belongs to."""

from __future__ import annotations

import math

from core.bottleneck_verdict import Pressure, Verdict
from core.constraints import label, shown
from core.display import digits, show_bytes, show_count, show_percent, show_seconds
from core.verdict import Finding, Fix

PART_WORDS = {"training": "Training", "serving": "Serving"}
LIMIT_WORDS = {
    "capacity": "memory capacity",
    "compute": "compute",
    "communication": "communication",
    "bandwidth": "memory bandwidth",
    "unknown": "unknown",
}
# Number of the step that treats a limit.
STEP_OF = {
    ("training", "capacity"): 2,
    ("training", "compute"): 1,
    ("training", "communication"): 3,
    ("training", "bandwidth"): 4,
    ("serving", "capacity"): 5,
    ("serving", "compute"): 1,
    ("serving", "communication"): 3,
    ("serving", "bandwidth"): 5,
}
# What a fix does, and what it costs beside the numbers that are shown.
_DO = {
    "keep": "keep more activations instead of making them again",
    "keep, split": "keep activations instead of making them again, and split them over tensor-parallel ranks",
    "accumulate": "more micro-batches between two reductions",
    "fuse": "fuse attention, so that scores stay on the chip",
    "larger micro-batch": "a larger micro-batch",
    "wider": "fewer, larger micro-batches",
    "lower stage": "a lower ZeRO stage",
    "narrower tensor": "narrower tensor-parallel groups",
    "narrower pipeline": "fewer pipeline stages",
    "narrower context": "narrower context-parallel groups",
    "narrower expert": "narrower expert-parallel groups",
    "interleave": "more, smaller chunks on each pipeline stage",
    "narrow cache": "an 8-bit KV cache",
    "narrow weights": "narrower weights",
    "more GPUs": "share the model among more GPUs",
    "fewer GPUs": "fewer GPUs a replica",
    "raise batch": "raise the batch",
    "lower batch": "admit fewer requests at once",
}
_COSTS = {
    "keep, split": "collectives inside every layer",
    "accumulate": "a larger global batch",
    "larger micro-batch": "a larger global batch",
    "interleave": "more messages between stages",
    "narrow cache": "accuracy to check, above all on long contexts",
    "narrow weights": "accuracy to check on your own task",
    "lower batch": "the other requests wait",
}
# The same for single fields, where memory decided the change and it has no name.
_FIELD_COSTS = {
    "recipe": "adapters alone are trained",
    "zero_stage": "weights are gathered in every micro-batch",
    "micro_batch_size": "smaller matrices",
    "tensor_parallel": "collectives inside every layer",
    "pipeline_parallel": "a bubble at each end of the step",
}
_NO_FIX = {
    "compute": "That is where a run should be. What is left: a narrower format, more GPUs, or fewer FLOPs.",
    "capacity": "No change that we try makes it fit: it takes more GPUs a replica, or larger ones.",
    "unknown": "No peak of this accelerator is confirmed, so only its memory is judged.",
}


def headline(found: Finding) -> str:
    """What binds, in one line."""
    part, verdict = PART_WORDS[found.part], found.verdict
    if verdict.limit == "unknown":
        return f"{part}: it fits; which limit binds is not known"
    if verdict.limit == "capacity":
        return f"{part}: it does not fit"
    return f"{part}: {LIMIT_WORDS[verdict.limit]} binds"


def detail(found: Finding, unit: str) -> str:
    """How full the memory is, how long a step takes, and which limit comes next."""
    verdict = found.verdict
    memory = verdict.pressures[0]
    if verdict.limit == "capacity":
        over = show_bytes(memory.value - memory.whole, unit)
        return f"A GPU needs {show_bytes(memory.value, unit)}, {over} more than there is."
    of = "memory" if found.part == "training" else "the engine's share of memory"
    full = f"{of} {show_percent(memory.share)} full"
    if math.isnan(verdict.step_s):
        return f"{full[0].upper()}{full[1:]}."
    step = "an optimizer step" if found.part == "training" else "a decode step"
    return f"{show_seconds(verdict.step_s)} {step} (estimate), {full}. {_next(verdict)}"


def _next(verdict: Verdict) -> str:
    times = [pressure for pressure in verdict.pressures[1:] if pressure.limit != verdict.limit]
    known = [pressure for pressure in times if not math.isnan(pressure.share)]
    nearest: Pressure | None = max(known, key=lambda pressure: pressure.share, default=None)
    if nearest is None or nearest.share == 0:
        return ""
    return f"Next is {LIMIT_WORDS[nearest.limit]}, at {show_percent(nearest.share)} of its time."


def fix_lines(found: Finding, unit: str) -> list[tuple[str, str]]:
    """The first fix, its gain, its cost and what binds after it, each under a short name."""
    fix, verdict = found.fix, found.verdict
    if fix is None:
        why = _NO_FIX.get(verdict.limit, "None of the single changes that we try gains 3%: the step page has the rest.")
        return [("First fix", why)]
    do = f"{_DO[fix.name]}: " if fix.name in _DO else ""
    lines = [("First fix", f"{do}{_changes(fix)}"), ("Gain", _gain(fix, unit)), ("Cost", _cost(found, fix))]
    after = fix.then.limit
    same = f"{LIMIT_WORDS[after]} still binds" if after == verdict.limit else f"{LIMIT_WORDS[after]} binds"
    return [*lines, ("Then", "which limit binds is not known" if after == "unknown" else same)]


def _changes(fix: Fix) -> str:
    def name(field: str) -> str:
        words = label(field)
        return words if any(letter.isupper() for letter in words[1:]) else words[0].lower() + words[1:]

    return ", ".join(f"{name(field)} {shown(value).strip(chr(39))}" for field, value in fix.fields)


def _gain(fix: Fix, unit: str) -> str:
    before, after = fix.now.pressures[0], fix.then.pressures[0]
    if math.isnan(fix.gain):
        fits = f"{show_bytes(before.value, unit)} a GPU become {show_bytes(after.value, unit)}, which fits"
        rate = fix.then.tokens_per_s
        return fits if math.isnan(rate) else f"{fits}; then {_rate(rate)} tokens/s (estimate)"
    each = "" if fix.gpus_now == fix.gpus_then else " and GPU"
    rates = (fix.now.tokens_per_s, fix.then.tokens_per_s)
    if each:
        rates = (rates[0] / fix.gpus_now, rates[1] / fix.gpus_then)
    return f"{_rate(rates[0])} to {_rate(rates[1])} tokens/s{each} (estimate), {100 * (fix.gain - 1):+.0f}%"


def _rate(tokens_per_s: float) -> str:
    return show_count(float(digits(tokens_per_s).replace(",", "")))


def _cost(found: Finding, fix: Fix) -> str:
    before, after = fix.now.pressures[0].share, fix.then.pressures[0].share
    costs = [_COSTS[fix.name]] if fix.name in _COSTS else []
    if fix.name == "fit":
        costs += [_FIELD_COSTS[field] for field, _ in fix.fields if field in _FIELD_COSTS]
    if fix.gpus_then != fix.gpus_now:
        costs.append(f"{fix.gpus_now:,} to {fix.gpus_then:,} GPUs")
    if found.part == "training" and fix.tokens_then != fix.tokens_now:
        costs.append(f"{show_count(fix.tokens_now)} to {show_count(fix.tokens_then)} tokens a step")
    if fix.now.limit == "capacity":
        slower = fix.then.step_s / fix.now.step_s
        if fix.tokens_now == fix.tokens_then and fix.gpus_now == fix.gpus_then and slower > 1.01:
            costs.append(f"{100 * (slower - 1):.0f}% more time a step than without it, if it fitted")
        return "; ".join(costs) or "none in time; the step page says what else"
    if found.part == "serving" and fix.then.step_s > 1.01 * fix.now.step_s:
        costs.append(f"a token every {show_seconds(fix.then.step_s)} instead of {show_seconds(fix.now.step_s)}")
    if after > before + 0.005:
        costs.append(f"memory {show_percent(before)} to {show_percent(after)} full")
    return "; ".join(costs) or "nothing that these numbers show"


def step_of(found: Finding) -> int | None:
    """Number of the step to go to next; None where nothing is known to bind."""
    return STEP_OF.get((found.part, found.verdict.limit))
