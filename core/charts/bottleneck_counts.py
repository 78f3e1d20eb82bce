"""The second picture of step 1: one training speed, counted several ways."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from core.bottleneck_counts import COUNT_WORDS, COUNTS, ROUNDING, WAYS, Gap, Utilization
from core.charts.live import LiveFigure, LiveSlider, Readout
from core.charts.over_picture import Limit, RowLabels
from core.charts.stacked import stacked, stacked_layout
from core.display import digits, show_percent

ROLE_OF_PART = {"matrices": "weights", "attention": "kv", "made again": "activations"}
END = 130.0  # percent: a longer bar is more than the peak, and drawn up to there
SHORT_COUNTS = {"6N": "6N", "causal": "causal", "full": "full"}


@lru_cache(maxsize=64)
def counted_ways(used: Utilization, *, recompute: str, reported: float | None, num_gpus: int) -> LiveFigure:
    """Bars of the same speed by what is counted, live over the sequence length, against a reported HFU.

    Args:
        used: shares of the peak.
        recompute: the scenario's own way.
        reported: HFU to explain, 0.62 for 62%; None draws no line.
        num_gpus: of the run.
    """
    rows = [(count, way) for count in COUNTS for way in WAYS]
    names = [SHORT_COUNTS[count] + (", recomputed" if way == "full" else "") for count, way in rows]
    of_rows = [used.parts(count, way) for count, way in rows]
    parts = {part: 100 * np.stack([row[part] for row in of_rows], axis=-1) for part in ROLE_OF_PART}
    trace, tables = stacked(parts, ROLE_OF_PART, names, end=END, hover="%{customdata:.1f}% of the peak")
    totals = np.sum(list(parts.values()), axis=0)
    texts = [[show_percent(float(value) / 100) for value in row] for row in totals]
    lines = [Limit(100.0, "peak")]
    if reported is not None:
        lines.append(Limit(100 * reported, f"HFU {show_percent(reported)}"))
    lengths = [f"{tokens:,} tokens" for tokens in used.sweep.seq_len]
    alt = [
        f"{length}: share of the dense peak by count: "
        + ", ".join(f"{name} {text}" for name, text in zip(names, row, strict=True))
        + ("." if reported is None else f"; reported HFU {show_percent(reported)}.")
        for length, row in zip(lengths, texts, strict=True)
    ]
    return LiveFigure(
        {"data": [trace], "layout": stacked_layout("% of the dense peak", end=END, height=330)},
        tables,
        LiveSlider("Sequence", lengths),
        _count_readouts(used, recompute, reported, num_gpus),
        alt,
        limits=tuple(lines),
        labels=RowLabels(texts, cut=totals > END),
    )


def _count_readouts(used: Utilization, recompute: Any, reported: float | None, num_gpus: int) -> tuple[Readout, ...]:
    count = used.known.count
    model, hardware = used.share(count), used.share(count, recompute)
    each = range(len(model))
    rates = ["no confirmed peak" if used.rate is None else f"{used.rate[index]:,.0f} tokens/s" for index in each]
    gpus = f"{num_gpus:,} GPU" + ("" if num_gpus == 1 else "s")
    found = (
        Readout(
            f"MFU, {COUNT_WORDS[count]}",
            [show_percent(float(share)) for share in model],
            [f"{rates[index]} on {gpus}{_beyond(used, 'none', index)}" for index in each],
        ),
        Readout(
            f"HFU, recompute {recompute}",
            [show_percent(float(share)) for share in hardware],
            [
                f"recompute explains up to {show_percent(float(used.most(count)[index]))},"
                f" {float(used.sweep.ceiling(count)[index]):.3g} x{_beyond(used, recompute, index)}"
                for index in each
            ],
        ),
    )
    if reported is None:
        return found
    notes = [_explained(used.gap(reported, index)) for index in each]
    return (*found, Readout("reported HFU", [show_percent(reported)] * len(model), notes, emphasis=True))


def _beyond(used: Utilization, recompute: Any, index: int) -> str:
    """What a share above the peak means: kernels execute the causal half at least, so beyond it no run can be."""
    least = float(used.share("causal", recompute)[index])
    own = float(used.share(used.known.count, recompute)[index])
    if least > 1 + ROUNDING:
        return f"; no run does that: causal attention counted, it is {show_percent(least)} of the peak"
    return "; above 100% only because masked scores are counted" if own > 1 + ROUNDING else ""


def _explained(gap: Gap) -> str:
    if gap.impossible:
        return "below MFU: HFU never is, so the counts or the peaks differ"
    within = f"{digits(gap.ratio)} x MFU"
    if gap.within:
        return f"{within}: recomputation can explain it"
    if gap.match:
        count, recompute = gap.match
        again = ", all recomputed" if recompute == "full" else ""
        return f"{within}, more than recompute explains; {COUNT_WORDS[count]}{again} comes near"
    return f"{within}, and no count here explains it: look for padding or another instrument"


def counts_table(used: Utilization) -> dict[str, list[object]]:
    """Shares of the dense peak at every length, one row for each count and way."""
    rows = [(count, way) for count in COUNTS for way in WAYS]
    lengths = used.sweep.seq_len
    columns: dict[str, Any] = {
        "seq_len": np.tile(lengths, len(rows)),
        "attention": np.repeat([count for count, _ in rows], len(lengths)),
        "recompute": np.repeat([way for _, way in rows], len(lengths)),
        "flop_per_token": np.concatenate([used.sweep.per_token(count, way) for count, way in rows]),
        "share_of_peak": np.concatenate([used.share(count, way) for count, way in rows]),
    }
    return {name: np.asarray(values).tolist() for name, values in columns.items()}
