"""Speculative decoding's gain and loss over the batch, live over the length of the draft."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from core.batch_token import SpeculationSweep
from core.charts.batch_parts import line, requests, requests_axis
from core.charts.live import LiveFigure, LiveSlider, Readout, TraceTable
from core.charts.over_picture import Dots, Limit
from core.display import digits


@lru_cache(maxsize=64)
def by_draft(sweep: SpeculationSweep, *, batch: int) -> LiveFigure:
    """Speed-up of speculative decoding over the batch; the slider is the draft's length."""
    batches, own = list(sweep.batch), sweep.batch.index(batch)
    top = max(1.1 * float(sweep.speedup.max()), 1.5)
    traces = [line(f"speed-up {sweep.basis}", "accent", batches, sweep.speedup[0])]
    layout = {
        "height": 300,
        "margin": {"l": 56, "r": 16, "t": 24, "b": 44},
        "xaxis": requests_axis(batches),
        "yaxis": {"range": [0, top], "title": {"text": "x plain decoding"}, "fixedrange": True},
    }
    alone, here, most = sweep.speedup[:, 0], sweep.speedup[:, own], sweep.speedup[:, -1]
    texts = [f"{draft} token" + ("s" if draft > 1 else "") for draft in sweep.draft_tokens]
    return LiveFigure(
        {"data": traces, "layout": layout},
        (TraceTable(0, "y", sweep.speedup),),
        LiveSlider("Draft", texts, index=min(3, len(texts) - 1)),
        (
            Readout(f"speed-up at {requests(batch)}", [f"{digits(float(v))} x" for v in here], emphasis=True),
            Readout("tokens that a pass yields", [digits(float(v)) for v in sweep.tokens]),
            Readout(
                f"at {requests(batches[-1])}",
                [f"{digits(float(v))} x" for v in most],
                [f"checking takes {digits(float(v))} x a plain step" for v in sweep.verify_cost[:, -1]],
            ),
        ),
        [
            f"Draft of {text}: {digits(float(a))} x for one request, {digits(float(b))} x for {batch:,},"
            f" {digits(float(c))} x for {batches[-1]:,}."
            for text, a, b, c in zip(texts, alone, here, most, strict=True)
        ],
        limits=(Limit(1.0, "plain decoding: below, it loses", axis="y"),),
        dots=Dots(np.full((len(texts), 1), float(batch)), here[:, None], ["limit"]),
    )
