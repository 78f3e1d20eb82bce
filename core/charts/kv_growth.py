"""The second picture of step 5: what one GPU holds as each request grows token by token."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from core.batch import ContextSweep, Headline
from core.charts.batch_parts import columns, count_against, joined, line, requests
from core.charts.live import LiveFigure, LiveSlider, Readout
from core.charts.over_picture import Dots, Limit
from core.checks import Floats
from core.display import BYTE_UNITS, show_bytes, show_difference


@lru_cache(maxsize=64)
def by_context(sweep: ContextSweep, *, unit: str, baseline: Headline | None) -> LiveFigure:
    """Weights, activations, states and cache of one GPU as they pile up token by token, against what it may hold."""
    scale, memory = BYTE_UNITS[unit], sweep.memory
    tokens = list(sweep.context_len)

    def flat(values: Floats) -> Floats:
        return np.broadcast_to(values, (len(tokens),)) / scale

    parts = [
        ("weights", "weights", flat(memory.weight_bytes)),
        ("activations and logits", "activations", flat(memory.activation_bytes)),
        ("states", "other", flat(memory.state_bytes)),
        ("KV cache", "kv", flat(memory.kv_bytes)),
    ]
    below = flat(memory.total_bytes - memory.kv_bytes)
    traces: list[dict[str, Any]] = [
        line(name, role, tokens, values, width=1, dash="solid") | {"stackgroup": "memory"}
        for name, role, values in parts
        if values.any()
    ]
    if sweep.reserves_more:
        reserved = below + flat(sweep.uniform_kv_bytes)
        traces.append(line("if every layer reserves", "muted", tokens, reserved, dash="4px,4px"))
    total = flat(memory.total_bytes)
    budget = float(memory.budget_bytes) / scale
    top = max(min(1.6 * budget, 1.1 * float(total[-1])), 1.15 * budget, 1.15 * float(below.max()))
    layout = {
        "height": 340,
        "margin": {"l": 64, "r": 16, "t": 28, "b": 44},
        "xaxis": {
            "range": [0, tokens[-1]],
            "title": {"text": "tokens that each request has reached"},
            "nticks": 5,
            "fixedrange": True,
        },
        "yaxis": {"range": [0, top], "title": {"text": f"{unit} on each GPU"}, "nticks": 5, "fixedrange": True},
    }
    return LiveFigure(
        {"data": traces, "layout": layout},
        slider=LiveSlider("Context", [f"{n:,} tokens" for n in tokens]),
        readouts=_context_readouts(sweep, unit, baseline),
        alt=[_context_alt(sweep, index, unit) for index in range(len(tokens))],
        limits=(Limit(budget, f"the engine may use {show_bytes(float(memory.budget_bytes), unit)}", axis="y"),),
        dots=Dots(np.array(tokens, dtype=np.float64)[:, None], np.minimum(total, top)[:, None], ["limit"]),
    )


def _context_readouts(sweep: ContextSweep, unit: str, baseline: Headline | None) -> tuple[Readout, ...]:
    memory, at = sweep.memory, range(len(sweep.context_len))
    return (
        Readout(
            f"KV cache of {requests(sweep.batch)}",
            [show_bytes(float(memory.kv_bytes[i]), unit) for i in at],
            [f"the next token of each adds {show_bytes(float(sweep.token_bytes[i]), unit)}" for i in at],
        ),
        Readout(
            "requests that fit",
            [f"{int(sweep.max_batch[i]):,}" for i in at],
            [
                joined(
                    _waiting(int(sweep.max_batch[i]), sweep.batch),
                    None if baseline is None else count_against(int(sweep.max_batch[i]) - baseline.max_batch),
                )
                for i in at
            ],
            emphasis=True,
        ),
        Readout(
            "room on each GPU",
            [_room(float(memory.room_bytes[i]), unit) for i in at],
            None
            if baseline is None
            else [
                f"{show_difference(float(memory.room_bytes[i]) - baseline.room_bytes, unit)} against pinned" for i in at
            ],
        ),
    )


def _context_alt(sweep: ContextSweep, index: int, unit: str) -> str:
    memory = sweep.memory
    return (
        f"{sweep.context_len[index]:,} tokens a request: on each GPU {show_bytes(float(memory.weight_bytes), unit)} of"
        f" weights and {show_bytes(float(memory.kv_bytes[index]), unit)} of KV cache against"
        f" {show_bytes(float(memory.budget_bytes), unit)} that the engine may use;"
        f" {int(sweep.max_batch[index]):,} requests fit."
    )


def _waiting(holds: int, batch: int) -> str:
    return f"all {batch:,} run at once" if holds >= batch else f"{batch - holds:,} of the {batch:,} wait"


def _room(room_bytes: float, unit: str) -> str:
    return show_bytes(room_bytes, unit) if room_bytes >= 0 else f"{show_bytes(-room_bytes, unit)} over"


def context_table(sweep: ContextSweep) -> dict[str, list[object]]:
    """The sweep over the context as columns in bytes on each GPU, for a spreadsheet."""
    memory = sweep.memory
    return columns(
        {
            "context_tokens": np.array(sweep.context_len),
            "weight_bytes": memory.weight_bytes,
            "activation_bytes": memory.activation_bytes,
            "state_bytes": memory.state_bytes,
            "kv_bytes": memory.kv_bytes,
            "kv_bytes_reserved_in_every_layer": sweep.uniform_kv_bytes,
            "requests_that_fit": sweep.max_batch,
        },
        len(sweep.context_len),
    )
