"""The limit that a trace names: what the largest part of the time went to, with the numbers that say so.

The rule is that of the step-time estimate: of compute, memory bandwidth, communication and each kind of waiting the
longest binds. A trace shows that a kernel runs, not what holds it back inside. So kernels count in two kinds, which
different limits may hold: matrix products with attention, and all others, which move more than they compute. The larger
kind stands against the other limits; both together would win against each although neither binds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from core.trace.evidence import evidence
from core.trace.report import TraceReport
from core.trace.split import Split

Limit = Literal["kernels", "communication", "launch", "input", "copies", "unknown"]
LIMITS: tuple[Limit, ...] = ("kernels", "communication", "launch", "input", "copies", "unknown")
# The step of the method to read. Launches stand with attention (4), where fused kernels and CUDA graphs are compared.
_STEP: dict[Limit, int] = {"kernels": 1, "communication": 3, "launch": 4, "input": 1, "copies": 2, "unknown": 1}
_ALSO = 0.2  # of the whole time, from which a second limit is named
_MUCH_ATTENTION = 0.5  # of the compute kernels' time; then the attention kernel is the one to look at first


@dataclass(frozen=True, slots=True)
class TraceVerdict:
    """What binds, over all GPUs of the trace."""

    limit: Limit
    shares: dict[Limit, float]  # of the whole time, mean over the GPUs; they add up to 1
    kinds: tuple[float, float]  # of the whole time: matrix products and attention; other kernels
    step: int  # 1 to 5: the step of the method to read
    also: Limit | None  # a second limit that takes much of the time, to look at next
    also_step: int | None
    title: str
    evidence: tuple[str, ...]  # sentences with the numbers
    advice: str

    @property
    def most_gain(self) -> float:
        """How many times faster, if all of this limit's time vanished and nothing took its place; inf if all is. [-]"""
        left = 1.0 - self.shares[self.limit]
        return 1.0 / left if left > 1e-12 else np.inf


def verdict(report: TraceReport) -> TraceVerdict:
    """The largest share binds, kernels by the larger of their two kinds; of equal ones the first of LIMITS."""
    every = [limit_shares(gpu.whole) for gpu in report.gpus]
    shares = {limit: float(np.mean([each[limit] for each in every])) for limit in LIMITS}
    products = shares["kernels"] * (report.work_share("matrix products") + report.work_share("attention"))
    kinds = (products, shares["kernels"] - products)
    against = shares | {"kernels": max(kinds)}
    limit, second = sorted(LIMITS, key=lambda name: -against[name])[:2]
    also = second if shares[second] >= _ALSO and second != "unknown" else None
    attention = report.work_share("attention") > _MUCH_ATTENTION
    steps = _STEP | {"kernels": 4 if attention else _STEP["kernels"]}
    both = [_both_kinds(limit, shares, kinds)] if limit != "kernels" and shares["kernels"] > shares[limit] else []
    return TraceVerdict(
        limit=limit,
        shares=shares,
        kinds=kinds,
        step=steps[limit],
        also=also,
        also_step=None if also is None else steps[also],
        title=_TITLE[limit],
        evidence=(_all_shares(limit, shares, [each[limit] for each in every]), *both, *evidence(limit, report)),
        advice=_ADVICE[limit] if also is None else f"{_ADVICE[limit]} Then {_WORDS[also]}, {shares[also]:.0%}.",
    )


def limit_shares(whole: Split) -> dict[Limit, float]:
    """Shares of one GPU's time by what would have to be mended. They add up to 1. [-]"""
    times: dict[Limit, float] = {
        "kernels": float(whole.compute_s),
        "communication": float(whole.exposed_communication_s + whole.idle_communication_s),
        "launch": float(whole.idle_launch_s + whole.idle_queued_s),
        "input": float(whole.idle_input_s),
        "copies": float(whole.copy_s),
        "unknown": float(whole.idle_unknown_s),
    }
    total = sum(times.values())
    if total <= 0:  # only events without length
        return {limit: float(limit == "unknown") for limit in LIMITS}
    return {limit: time / total for limit, time in times.items()}


def _all_shares(limit: Limit, shares: dict[Limit, float], by_gpu: list[float]) -> str:
    span = f" ({min(by_gpu):.0%} to {max(by_gpu):.0%} of a GPU's)" if len(by_gpu) > 1 else ""
    others = sorted(
        (name for name in LIMITS if name != limit and shares[name] >= 0.005), key=lambda name: -shares[name]
    )
    rest = "; ".join(f"{_WORDS[name]} {shares[name]:.0%}" for name in others)
    return f"{_WORDS[limit].capitalize()}: {shares[limit]:.0%} of the time{span}{'; ' if rest else ''}{rest}."


def _both_kinds(limit: Limit, shares: dict[Limit, float], kinds: tuple[float, float]) -> str:
    """Why kernels, which take longer in all, do not bind."""
    products, others = kinds
    return (
        f"Kernels take {shares['kernels']:.0%} in all, but by their names of two kinds, which different limits hold: "
        f"matrix products and attention {products:.0%}, others {others:.0%}. Neither takes as long as {_WORDS[limit]}."
    )


_WORDS: dict[Limit, str] = {
    "kernels": "compute kernels",
    "communication": "exposed communication",
    "launch": "waiting for launches",
    "input": "waiting for input",
    "copies": "copies that nothing hides",
    "unknown": "idle for an unknown reason",
}

_TITLE: dict[Limit, str] = {
    "kernels": "Kernels bind: compute or memory bandwidth",
    "communication": "Communication binds: the GPU waits for other GPUs",
    "launch": "Launch overhead binds: the GPU waits for the host",
    "input": "Input binds: the GPU waits for data",
    "copies": "Copies bind: memory is moved while nothing computes",
    "unknown": "The GPU idles, and the trace does not say why",
}

_ADVICE: dict[Limit, str] = {
    "kernels": (
        "A trace cannot tell compute from memory bandwidth. Place the longest kernels on the roofline: FLOP and bytes "
        "of each by hand, or counted by a kernel profiler."
    ),
    "communication": (
        "Send less, over faster links, or while something computes: begin with the collective of most exposed time."
    ),
    "launch": (
        "Give the GPU more work for each launch: a CUDA graph, torch.compile or fused kernels, a larger batch. Take "
        "out what makes the host wait for the GPU inside a step."
    ),
    "input": "Load ahead: more workers, pinned memory, non_blocking copies on their own stream.",
    "copies": (
        "Find who copies: offloaded states, tensors that go to the host and back, or a missing overlap with compute."
    ),
    "unknown": "Record ProfilerActivity.CPU beside ProfilerActivity.CUDA: gaps are explained by the launch calls.",
}
