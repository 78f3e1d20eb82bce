"""The same training speed counted several ways: 6N or with attention, causal or full, recomputed work in or out.

Most quarrels over MFU and HFU are quarrels over the count. Shares are of the dense peak.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from core.activations import Recompute
from core.checks import Floats, positive
from core.constraints import Problem
from core.flops import BACKWARD_OVER_FORWARD, forward_parts
from core.model_spec import ModelSpec
from core.partition import positions
from core.scenario import TrainingScenario

Count = Literal["6N", "causal", "full"]
COUNTS: tuple[Count, ...] = ("6N", "causal", "full")
SHORT_WORDS = {"6N": "none: 6N", "causal": "causal", "full": "full"}
COUNT_WORDS = {"6N": "6N, no attention", "causal": "causal attention", "full": "full attention"}
WAYS: tuple[Recompute, ...] = ("none", "full")  # the two ends that a reported figure is compared with
SEQ_LEN = tuple(1024 * 2**k for k in range(8))
REPORTED = 62.0  # percent: the HFU of the puzzle, and beside it
MODEL = 35.0  # its MFU
ROUNDING = 0.005
TOLERANCE = 0.03  # of a reported figure: what rounding and a counted norm or two may explain


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a run: one of two, and how its MFU counts."""

    mfu: float | None  # 0.35 is 35%
    tokens_per_s: float | None  # of all GPUs
    count: Count


@dataclass(frozen=True, slots=True)
class Gap:
    """A reported HFU over an MFU."""

    ratio: float
    ceiling: float  # what recomputation alone explains, by the same count
    match: tuple[Count, Recompute] | None  # another count that comes near the reported figure

    @property
    def impossible(self) -> bool:
        """HFU below MFU, which no run has: more is executed than required, never less."""
        return self.ratio < 1 - ROUNDING

    @property
    def within(self) -> bool:
        """Whether recomputation alone can explain it."""
        return self.ratio <= self.ceiling + ROUNDING


@dataclass(frozen=True, slots=True, eq=False)
class CountSweep:
    """FLOPs a token by part over sequence lengths; arrays are (positions,). [FLOP per token]"""

    seq_len: tuple[int, ...]
    matrices: Floats  # forward and backward
    attention: dict[Count, Floats]
    again: dict[Recompute, dict[Count, Floats]]  # by "full" every layer, not the output head; by "selective" scores

    def per_token(self, count: Count, recompute: Recompute = "none") -> Floats:
        """Everything that a count sees. [FLOP per token]"""
        return self.matrices + self.attention[count] + self.again[recompute][count]

    def ceiling(self, count: Count) -> Floats:
        """HFU over MFU of the same count when every layer is made again: at most 4/3. [-]"""
        return self.per_token(count, "full") / self.per_token(count)


@dataclass(frozen=True, slots=True, eq=False)
class Utilization:
    """Shares of the peak over sequence lengths; arrays are (positions,). [-]"""

    sweep: CountSweep
    known: Known
    rate: Floats | None  # tokens a second of all GPUs; None where neither it nor a peak is known
    scale: Floats  # shares of the peak for each FLOP a token

    def share(self, count: Count, recompute: Recompute = "none") -> Floats:
        """MFU by this count; with ``recompute`` HFU. [-]"""
        return self.scale * self.sweep.per_token(count, recompute)

    def parts(self, count: Count, recompute: Recompute) -> dict[str, Floats]:
        """That share by what it counts. [-]"""
        return {
            "matrices": self.scale * self.sweep.matrices,
            "attention": self.scale * self.sweep.attention[count],
            "made again": self.scale * self.sweep.again[recompute][count],
        }

    def most(self, count: Count) -> Floats:
        """HFU by this count with everything made again: the most that recomputation explains. [-]"""
        return self.share(count, "full")

    def gap(self, reported: float, index: int) -> Gap:
        """A reported HFU beside the MFU by the known count."""
        ratio = reported / float(self.share(self.known.count)[index])
        return Gap(ratio, float(self.sweep.ceiling(self.known.count)[index]), self.explains(reported, index))

    def explains(self, reported: float, index: int) -> tuple[Count, Recompute] | None:
        """The count that comes within a few percent of a reported share: which attention, and what is made again."""
        found: dict[tuple[Count, Recompute], float] = {}
        for count in COUNTS:
            for recompute in WAYS:
                found[count, recompute] = abs(float(self.share(count, recompute)[index]) / reported - 1)
        nearest = min(found, key=lambda key: found[key])
        return nearest if found[nearest] <= TOLERANCE else None


