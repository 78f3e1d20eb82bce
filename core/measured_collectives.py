"""Measured collectives over the bytes of a tensor: curves beside a ring's floor, and each as a start and a rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.checks import Floats
from core.collectives import bytes_per_rank
from core.links import links_of
from core.measured_curves import Curve, Curves, curve_of, first_datasheet, missing_names, places_of
from core.measured_profile import Profile

_RING = "a ring at the link's raw rate"  # switches that add up beat it
_FEW_SIZES = 3  # at each end of a collective's sizes


@dataclass(frozen=True, slots=True)
class Fit:
    """A collective as a start and a rate: seconds = latency_s + bytes / bytes_per_s.

    The start is what the smallest messages take, the rate what the largest add: between, protocols change.
    """

    name: str
    latency_s: float
    bytes_per_s: float  # of the whole tensor
    bus_bytes_per_s: float  # what one rank of a ring sends, comparable with a link's rate
    link_bytes_per_s: float | None  # raw one-way rate of the datasheet
    worst: float  # largest relative error of the fit over the measured sizes [-]


def collective_over_bytes(profiles: Sequence[Profile], op: str, ranks: int) -> tuple[Curves, tuple[Fit, ...]]:
    """One collective over the bytes of the whole tensor, and its latency and bandwidth."""
    found: list[Curve] = []
    fits: list[Fit] = []
    for profile in profiles:
        messages = profile.messages.get((op, ranks))
        if messages is None:
            continue
        sizes = messages.row.num_bytes
        found.append(curve_of(profile, sizes, messages.grid.read, messages.grid.measured))
        fits.append(fit_collective(profile, op, ranks))
    chip, x = first_datasheet(profiles), places_of(found)
    sent = bytes_per_rank(op, x, ranks) if x.size else x
    link = links_of(chip).scale_up.bytes_per_s if chip else np.nan
    missing = missing_names(profiles, found)
    what = f"{op.replace('_', '-')} among {ranks} GPUs"
    return Curves(what, "bytes", tuple(found), missing, x, sent / link, sent, "B", _RING), tuple(fits)


def fit_collective(profile: Profile, op: str, ranks: int) -> Fit:
    """Latency of the three smallest and rate of the three largest sizes that a profile measured.

    Raises:
        KeyError: the profile has no such collective.
    """
    messages = profile.messages[op, ranks]
    size, seconds = (np.asarray(values, dtype=np.float64) for values in (messages.row.num_bytes, messages.row.seconds))
    latency = float(np.median(seconds[:_FEW_SIZES]))
    per_byte = _slope(size[-_FEW_SIZES:], seconds[-_FEW_SIZES:])
    chip = profile.accelerator
    return Fit(
        name=profile.name,
        latency_s=latency,
        bytes_per_s=1 / per_byte,
        bus_bytes_per_s=float(bytes_per_rank(op, 1.0, ranks)) / per_byte,
        link_bytes_per_s=links_of(chip).scale_up.bytes_per_s if chip else None,
        worst=float(np.max(np.abs((latency + size * per_byte) / seconds - 1))),
    )


def _slope(size: Floats, seconds: Floats) -> float:
    """Of the line with the least relative errors; through nothing where that would rise too little. [s/byte]"""
    rows = np.stack([1 / seconds, size / seconds], axis=1)
    start, slope = np.linalg.lstsq(rows, np.ones(size.size), rcond=None)[0]
    if size.size > 1 and start >= 0 and slope > 0:
        return float(slope)
    return float((size / seconds).sum() / ((size / seconds) ** 2).sum())
