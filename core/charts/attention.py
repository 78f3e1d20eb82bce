"""The pictures of step 4: traffic and memory of attention over length, and traffic over the size of a tile."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.attention import Headline, IoSweep, TileSweep
from core.charts.byte_lines import axis, byte_axis, level, log_figure
from core.charts.live import LiveFigure, LiveSlider, Readout
from core.charts.over_picture import Limit
from core.checks import Floats
from core.display import digits, show_bytes, show_difference
from core.units import KIB

TRAFFIC, MEMORY = "traffic", "memory"


@lru_cache(maxsize=64)
def over_length(
    sweep: IoSweep, *, view: str, fused: bool, unit: str, gpu: str, baseline: Headline | None
) -> LiveFigure:
    """Bytes of one layer over sequence length, on logarithmic axes, with a mark at the slider's place.

    Args:
        sweep: costs over length.
        view: :data:`TRAFFIC`, forward and backward, or :data:`MEMORY`, forward.
        fused: whether the scenario has a tiled kernel: which readout is the one that counts.
        unit: "GB" or "GiB".
        gpu: the accelerator's name, beside the line of its memory.
        baseline: numbers to compare with, if some are pinned.
    """
    rows = [sweep.headline(index) for index in range(len(sweep.seq_len))]
    if view == TRAFFIC:
        lines = [
            ("unfused", "activations", sweep.both("unfused").moved_bytes),
            ("tiled, no help from caches", "accent", sweep.both("tiled").moved_bytes),
            ("tiled, every reread cached", "muted", sweep.both("tiled").least_bytes),
        ]
        title = "bytes moved, forward and backward"
    else:
        lines = [
            ("unfused", "activations", sweep.extra_bytes["unfused"]),
            ("tiled", "accent", sweep.extra_bytes["tiled"]),
        ]
        title = "bytes held beside Q, K and V"
    n = np.array(sweep.seq_len, dtype=np.float64)
    ticks = [512 * 8**k for k in range(4)]
    figure, dots = log_figure(n, lines, unit)
    held = Limit(sweep.memory_bytes, f"{show_bytes(sweep.memory_bytes, unit)} of {gpu}", axis="y")
    figure["layout"] |= {
        "xaxis": axis("tokens", [int(t) for t in ticks], [_tokens(t) for t in ticks], n),
        "yaxis": byte_axis(title, np.concatenate([line[2] for line in lines]), unit),
    }
    pinned = [row.against(baseline) if baseline else None for row in rows]
    readouts = (
        Readout(
            "unfused moves, one layer",
            [show_bytes(row.unfused_bytes, unit) for row in rows],
            [_against(row.unfused_bytes if row else None, unit, "forward and backward") for row in pinned],
            emphasis=not fused,
        ),
        Readout(
            "tiled moves",
            [show_bytes(row.tiled_bytes, unit) for row in rows],
            [_tiled_note(*pair, unit) for pair in zip(rows, pinned, strict=True)],
            emphasis=fused,
        ),
        Readout(
            "scores held, unfused",
            [show_bytes(row.unfused_extra_bytes, unit) for row in rows],
            [_extra_note(*pair, unit) for pair in zip(rows, pinned, strict=True)],
        ),
    )
    positions = [f"{tokens:,} tokens" for tokens in sweep.seq_len]
    alt = [
        f"{position}: unfused attention of one layer moves {show_bytes(row.unfused_bytes, unit)} forward and backward,"
        f" tiled between {show_bytes(row.least_bytes, unit)} and {show_bytes(row.tiled_bytes, unit)};"
        f" beside Q, K and V it holds {show_bytes(row.unfused_extra_bytes, unit)} or, tiled,"
        f" {show_bytes(row.tiled_extra_bytes, unit)}."
        for position, row in zip(positions, rows, strict=True)
    ]
    limits = (held,) if view == MEMORY else ()
    return LiveFigure(
        figure, slider=LiveSlider("Sequence", positions), readouts=readouts, alt=alt, limits=limits, dots=dots
    )


@lru_cache(maxsize=64)
def over_tiles(sweep: TileSweep, *, unit: str, chip: str) -> LiveFigure:
    """Tiled traffic over the on-chip memory that tiles fill, with the line of what a block may take."""
    kib = sweep.sram_bytes / KIB
    limit = sweep.limit_bytes / KIB
    lines = [("tiled, no help from caches", "accent", sweep.moved_bytes)]
    figure, dots = log_figure(kib, lines, unit)
    ends = np.array([min(kib[0], limit), max(kib[-1], limit)])
    levels = (
        (sweep.unfused_bytes, "unfused", "activations"),
        (sweep.least_bytes, "every reread cached", "muted"),
    )
    for height, name, role in levels:
        figure["data"].append(level(ends, height, name, role))
    values = np.concatenate([sweep.moved_bytes, [sweep.unfused_bytes, sweep.least_bytes]])
    ticks = [4.0 * 2**k for k in range(10)]
    figure["layout"] |= {
        "xaxis": axis("KiB on the chip, for Q, K, V and O", ticks, [f"{tick:g}" for tick in ticks], ends),
        "yaxis": byte_axis("bytes moved, forward and backward", values, unit),
    }
    fits = [bool(need <= sweep.limit_bytes) for need in sweep.sram_bytes]
    over = [f"{digits((need - sweep.limit_bytes) / KIB)} KiB over" for need in sweep.sram_bytes]
    positions = [f"{rows} rows" for rows in sweep.rows]
    needs = [f"{digits(need)} KiB" for need in kib]
    moved = [show_bytes(float(value), unit) for value in sweep.moved_bytes]
    readouts = (
        Readout(
            "on the chip",
            needs,
            ["it fits" if ok else f"does not fit: {words}" for ok, words in zip(fits, over, strict=True)],
            emphasis=True,
        ),
        Readout(
            "tiled moves, one layer",
            moved,
            [_times(sweep.unfused_bytes, float(value)) for value in sweep.moved_bytes],
        ),
        Readout(
            "tiles of keys",
            [f"{int(count):,}" for count in sweep.tiles],
            [f"in {sweep.seq_len:,} tokens"] * len(sweep.rows),
        ),
    )
    alt = [
        f"Tiles of {position}: {need} on the chip, which {'fits' if ok else 'does not fit'} into {digits(limit)} KiB;"
        f" one layer moves {bytes_moved} forward and backward, unfused {show_bytes(sweep.unfused_bytes, unit)}."
        for position, need, ok, bytes_moved in zip(positions, needs, fits, moved, strict=True)
    ]
    return LiveFigure(
        figure,
        slider=LiveSlider("Tile of keys", positions, index=sweep.largest),
        readouts=readouts,
        alt=alt,
        limits=(Limit(limit, f"{digits(limit)} KiB: {chip}"),),
        dots=dots,
    )


def length_table(sweep: IoSweep) -> dict[str, list[object]]:
    """The first picture's data in bytes, for a spreadsheet: one layer, forward and backward."""
    columns: dict[str, Sequence[object] | Floats] = {
        "seq_len": sweep.seq_len,
        "unfused_bytes": sweep.both("unfused").moved_bytes,
        "tiled_causal_bytes": sweep.both("tiled").moved_bytes,
        "tiled_rereads_cached_bytes": sweep.both("tiled").least_bytes,
        "unfused_held_bytes": sweep.extra_bytes["unfused"],
        "tiled_held_bytes": sweep.extra_bytes["tiled"],
    }
    return {name: np.asarray(values).tolist() for name, values in columns.items()}


