"""Home's picture: the GPUs of one server, laid end to end, filling up with weights and with a KV cache that grows.

Python evaluates the formula once over the slider's whole range; the browser picks a row while the hand moves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from core.charts.theme import PALETTE
from core.display import BYTE_UNITS, show_bytes
from core.hardware import load_accelerators
from core.kv_cache import kv_bytes, max_batch
from views._ui import first_question
from views._ui.assets import asset

GPU_ID, NUM_GPUS = "h100-sxm", 8
CONTEXTS = np.arange(512, 65_536 + 1, 512)

_component = st.components.v2.component(
    "kv_picture",
    html=asset("kv_picture.html"),
    css=asset("range.css", "kv_picture.css"),
    js=asset("kv_picture.js"),
)


def kv_picture(*, key: str, unit: str, guess: float | None = None) -> None:
    """Draw it, with the reader's guess (in the unit) as a mark if there is one."""
    # In a list: Streamlit looks for data frames in a bare dict, and imports pandas for that, half a second at first.
    _component(key=key, data=[picture_data(unit, guess)])


def _note(requests: int, waiting: int) -> str:
    """Whether the requests run at once."""
    if waiting <= 0:
        return f"all {requests} run at once"
    return f"{waiting} of the {requests} wait{'s' if waiting == 1 else ''}"


def picture_data(unit: str, guess: float | None = None) -> dict[str, Any]:
    """What the browser needs: one table row for each context, and the words for it."""
    gpu, requests = load_accelerators()[GPU_ID], first_question.REQUESTS
    capacity, weights = gpu.hbm_bytes, first_question.weight_bytes()
    room = NUM_GPUS * capacity - weights
    cache = kv_bytes(first_question.model(), CONTEXTS, batch=requests)
    fits = max_batch(first_question.model(), CONTEXTS, free_bytes=room)
    sizes = [first_question.show(float(size) / BYTE_UNITS[unit], unit) for size in cache]
    notes = [_note(requests, requests - int(n)) for n in fits]
    guess_bytes = None if guess is None else guess * BYTE_UNITS[unit]
    return {
        "positions": [f"{context:,} tokens" for context in CONTEXTS],
        "start": int(np.searchsorted(CONTEXTS, first_question.CONTEXT)),
        "gpus": NUM_GPUS,
        "capacity": capacity,
        "weights": weights,
        "cache": cache.tolist(),
        "guess": guess_bytes,
        "words": {
            "size": f"KV cache of {requests} requests",
            "gpus": f"{NUM_GPUS} × {gpu.name}, sold as {gpu.hbm_label}: {show_bytes(capacity, unit)} each",
            "weights": f"weights {show_bytes(weights, unit)}",
            "full": f"full at {show_bytes(NUM_GPUS * capacity, unit)}",
            "guess": "" if guess is None else f"your guess: {first_question.show(guess, unit)}",
        },
        "sizes": sizes,
        "fits": [f"{n:,}" for n in fits],
        "notes": notes,
        "alt": [
            f"{context:,} tokens a request: {size} of cache beside the weights. {n:,} requests fit, {note}."
            for context, size, n, note in zip(CONTEXTS, sizes, fits, notes, strict=True)
        ],
        "colours": {scheme: {role: roles[role] for role in ("weights", "kv")} for scheme, roles in PALETTE.items()},
    }
