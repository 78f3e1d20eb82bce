"""The two predictions of step 4: the size of one head's scores, and what recomputing them does to the time."""

from __future__ import annotations

from dataclasses import dataclass

from core.attention import over_seq_len
from core.attention_cost import Cost
from core.attention_io import FORWARD_PASSES, score_bytes
from core.display import BYTE_UNITS
from core.prediction import Slip
from core.scenario import TrainingScenario

TOKENS = 65_536
HEAD_DIM = 128
LESS, SAME, MORE = "less time", "about as long", "more time"
OPTIONS = (LESS, SAME, MORE)
_CLOSE = 0.05  # a difference that no measurement would show


@dataclass(frozen=True, slots=True)
class ScoreQuestion:
    """How large one head's matrix of scores is, in GB or GiB."""

    size_bytes: float
    traffic_bytes: float  # what an unfused forward pass moves of such matrices
    amount: float  # the size in the reader's unit
    slips: tuple[Slip, ...]


def score_size(unit: str) -> ScoreQuestion:
    """65,536 x 65,536 entries of two bytes; the size is often taken for the traffic, which is four times that."""
    size = float(score_bytes(TOKENS))
    scale = BYTE_UNITS[unit]
    slips = (
        Slip(
            FORWARD_PASSES * size / scale,
            "That is what an unfused forward pass moves: it writes and reads such matrices four times.",
        ),
        Slip(2 * size / scale, "That takes four bytes an entry; 16 bits are two."),
        Slip(
            size / 2 / scale,
            "That is half of it: what a causal mask leaves, or a byte an entry. The chain stores the hidden half too.",
        ),
        Slip(
            2.0 * TOKENS * HEAD_DIM / scale,
            f"That is the head's queries, tokens by {HEAD_DIM}. Scores are tokens by tokens.",
        ),
        Slip(size / 64 / scale, "That is the matrix at 8,192 tokens: eight times the tokens are 64 times the entries."),
    )
    return ScoreQuestion(size, FORWARD_PASSES * size, size / scale, slips)


@dataclass(frozen=True, slots=True)
class RecomputeQuestion:
    """Forward and backward of one layer without a mask: the chain, and a tiled kernel that makes the scores again."""

    truth: str
    unfused: tuple[float, float, float]  # FLOPs, bytes, seconds
    tiled: tuple[float, float, float]  # bytes with every reread caught

    @property
    def flops_ratio(self) -> float:
        """Tiled over unfused."""
        return self.tiled[0] / self.unfused[0]

    @property
    def time_ratio(self) -> float:
        """Tiled over unfused, floors."""
        return self.tiled[2] / self.unfused[2]


def recompute_time(scenario: TrainingScenario) -> RecomputeQuestion | None:
    """The scenario's own layer at its own length; None for a model without softmax attention."""
    sweep = over_seq_len(scenario)
    if sweep is None:
        return None
    index = sweep.seq_len.index(scenario.seq_len)

    def at(cost: Cost) -> tuple[float, float, float]:
        return float(cost.flops[index]), float(cost.least_bytes[index]), float(cost.time_s[index])

    unfused, tiled = at(sweep.both("unfused")), at(sweep.both("tiled, no mask"))
    ratio = tiled[2] / unfused[2]
    truth = LESS if ratio < 1 - _CLOSE else MORE if ratio > 1 + _CLOSE else SAME
    return RecomputeQuestion(truth, unfused, tiled)