def tile_table(sweep: TileSweep) -> dict[str, list[object]]:
    """The second picture's data in bytes, for a spreadsheet."""
    columns: dict[str, Sequence[object] | NDArray[Any]] = {
        "rows": sweep.rows,
        "on_chip_bytes": sweep.sram_bytes,
        "fits": sweep.sram_bytes <= sweep.limit_bytes,
        "tiled_causal_bytes": sweep.moved_bytes,
        "tiles_of_keys": sweep.tiles,
    }
    return {name: np.asarray(values).tolist() for name, values in columns.items()}


def _tokens(count: int) -> str:
    return str(count) if count < 1024 else f"{count // 1024}k"


def _against(difference: float | None, unit: str, otherwise: str) -> str:
    return otherwise if difference is None else f"{show_difference(difference, unit)} against pinned"


def _tiled_note(row: Headline, pinned: Headline | None, unit: str) -> str:
    note = f"{_times(row.unfused_bytes, row.tiled_bytes)}; {show_bytes(row.least_bytes, unit)} if rereads are cached"
    return note if pinned is None else f"{note}; {_against(pinned.tiled_bytes, unit, '')}"


def _times(unfused: float, tiled: float) -> str:
    if tiled > unfused:
        return f"{digits(tiled / unfused)} x unfused"
    return f"{digits(unfused / tiled)} x less than unfused"


def _extra_note(row: Headline, pinned: Headline | None, unit: str) -> str:
    note = f"tiled {show_bytes(row.tiled_extra_bytes, unit)}"
    if row.over_bytes:
        note += f"; {show_bytes(row.over_bytes, unit)} more than the GPU has"
    return note if pinned is None else f"{note}; {_against(pinned.unfused_extra_bytes, unit, '')}"
