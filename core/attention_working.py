"""Derivations of the headline numbers of step 4: traffic, memory, time floors, tiles, launches and caches."""

from __future__ import annotations

import numpy as np

from core.attention import ELEMENT_BYTES, IoSweep, over_seq_len
from core.attention_cost import Chip, Method
from core.attention_io import (
    BACKWARD_PASSES,
    FORWARD_PASSES,
    STATISTIC_BYTES,
    tile_sizes,
    tile_visits,
)
from core.attention_io_working import score_working
from core.attention_shapes import AttentionShape
from core.scenario import TrainingScenario
from core.working import Term, Working, number, product

_PAPER = "Dao et al. 2022, arXiv:2205.14135"


def io_workings(scenario: TrainingScenario) -> list[Working]:
    """Scores, traffic and memory of one layer at the scenario's length."""
    sweep = over_seq_len(scenario)
    if sweep is None:
        return []
    index, batch = sweep.seq_len.index(scenario.seq_len), scenario.micro_batch_size
    chip = Chip.of(scenario.accelerator)
    return [
        score_working(scenario.seq_len, heads=sweep.shape.heads, batch=batch),
        _unfused_traffic(sweep, index, batch),
        _tiled_traffic(sweep, index, batch, chip.sram_bytes),
        _least_traffic(sweep, index, batch),
        _extra(sweep, index, batch, "unfused"),
        _extra(sweep, index, batch, "tiled"),
    ]


def _unfused_traffic(sweep: IoSweep, index: int, batch: int) -> Working:
    n, shape = sweep.seq_len[index], sweep.shape
    passes = FORWARD_PASSES + BACKWARD_PASSES
    entries = product(passes, ELEMENT_BYTES, batch, shape.heads, n, n)
    vectors = product(3, ELEMENT_BYTES, batch, n, _all_widths(shape))
    terms = (
        Term("passes over the scores", entries, passes * ELEMENT_BYTES * batch * shape.heads * n * n, "bytes"),
        Term("Q, K, V and O", vectors, 3.0 * ELEMENT_BYTES * batch * n * _width_sum(shape), "bytes"),
    )
    return _bytes(
        "Traffic of one layer, unfused, forward and backward",
        "(4 + 7) passes × bytes × sequences × heads × N² + 3 × bytes × sequences × N × widths of all Q, K, V and O",
        terms,
        float(sweep.both("unfused").moved_bytes[index]),
        ("every step of the chain is a kernel of its own", "no added mask, no dropout; caches left out"),
        f"{_PAPER}, algorithms 0 and 3",
    )


def _tiled_traffic(sweep: IoSweep, index: int, batch: int, sram: int) -> Working:
    shape, n = sweep.shape, sweep.seq_len[index]
    length, chunks, window = n, "", shape.window
    times = 1.0
    if shape.chunked and shape.window is not None:
        length, window = min(n, shape.window), None
        times, chunks = n / length, f"{n} / {length} × "
    visits = float(
        tile_visits(length, shape.head_dim, v_head_dim=shape.v_head_dim, sram_bytes=sram, causal=True, window=window)
    )
    keys = shape.kv_heads * (shape.head_dim + shape.v_head_dim)
    queries = shape.heads * (shape.head_dim + shape.v_head_dim)
    each = ELEMENT_BYTES * batch * length * times
    width = f"({shape.head_dim} + {shape.v_head_dim})"
    count = product(ELEMENT_BYTES, batch, length)
    terms = (
        Term(
            "K, V, dK and dV",
            f"{chunks}{product(3)} × {count} × {product(shape.kv_heads, width)}",
            3 * each * keys,
            "bytes",
        ),
        Term(
            "Q, O and their gradients",
            f"{chunks}{number(visits)} × {product(4)} × {count} × {product(shape.heads, width)}",
            4 * visits * each * queries,
            "bytes",
        ),
        Term(
            "softmax statistics",
            f"{chunks}{number(visits)} × {product(6, STATISTIC_BYTES, batch, shape.heads, length)}",
            6.0 * visits * STATISTIC_BYTES * batch * shape.heads * length * times,
            "bytes",
        ),
    )
    rows = min(float(tile_sizes(shape.head_dim, sram, v_head_dim=shape.v_head_dim).key_rows), length)
    return _bytes(
        "Traffic of one layer, tiled, forward and backward",
        "3 × keys and values + visits × 4 × queries and outputs + visits × 6 × fp32 statistics",
        terms,
        float(sweep.both("tiled").moved_bytes[index]),
        (
            f"tiles of {number(rows)} keys in {number(sram)} bytes on the chip: a tile of queries meets"
            f" {visits:.4g} of {int(np.ceil(length / rows)):,} on average, the mask hides the rest",
            "caches left out",
        ),
        f"{_PAPER}, algorithms 1 and 4",
    )