def over_seq_len(scenario: TrainingScenario) -> CountSweep:
    """Every count at every sequence length; the scenario's own among them. Kept for the next call."""
    parts = scenario.context_parallel
    lengths = tuple(n for n in positions(SEQ_LEN, scenario.seq_len) if n % parts == 0)
    return _over_seq_len(scenario.model, lengths)


@lru_cache(maxsize=64)
def _over_seq_len(model: ModelSpec, lengths: tuple[int, ...]) -> CountSweep:
    tokens, passes = np.array(lengths), 1 + BACKWARD_OVER_FORWARD
    causal, full = (forward_parts(model, tokens, view=view) for view in ("causal", "full"))
    nothing = np.zeros(len(lengths))
    mixing: dict[Count, Floats] = {
        "6N": nothing,
        "causal": causal.attention + causal.indexer + causal.state,
        "full": full.attention + full.indexer + full.state,
    }
    scores: dict[Count, Floats] = {"6N": nothing, "causal": causal.attention, "full": full.attention}
    return CountSweep(
        seq_len=lengths,
        matrices=passes * (causal.matrices + causal.head),
        attention={count: passes * flops for count, flops in mixing.items()},
        again={
            "none": dict.fromkeys(COUNTS, nothing),
            "selective": scores,
            "full": {count: causal.matrices + flops for count, flops in mixing.items()},
        },
    )


def counted(scenario: TrainingScenario, known: Known, dtype: str | None) -> Utilization:
    """What is known of a run, counted every way.

    Args:
        scenario: model, GPUs and length.
        known: its MFU by some count, or its tokens a second.
        dtype: format whose dense peak is the whole; None where the accelerator has no confirmed one.

    Raises:
        ValueError: a rate without a peak to compare it with.
    """
    peak = None if dtype is None else scenario.num_gpus * scenario.accelerator.peak_flops_per_s(dtype)
    if known.mfu is None and peak is None:
        raise ValueError(f"{scenario.accelerator.name} has no confirmed peak, so tokens a second make no share of one")
    return _counted(over_seq_len(scenario), known, peak)


@lru_cache(maxsize=64)
def _counted(sweep: CountSweep, known: Known, peak: float | None) -> Utilization:
    if known.mfu is not None:
        scale = np.asarray(positive("mfu", known.mfu) / sweep.per_token(known.count))
        return Utilization(sweep, known, None if peak is None else scale * peak, scale)
    assert peak is not None  # said in words above
    rate = positive("tokens_per_s", known.tokens_per_s or 0.0) * np.ones(len(sweep.seq_len))
    return Utilization(sweep, known, rate, rate / peak)


def known_of(
    kind: str, typed: float | None, count: Count, *, estimate: float, has_peak: bool = True
) -> Known | Problem:
    """What a person typed, or why it is no use.

    Args:
        kind: "MFU" or "tokens/s".
        typed: a percentage, or tokens a second of all GPUs; nothing takes the puzzle's MFU, or the estimate.
        count: what the MFU counts.
        estimate: tokens a second of the scenario; NaN where there is none.
        has_peak: whether the accelerator has a confirmed peak to compare a rate with.
    """
    if kind == "MFU":
        value = MODEL if typed is None else typed
        return percent_problem("mfu", value) or Known(value / 100, None, count)
    if not has_peak:
        rule = "no peak of this accelerator is confirmed, so it makes no share of one"
        return Problem("tokens_per_s", typed, rule, "Say the MFU instead, or choose another accelerator.")
    rate = estimate if typed is None else typed
    if not 0 < rate < 1e15:
        way_out = "Type the tokens of a step over its seconds."
        return Problem("tokens_per_s", typed, "a rate is a number above 0", way_out)
    return Known(None, rate, count)


def percent_problem(name: str, value: float) -> Problem | None:
    """Why a typed percentage cannot be a share of the peak."""
    if 0 < value <= 100:
        return None
    return Problem(name, value, "a share of the dense peak lies above 0 and at most at 100", "Try 35.")


def share_of(percent: float) -> float:
    """A percentage as a share."""
    return percent / 100
