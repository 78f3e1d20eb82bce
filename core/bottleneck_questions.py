"""The two predictions of step 1, asked about the scenario's own model: the truth, and the slips known by name."""

from __future__ import annotations

from dataclasses import dataclass

from core.bottleneck import index_of, place
from core.bottleneck_counts import MODEL, REPORTED
from core.dtypes import bytes_per_element
from core.flops import recompute_ceiling
from core.prediction import Slip
from core.scenario import Scenario, TrainingScenario
from core.under_roof import side

LOW, DECADES = 0.1, 6  # of the guess: one request on fp32 weights to the largest matrices at any batch


@dataclass(frozen=True, slots=True)
class IntensityQuestion:
    """The largest matrix product of one decode step: FLOP for each byte."""

    label: str
    batch: int
    dtype: str  # of stored weights
    weight_bytes: float  # of one
    intensity: float
    ridge: float  # of its roof; NaN where no peak is confirmed
    bound: str
    slips: tuple[Slip, ...]


def decode_intensity(scenario: Scenario) -> IntensityQuestion:
    """Each weight is read once a step and makes two FLOP for every request that meets it."""
    placed = place(scenario, "decode")
    spot = placed.spot(index_of(placed, scenario), placed.largest)
    serving = scenario.serving
    size = bytes_per_element(serving.weight_dtype)
    slips = [
        Slip(2.0 * serving.batch, f"Two FLOP for each request is right, but a weight brings {size:.3g} bytes with it."),
        Slip(1.0, "That is one request alone: each weight is read for one product. The batch shares the read."),
    ]
    if serving.model.num_experts:
        slips.append(Slip(serving.batch, "An expert is read for the requests that chose it, and few of them do."))
    elif size != 2:
        slips.append(Slip(serving.batch, f"That takes two bytes for a weight; stored here, one takes {size:.3g}."))
    if spot.ridge > 0:
        slips.append(Slip(spot.ridge, "That is the ridge, where the roof bends. The batch decides how near you get."))
    return IntensityQuestion(
        spot.label,
        serving.batch,
        serving.weight_dtype,
        size,
        spot.intensity,
        spot.ridge,
        side(spot.intensity, spot.ridge),
        tuple(slips),
    )


@dataclass(frozen=True, slots=True)
class CeilingQuestion:
    """HFU in percent where every forward FLOP is made twice and nothing else is counted."""

    mfu: float  # percent
    percent: float
    exact_percent: float  # of the scenario's model: its output head is never made again
    slips: tuple[Slip, ...]


def recomputed_share(scenario: TrainingScenario) -> CeilingQuestion:
    """Three forward passes' worth of FLOPs become four."""
    slips = (
        Slip(REPORTED, "That is the figure of the puzzle. Recomputation alone does not reach it."),
        Slip(2 * MODEL, "Only the forward pass is made twice, and it is a third of the work."),
        Slip(1.5 * MODEL, "That takes the forward pass for half of the work; the backward pass makes two products."),
        Slip(MODEL, "MFU leaves recomputed work out; HFU counts it."),
        Slip(MODEL + 100 / 3, "A third of the work is added, not a third of the peak."),
    )
    exact = MODEL * float(recompute_ceiling(scenario.model, scenario.seq_len, causal=True))
    return CeilingQuestion(MODEL, MODEL * 4 / 3, exact, slips)