def _least_traffic(sweep: IoSweep, index: int, batch: int) -> Working:
    shape, n = sweep.shape, sweep.seq_len[index]
    widths, sizes = _all_widths(shape), _width_sum(shape)
    terms = (
        Term(
            "Q, K, V, O and gradients",
            product(3, ELEMENT_BYTES, batch, n, widths),
            3.0 * ELEMENT_BYTES * batch * n * sizes,
            "bytes",
        ),
        Term(
            "softmax statistics",
            product(2, STATISTIC_BYTES, batch, shape.heads, n),
            2.0 * STATISTIC_BYTES * batch * shape.heads * n,
            "bytes",
        ),
    )
    return _bytes(
        "Traffic of one layer, tiled, if caches catch every reread",
        "3 × bytes × sequences × N × widths of all Q, K, V and O + 2 × fp32 statistics",
        terms,
        float(sweep.both("tiled").least_bytes[index]),
        ("each operand moves once in each pass; dO, dQ, dK and dV have the sizes of O, Q, K and V",),
        "each operand counted once",
    )


def _extra(sweep: IoSweep, index: int, batch: int, method: Method) -> Working:
    shape, n = sweep.shape, sweep.seq_len[index]
    output = Term(
        "output",
        product(ELEMENT_BYTES, batch, shape.heads, n, shape.v_head_dim),
        float(ELEMENT_BYTES * batch * shape.heads * n * shape.v_head_dim),
        "bytes",
    )
    rest = (
        Term(
            "scores and softmax",
            product(2, ELEMENT_BYTES, batch, shape.heads, n, n),
            2.0 * ELEMENT_BYTES * batch * shape.heads * n * n,
            "bytes",
        )
        if method == "unfused"
        else Term(
            "a statistic a row",
            product(STATISTIC_BYTES, batch, shape.heads, n),
            float(STATISTIC_BYTES * batch * shape.heads * n),
            "bytes",
        )
    )
    return _bytes(
        f"Memory beside Q, K and V, {method}, one layer forward",
        "output + scores + softmax" if method == "unfused" else "output + a statistic a row",
        (output, rest),
        float(sweep.extra_bytes[method][index]),
        ("scores and softmax are held at the same time",) if method == "unfused" else ("scores stay on the chip",),
        f"{_PAPER}, theorem 1",
    )


def _all_widths(shape: AttentionShape) -> str:
    """Elements of Q, O, K and V of one token, as an expression in brackets."""
    return (
        f"({shape.heads} × {shape.head_dim} + {shape.heads} × {shape.v_head_dim}"
        f" + {shape.kv_heads} × {shape.head_dim} + {shape.kv_heads} × {shape.v_head_dim})"
    )


def _width_sum(shape: AttentionShape) -> float:
    return float((shape.heads + shape.kv_heads) * (shape.head_dim + shape.v_head_dim))


def _bytes(
    name: str, formula: str, terms: tuple[Term, ...], value: float, assumptions: tuple[str, ...], source: str
) -> Working:
    return Working(name, formula, terms, value, "bytes", assumptions, source)
