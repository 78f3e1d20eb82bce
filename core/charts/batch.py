"""The first picture of step 5: tokens a second over the batch, under the ceilings of memory and compute."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from core.batch import BatchSweep, Headline
from core.charts.batch_parts import (
    columns,
    count_against,
    joined,
    line,
    log_axis,
    requests,
    requests_axis,
    share_against,
)
from core.charts.live import LiveFigure, LiveSlider, Readout
from core.charts.over_picture import Dots, Limit
from core.display import digits, show_bytes, show_seconds

# Name, role and dash of each ceiling.
_CEILINGS = {
    "weights": ("ceiling of reading weights", "weights", "solid"),
    "caches": ("ceiling of reading caches", "kv", "14px,3px"),
    "flops": ("ceiling of the FLOPs", "accent", "2px,3px"),
}


@lru_cache(maxsize=64)
def by_batch(sweep: BatchSweep, *, unit: str, baseline: Headline | None) -> LiveFigure:
    """Tokens a second over the batch under three ceilings, on logarithmic axes; under each label what a token takes.

    What all requests share is a ceiling that rises with them, and what each brings is a flat one. So the weights meet
    their own FLOPs at the bend, and the caches meet nothing: whichever flat ceiling is lower stays lower.
    """
    batch, step = list(sweep.batch), sweep.step
    rows = [sweep.headline(index) for index in range(len(batch))]
    ceilings = {name: values for name, values in sweep.ceilings.items() if np.all(np.isfinite(values))}
    traces = [
        line("estimate", "limit", batch, step.tokens_per_s, dash="solid"),
        line("floor: no more than this", "muted", batch, step.most_tokens_per_s, width=1.5),
        *(
            line(words, role, batch, ceilings[name], dash=dash)
            for name, (words, role, dash) in _CEILINGS.items()
            if name in ceilings
        ),
    ]
    flat = [values[-1:] for name, values in ceilings.items() if name != "weights"]
    layout = {
        "height": 400,
        "margin": {"l": 64, "r": 48, "t": 28, "b": 44},  # the last label is wide
        "xaxis": requests_axis(batch, [f"{show_seconds(row.step_s)} a token" for row in rows]),
        "yaxis": log_axis("tokens a second", step.tokens_per_s, step.most_tokens_per_s, *flat) | {"showgrid": False},
    }
    return LiveFigure(
        {"data": traces, "layout": layout},
        slider=LiveSlider("Requests at once", [requests(n) for n in batch]),
        readouts=_batch_readouts(rows, sweep.alone, unit, baseline),
        alt=[_batch_alt(row, sweep, unit) for row in rows],
        limits=_marks(sweep),
        dots=Dots(np.array(batch, dtype=np.float64)[:, None], step.tokens_per_s[:, None], ["limit"]),
    )


def _marks(sweep: BatchSweep) -> tuple[Limit, ...]:
    """The cap of the memory and the bend of the matrices."""
    found = (
        Limit(float(sweep.max_batch), f"memory holds {sweep.max_batch:,}"),
        Limit(sweep.matrices_bend, f"matrices bend at {digits(sweep.matrices_bend)}", role="muted"),
    )
    return tuple(mark for mark in found if sweep.batch[0] <= mark.at <= sweep.batch[-1])


def _batch_readouts(
    rows: Sequence[Headline], alone: Headline, unit: str, baseline: Headline | None
) -> tuple[Readout, ...]:
    pinned = [row.against(baseline) if baseline else None for row in rows]
    return (
        Readout(
            "room on each GPU",
            [
                show_bytes(row.room_bytes, unit) if row.fits else f"{show_bytes(row.over_bytes, unit)} over"
                for row in rows
            ],
            [
                joined(
                    f"{row.batch:,} fit; at most {row.max_batch:,}"
                    if row.fits
                    else f"{row.batch:,} do not fit; at most {row.max_batch:,}",
                    None if than is None else count_against(than.max_batch),
                    None if than is None or than.fitted == row.fits else ("did not fit" if row.fits else "fitted"),
                )
                for row, than in zip(rows, pinned, strict=True)
            ],
            emphasis=True,
        ),
        Readout(
            "tokens a second, estimate",
            [digits(row.tokens_per_s) for row in rows],
            [
                joined(
                    None if row.fits else "if memory held it",
                    f"floor {digits(row.most_tokens_per_s)}",
                    f"{digits(row.tokens_per_s / alone.tokens_per_s)} x one request",
                    None if than is None else f"{share_against(than.tokens)} against pinned",
                )
                for row, than in zip(rows, pinned, strict=True)
            ],
        ),
        Readout(
            "a request waits for a token, estimate",
            [show_seconds(row.step_s) for row in rows],
            [
                joined(
                    None if row.fits else "if memory held it",
                    f"floor {show_seconds(row.floor_s)}",
                    None if than is None else f"{share_against(than.step)} against pinned",
                )
                for row, than in zip(rows, pinned, strict=True)
            ],
        ),
    )


def _batch_alt(row: Headline, sweep: BatchSweep, unit: str) -> str:
    fits = "fits" if row.fits else f"does not fit by {show_bytes(row.over_bytes, unit)} a GPU"
    bend = (
        f" The matrices turn compute-bound at {digits(sweep.matrices_bend)} requests."
        if math.isfinite(sweep.matrices_bend)
        else ""
    )
    return (
        f"{requests(row.batch)}: {fits}; memory holds {row.max_batch:,}. Estimate {digits(row.tokens_per_s)}"
        f" tokens a second at {show_seconds(row.step_s)} a token, floor {digits(row.most_tokens_per_s)} and"
        f" {show_seconds(row.floor_s)}.{bend}"
    )


def batch_table(sweep: BatchSweep) -> dict[str, list[object]]:
    """The sweep over the batch as columns in base units, for a spreadsheet."""
    step = sweep.step
    return columns(
        {
            "requests": np.array(sweep.batch),
            "fits": step.memory.fits,
            "tokens_per_s_estimate": step.tokens_per_s,
            "tokens_per_s_floor": step.most_tokens_per_s,
            "step_s_estimate": step.step_s,
            "step_s_floor": step.floor_s,
            "weights_read_s_floor": step.floor.weight_s,
            "cache_read_s_floor": step.floor.kv_s,
            "matrix_flops_s_floor": step.floor.matmul_s,
            "memory_bytes_per_gpu": step.memory.total_bytes,
        },
        len(sweep.batch),
    )
