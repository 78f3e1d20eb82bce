"""The pictures of step 2: memory by ZeRO stage over GPUs, activations over sequence length, pipeline stages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from core.charts.live import LiveFigure, LiveSlider, Readout
from core.charts.memory import stacked_bars
from core.checks import Floats
from core.display import short, show_bytes, show_difference
from core.memory import TrainingMemory
from core.partition import ActivationSweep, Difference, Headline, PartitionSweep

STAGE_NAMES = ("no sharding", "ZeRO-1", "ZeRO-2", "ZeRO-3")
RECOMPUTE_NAMES = {"none": "no recompute", "selective": "selective", "full": "full"}


@lru_cache(maxsize=64)
def by_zero_stage(
    sweep: PartitionSweep,
    *,
    stage: int,
    gpus_per_replica: int,
    unit: str,
    zoom: bool,
    baseline: Headline | None,
) -> LiveFigure:
    """One bar for each ZeRO stage, live over the number of GPUs; kept, since the slider's place is no part of it.

    Args:
        sweep: memory over positions and stages.
        stage: the scenario's ZeRO stage.
        gpus_per_replica: GPUs that one data-parallel rank consists of.
        unit: "GB" or "GiB".
        zoom: end the axis a little beyond the memory line, so that what fits can be read.
        baseline: numbers to compare with, if some are pinned.
    """
    texts = [_gpus(ranks * gpus_per_replica, ranks, gpus_per_replica) for ranks in sweep.data_parallel]
    slider = LiveSlider("GPUs", texts)
    rows = [sweep.headline(index, stage) for index in range(len(texts))]
    pinned = [row.against(baseline) if baseline else None for row in rows]
    return stacked_bars(
        sweep.memory.parts_at_peak(),
        STAGE_NAMES,
        sweep.hbm_bytes,
        unit=unit,
        end_bytes=None if zoom else float(sweep.memory.peak_bytes.max()),
        bold=stage,
        slider=slider,
        readouts=(
            Readout(
                f"{STAGE_NAMES[stage]}: model states per GPU",
                [show_bytes(row.state_bytes, unit) for row in rows],
                [_against(row.state_bytes if row else None, unit) for row in pinned],
            ),
            Readout(
                "room at the peak",
                [_room(row, unit) for row in rows],
                [_room_note(*pair, unit) for pair in zip(rows, pinned, strict=True)],
                emphasis=True,
            ),
            Readout(
                "price: each GPU sends, a step",
                [show_bytes(row.traffic_bytes, unit) for row in rows],
                [_traffic_note(*pair, unit) for pair in zip(rows, pinned, strict=True)],
            ),
        ),
    )


@lru_cache(maxsize=64)
def by_recompute(sweep: ActivationSweep, *, recompute: str, unit: str, baseline: Headline | None) -> LiveFigure:
    """One bar for each way to recompute, live over the sequence length."""
    texts = [f"{tokens:,} tokens" for tokens in sweep.seq_len]
    names = list(sweep.memory)
    parts = [memory.parts_at_peak() for memory in sweep.memory.values()]
    stacked = {part: np.stack([row[part] for row in parts], axis=-1) for part in parts[0]}
    chosen = sweep.memory[recompute]
    return stacked_bars(
        stacked,
        [RECOMPUTE_NAMES[name] for name in names],
        sweep.hbm_bytes,
        unit=unit,
        bold=names.index(recompute),
        slider=LiveSlider("Sequence", texts),
        readouts=(
            Readout(
                "activations, fullest stage",
                [show_bytes(float(v), unit) for v in chosen.activation_bytes],
                [_against(difference, unit) for difference in sweep.activations_against(recompute, baseline)]
                if baseline
                else None,
                emphasis=True,
            ),
            Readout(
                "largest part",
                [sweep.largest_part(recompute, index) for index in range(len(texts))],
                [f"recompute {recompute}"] * len(texts),
            ),
        ),
    )


def by_pipeline_stage(memory: TrainingMemory, hbm_bytes: float, *, unit: str) -> LiveFigure:
    """One bar for each pipeline stage of the scenario: the first keeps most activations, the last holds the logits."""
    stages = memory.peak_bytes.shape[-1]
    parts = {name: values[None, :] for name, values in memory.parts_at_peak().items()}
    return stacked_bars(parts, [f"stage {index + 1}" for index in range(stages)], hbm_bytes, unit=unit)


def sweep_table(sweep: PartitionSweep, gpus_per_replica: int) -> dict[str, list[object]]:
    """The sweep as columns in bytes, one row for each position and stage: what the chart shows, for a spreadsheet."""
    shape = sweep.memory.peak_bytes.shape
    ranks = np.repeat(sweep.data_parallel, shape[1])
    columns: dict[str, Sequence[object] | Floats] = {
        "gpus": ranks * gpus_per_replica,
        "data_parallel": ranks,
        "zero_stage": np.tile(np.arange(shape[1]), shape[0]),
        **{f"{name}_bytes": values.ravel() for name, values in sweep.memory.parts_at_peak().items()},
        "peak_bytes": sweep.memory.peak_bytes.ravel(),
        "traffic_bytes": np.broadcast_to(sweep.traffic_bytes, shape).ravel(),
        "largest_params": np.broadcast_to(sweep.largest_params, shape).ravel(),
    }
    return {name: np.asarray(values).tolist() for name, values in columns.items()}


def activation_table(sweep: ActivationSweep) -> dict[str, list[object]]:
    """Activations over sequence length as columns in bytes, for a spreadsheet."""
    columns: Mapping[str, object] = {
        "seq_len": np.tile(sweep.seq_len, len(sweep.memory)),
        "recompute": np.repeat(list(sweep.memory), len(sweep.seq_len)),
        "activation_bytes": np.concatenate([m.activation_bytes for m in sweep.memory.values()]),
        "peak_bytes": np.concatenate([m.peak_bytes for m in sweep.memory.values()]),
    }
    return {name: np.asarray(values).tolist() for name, values in columns.items()}


def _gpus(gpus: int, ranks: int, per_replica: int) -> str:
    count = f"{gpus:,} GPU" + ("s" if gpus > 1 else "")
    return count if per_replica == 1 else f"{count} ({ranks:,} x {per_replica:,})"


def _against(difference: float | None, unit: str) -> str:
    return "" if difference is None else f"{show_difference(difference, unit)} against pinned"


def _room(row: Headline, unit: str) -> str:
    return show_bytes(row.room_bytes, unit) if row.fits else f"{show_bytes(row.over_bytes, unit)} over"


def _room_note(row: Headline, pinned: Difference | None, unit: str) -> str:
    verdict = "it fits" if row.fits else "it does not fit"
    if row.peaks_in_step:
        verdict += "; the optimizer step is the peak"
    if pinned is None:
        return verdict
    before = "" if pinned.fitted == row.fits else (" (did not fit)" if row.fits else " (fitted)")
    return f"{verdict}; {_against(pinned.room_bytes, unit)}{before}"


def _traffic_note(row: Headline, pinned: Difference | None, unit: str) -> str:
    price = f"{short(row.traffic_ratio)} x plain data parallel" if row.traffic_ratio else "nothing to exchange"
    return price if pinned is None else f"{price}; {_against(pinned.traffic_bytes, unit)}"
