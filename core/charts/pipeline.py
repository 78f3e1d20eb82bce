"""A pipeline's schedule as the browser draws it: boxes of passes, numbers and words for each position of the slider."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from core.charts.theme import PALETTE
from core.display import show_count, show_percent
from core.pipeline_drawing import PipelineDrawing
from core.pipeline_schedule import Schedule

KIND_WORDS = {"gpipe": "GPipe", "1f1b": "1F1B", "interleaved": "interleaved", "zb-h1": "zero-bubble"}
_PASS_WORDS = {"forward": "forward pass", "backward": "backward pass", "weight": "weights' gradient, put off"}


@lru_cache(maxsize=64)
def pipeline_figure(drawing: PipelineDrawing) -> Mapping[str, Any]:
    """Everything the picture needs, as JSON values; kept, since the slider's place is no part of it."""
    places = range(len(drawing.micro_batches))
    different = list(dict.fromkeys(drawing.drawn))
    phases = [phase for phase in _PASS_WORDS if phase != "weight" or drawing.kind == "zb-h1"]
    return {
        "positions": [f"{count:,} micro-batch{'es' if count > 1 else ''}" for count in drawing.micro_batches],
        # Several positions may share one drawing, where more could not be seen.
        "schedules": [_boxes(schedule) for schedule in different],
        "which": [different.index(schedule) for schedule in drawing.drawn],
        "drawn": [_drawn_in_words(drawing, place) for place in places],
        "key": [*((phase, _PASS_WORDS[phase]) for phase in phases), ("idle", "bubble: the stage waits")],
        "readouts": [
            {
                "label": "idle, of the whole step",
                "values": [show_percent(share) for share in drawing.of_total],
                "notes": ["what a timeline shows"] * len(places),
            },
            {
                "label": "idle, over the ideal time",
                "values": [show_percent(share) for share in drawing.of_ideal],
                "notes": ["what papers quote"] * len(places),
            },
            {
                "label": "micro-batches kept by stage 1",
                "values": [show_count(kept) for kept in drawing.kept],
                "notes": ["their activations wait for the backward pass"] * len(places),
            },
        ],
        "alt": [_alt(drawing, place) for place in places],
        "colours": {
            scheme: {role: roles[role] for role in ("activations", "gradients", "weights")}
            for scheme, roles in PALETTE.items()
        },
    }


def _boxes(schedule: Schedule) -> dict[str, Any]:
    """Passes as flat lists of row, start, length and micro-batch, times in chunks of a forward pass."""
    unit = schedule.virtual_stages
    passes: dict[str, list[int]] = {}
    for slot in schedule.slots:
        start, end = round(slot.start * unit), round(slot.end * unit)
        passes.setdefault(slot.phase, []).extend((slot.stage, start, end - start, slot.micro_batch + 1))
    names = [f"stage {stage + 1}" for stage in range(schedule.stages)]
    return {"length": round(schedule.length * unit), "names": names, "passes": passes}


def _drawn_in_words(drawing: PipelineDrawing, place: int) -> str:
    if not drawing.scaled(place):
        return ""
    shown = drawing.drawn[place]
    chunks = f" of {shown.virtual_stages} chunks" if shown.virtual_stages > 1 else ""
    return (
        f"Drawn smaller: {shown.stages} stages{chunks} and {shown.micro_batches} micro-batches. "
        "The numbers are those of the whole pipeline."
    )


def _alt(drawing: PipelineDrawing, place: int) -> str:
    chunks = f" of {drawing.virtual_stages} chunks each" if drawing.virtual_stages > 1 else ""
    return (
        f"{KIND_WORDS[drawing.kind]} schedule, {drawing.stages:,} stages{chunks},"
        f" {drawing.micro_batches[place]:,} micro-batches: each stage is idle for"
        f" {show_percent(drawing.of_total[place])} of the step, {show_percent(drawing.of_ideal[place])} over the ideal"
        f" time. Stage 1 keeps activations of {show_count(drawing.kept[place])} micro-batches."
    )
