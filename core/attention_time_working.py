"""Derivations of step 4's time floors, tiles, launches and caches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from core.attention import ELEMENT_BYTES, IoSweep, TileSweep, over_seq_len
from core.attention_cost import Chip, Method, tiled_flops, unfused_kernels
from core.attention_kinds import LONG, Kind
from core.attention_shapes import AttentionShape
from core.decode_launches import LaunchRow
from core.kv_working import kv_working
from core.launches_working import step_working
from core.scenario import ServingScenario, TrainingScenario
from core.working import Term, Working, number, product

_PAPER = "Dao et al. 2022, arXiv:2205.14135"


def time_workings(scenario: TrainingScenario) -> list[Working]:
    """Time floors of one layer, forward and backward: each kernel's longer limit."""
    sweep = over_seq_len(scenario)
    if sweep is None:
        return []
    index, batch = sweep.seq_len.index(scenario.seq_len), scenario.micro_batch_size
    chip = Chip.of(scenario.accelerator)
    return [
        _time("unfused", _chain(sweep.shape, scenario.seq_len, batch), chip, sweep, index, scenario),
        *(
            _time(method, _tiled_kernels(sweep, index, batch, method), chip, sweep, index, scenario)
            for method in ("tiled", "tiled, no mask")
        ),
    ]


def tile_workings(scenario: TrainingScenario, sweep: TileSweep) -> list[Working]:
    """The largest tile, and the traffic with it."""
    over = over_seq_len(scenario)
    assert over is not None, "a model with a tile sweep has attention"
    shape = over.shape
    width = f"({shape.head_dim} + {shape.v_head_dim})"
    rows = sweep.limit_bytes / (2 * ELEMENT_BYTES * (shape.head_dim + shape.v_head_dim))
    at = sweep.rows[sweep.largest]
    need = float(sweep.sram_bytes[sweep.largest])
    return [
        Working(
            name="Rows of the largest tile of keys",
            formula="M / (2 × bytes × (width of keys + width of values)), rounded down to whole rows",
            terms=(Term("rows", f"{number(sweep.limit_bytes)} / (2 × {ELEMENT_BYTES} × {width})", rows, "rows"),),
            value=rows,
            unit="rows",
            assumptions=(
                "queries, keys, values and outputs share the memory evenly",
                "current kernels keep outputs in registers, so their tiles differ",
            ),
            source=f"{_PAPER}, algorithm 1; M: {scenario.accelerator.source}" if sweep.limit_known else _PAPER,
        ),
        Working(
            name=f"On-chip memory of a tile of {at} rows",
            formula="2 × bytes × rows × (width of keys + width of values)",
            terms=(Term("Q, K, V and O", product(2, ELEMENT_BYTES, at, width), need, "bytes"),),
            value=need,
            unit="bytes",
            assumptions=("one tile each of queries, keys, values and outputs, 16-bit",),
            source=f"{_PAPER}, algorithm 1",
        ),
    ]


def launch_workings(rows: tuple[LaunchRow, ...]) -> list[Working]:
    """One derivation for each way to launch a decode step."""
    return [
        replace(working, name=f"{working.name}: {row.name}")
        for row in rows
        for working in [step_working(row.work_s, row.kernels, launch_s=row.launch_s, source=row.launch_source)]
    ]


def kind_workings(kinds: tuple[Kind, ...], scenario: ServingScenario) -> list[Working]:
    """The growing cache of each kind at 32,768 tokens."""
    return [
        kv_working(kind.model, LONG, kv_dtype=scenario.kv_dtype, indexer="included")
        for kind in kinds
        if kind.first_token_bytes
    ]


Kernel = tuple[str, float, float]  # name, FLOPs, bytes


def _chain(shape: AttentionShape, n: int, batch: int) -> Iterator[Kernel]:
    for backward in (False, True):
        for kernel in unfused_kernels(shape, n, batch=batch, backward=backward):
            yield kernel.label, float(kernel.flops), float(kernel.moved_bytes)


def _tiled_kernels(sweep: IoSweep, index: int, batch: int, method: Method) -> Iterator[Kernel]:
    for name, cost, backward in (("forward", sweep.forward, False), ("backward", sweep.backward, True)):
        flops = tiled_flops(sweep.shape, sweep.seq_len[index], batch=batch, backward=backward, causal=method == "tiled")
        yield name, float(flops), float(cost[method].least_bytes[index])


def _time(
    method: Method, kernels: Iterator[Kernel], chip: Chip, sweep: IoSweep, index: int, scenario: TrainingScenario
) -> Working:
    terms = []
    for name, flops, moved in kernels:
        moving = moved / chip.bytes_per_s
        computing = flops / chip.flops_per_s if chip.flops_per_s else 0.0
        if computing > moving:
            terms.append(
                Term(f"{name}: computing", f"{number(flops)} / {number(chip.flops_per_s or 0)}", computing, "s")
            )
        else:
            terms.append(Term(f"{name}: moving", f"{number(moved)} / {number(chip.bytes_per_s)}", moving, "s"))
    mask = {"unfused": "the mask hides nothing from the chain", "tiled": "causal: masked tiles are skipped"}
    return Working(
        name=f"Time floor of one layer, {method}, forward and backward",
        formula="each kernel: the longer of FLOPs / peak and bytes / bandwidth, added up",
        terms=tuple(terms),
        value=float(sweep.both(method).time_s[index]),
        unit="s",
        assumptions=(
            mask.get(method, "no mask: every tile is computed"),
            "dense peak and pin rate; exponentials and launches left out"
            if chip.flops_per_s
            else "memory alone: no 16-bit peak is confirmed",
            *(() if method == "unfused" else ("caches catch every reread of a tile",)),
        ),
        source=f"{_PAPER}; numbers: {scenario.accelerator.source}",
    )
