"""What pictures of one run of our own benchmark show, beyond what every profile has.

Bandwidth over size, attention's two curves, kernels beside their launch, the host's link. A result comes as plain
values, as in :mod:`core.own_profile`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from core.checks import Floats
from core.display import digits, show_rate
from core.own_entry import Entry, median_s

GHZ = 10**9
VARIANTS = ("unfused", "fused")
_VECTOR_WORDS = {
    "norm": "norm",
    "heads": "rotary positions",
    "swiglu": "SwiGLU",
    "add": "residual sum",
    "append": "cache write",
}


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """Medians with their spread over one size; all columns have the shape (sizes,)."""

    name: str
    x: Floats
    median: Floats
    low: Floats  # p10 of a time, or the rate at its p90
    high: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Bandwidth:
    """Memory and cache bandwidth over the size of a buffer."""

    curves: tuple[Band, ...]  # copy, read, write; [bytes/s] over [bytes]
    cache_bytes: float  # last-level cache
    datasheet_bytes_per_s: float | None

    @property
    def memory_bytes_per_s(self) -> dict[str, float]:
        """By curve the rate at its largest buffer, which no cache holds if :attr:`beyond_cache`. [bytes/s]"""
        return {curve.name: float(curve.median[-1]) for curve in self.curves}

    @property
    def beyond_cache(self) -> bool:
        """Whether the largest buffer of every curve is larger than the last-level cache."""
        return all(float(curve.x[-1]) > self.cache_bytes for curve in self.curves)


@dataclass(frozen=True, slots=True, eq=False)
class AttentionPair:
    """Causal attention over the sequence length, written out and fused."""

    direction: str  # forward, or training: with the backward pass
    heads: str
    seconds: dict[str, Band]  # by variant
    peak_bytes: dict[str, tuple[Floats, Floats]]  # by variant, lengths and bytes; only what was counted
    missing: tuple[str, ...]  # why points are missing, in sentences

    @property
    def speedup(self) -> tuple[Floats, Floats]:
        """Lengths that both were measured at, and how many times faster the fused kernel is there. [-]"""
        if len(self.seconds) < len(VARIANTS):
            return np.zeros(0), np.zeros(0)
        slow, fast = (self.seconds[variant] for variant in VARIANTS)
        x = np.intersect1d(slow.x, fast.x)
        return x, slow.median[np.isin(slow.x, x)] / fast.median[np.isin(fast.x, x)]


@dataclass(frozen=True, slots=True)
class LaunchedKernel:
    """A kernel of a small decode step."""

    name: str
    seconds: float


@dataclass(frozen=True, slots=True)
class LaunchView:
    """What a launch takes beside what it launches."""

    eager_s: float | None  # from one tiny kernel to the next, launched one by one
    graph_s: float | None  # the same inside a graph
    kernels: tuple[LaunchedKernel, ...]  # of the smallest decode step, longest first
    steps: tuple[tuple[str, float, float], ...]  # a decode step: which, launched one by one, from a graph [s]

    @property
    def shorter(self) -> int:
        """Kernels that take less time than their launch."""
        return sum(kernel.seconds < (self.eager_s or 0.0) for kernel in self.kernels)


@dataclass(frozen=True, slots=True)
class HostRow:
    """A transfer between host and device."""

    direction: str
    pinned: bool
    num_bytes: int
    seconds: float

    @property
    def bytes_per_s(self) -> float:
        """Its rate. [bytes/s]"""
        return self.num_bytes / self.seconds


def bandwidth(result: Entry, datasheet_bytes_per_s: float | None = None) -> Bandwidth | None:
    """Copies, reads and writes; None where none was measured."""
    found: dict[str, list[Entry]] = defaultdict(list)
    for one in _of(result, "copy"):
        if one.get("bytes"):
            found[one["op"]].append(one)
    curves = tuple(_rate_band(op, entries) for op, entries in found.items())
    return Bandwidth(curves, float(result["system"]["cache_bytes"]), datasheet_bytes_per_s) if curves else None


def attention_pairs(result: Entry) -> tuple[AttentionPair, ...]:
    """One pair for each direction and shape of heads of which something was measured."""
    groups: dict[tuple[str, str], dict[str, list[Entry]]] = defaultdict(lambda: defaultdict(list))
    for one in _of(result, "attention"):
        heads = f"{one['num_heads']} heads over {one['num_kv_heads']} of {one['head_dim']}, {one['dtype']}"
        groups[one["direction"], heads][one["variant"]].append(one)
    skipped = dict.fromkeys(
        f"{one['item']}: {one['reason']}." for one in result["skipped"] if one["item"].startswith("attention ")
    )
    return tuple(
        AttentionPair(
            direction,
            heads,
            {variant: _time_band(variant, variants[variant], "seq_len") for variant in VARIANTS if variants[variant]},
            {variant: peaks for variant in VARIANTS if (peaks := _peaks(variants[variant])) is not None},
            tuple(text for text in skipped if direction in text),
        )
        for (direction, heads), variants in sorted(groups.items(), key=lambda group: group[0][0])
    )


def launch_view(result: Entry) -> LaunchView | None:
    """Launches, the kernels of the smallest decode step, and steps in both modes; None where nothing was measured."""
    eager, graph = (
        next((median_s(one) for one in _of(result, "launch") if one["mode"] == mode), None)
        for mode in ("eager", "graph")
    )
    kernels = _decode_kernels(result)
    modes: dict[tuple[str, int, int], dict[str, float]] = defaultdict(dict)
    for one in _of(result, "step"):
        if one["phase"] == "decode":
            modes[one["model"], one["batch"], one["seq_len"]][one["mode"]] = median_s(one)
    steps = tuple(
        (f"{model}, batch {batch:,}, context {context:,}", both["eager"], both["graph"])
        for (model, batch, context), both in modes.items()
        if len(both) == len(("eager", "graph"))
    )
    if eager is None and graph is None:
        return None
    return LaunchView(eager, graph, tuple(sorted(kernels, key=lambda kernel: -kernel.seconds)), steps)


def host_rows(result: Entry) -> tuple[HostRow, ...]:
    """Transfers between host and device, in the order of their size."""
    rows = (
        HostRow(one["direction"], one["pinned"], one["buffer_bytes"], median_s(one)) for one in _of(result, "host_link")
    )
    return tuple(sorted(rows, key=lambda row: (row.direction, not row.pinned, row.num_bytes)))


def shapes_of(result: Entry, dtype: str) -> tuple[tuple[int, int], ...]:
    """Weight matrices (n, k) whose forward products were measured in a format."""
    rows = [one for one in _of(result, "matmul") if one["role"] == "forward" and one["dtype"] == dtype]
    return tuple(dict.fromkeys((one["n"], one["k"]) for one in rows))


def product_note(result: Entry, dtype: str) -> str:
    """What the record proves about its products: the plain calls beside them, and what limited the card.

    Empty where the run compared no plain call in this format.
    """
    plain = [one for one in _of(result, "reference") if one.get("flops") and one.get("dtype") == dtype]
    if not plain:
        return ""
    best = min(plain, key=median_s)
    m, n, k = (best[name] for name in ("m", "n", "k"))
    rate = show_rate(best["flops"] / median_s(best), "FLOP")
    said = [
        f"In the same run the best plain PyTorch call, {best['call']}, reached {rate} at {m:,} rows by {n:,} x {k:,}"
    ]
    own = [
        one
        for one in _of(result, "matmul")
        if (one["m"], one["n"], one["k"], one["dtype"], one["role"]) == (m, n, k, dtype, "forward")
    ]
    if own:
        said.append(f", our own measurement there {show_rate(own[0]['flops'] / median_s(own[0]), 'FLOP')}")
    system = result["system"]
    if system["power_limit_w"] and system["max_clock_hz"]:
        said.append(
            f". The record holds the card's power limit, {system['power_limit_w']:,.0f} W, and its highest clock, "
            f"{digits(system['max_clock_hz'] / GHZ)} GHz, but not the clock and power at which products ran, so it "
            "cannot say how much of the gap to the datasheet they make"
        )
    return f"{''.join(said)}."


def _of(result: Entry, kind: str) -> list[Entry]:
    return [one for one in result["measurements"] if one["kind"] == kind]


def _rate_band(name: str, entries: Iterable[Entry]) -> Band:
    rows = sorted(entries, key=lambda one: one["buffer_bytes"])
    moved = np.array([float(one["bytes"]) for one in rows])
    times = {field: np.array([one["time"][field] for one in rows]) for field in ("median_s", "p10_s", "p90_s")}
    x = np.array([float(one["buffer_bytes"]) for one in rows])
    return Band(name, x, moved / times["median_s"], moved / times["p90_s"], moved / times["p10_s"])


def _time_band(name: str, entries: Iterable[Entry], over: str) -> Band:
    rows = sorted(entries, key=lambda one: one[over])
    x = np.array([float(one[over]) for one in rows])
    return Band(name, x, *(np.array([one["time"][field] for one in rows]) for field in ("median_s", "p10_s", "p90_s")))


def _peaks(entries: Iterable[Entry]) -> tuple[Floats, Floats] | None:
    rows = sorted((one for one in entries if one.get("peak_bytes")), key=lambda one: one["seq_len"])
    if not rows:
        return None
    return np.array([float(one["seq_len"]) for one in rows]), np.array([float(one["peak_bytes"]) for one in rows])


def _decode_kernels(result: Entry) -> list[LaunchedKernel]:
    """Kernels of one layer's smallest decode step: of the first model that was measured, whose layer stands for all."""
    shapes = result["run"]["models"]
    if not shapes:
        return []
    shape, dtype = shapes[0], result["run"]["dtype"]
    matrices = {shape_nk: name for name, shape_nk in layer_matrices(shape).items()}
    products = [
        one
        for one in _of(result, "matmul")
        if one["role"] == "forward" and one["dtype"] == dtype and (one["n"], one["k"]) in matrices
    ]
    vectors = [one for one in _of(result, "vector") if one["direction"] == "forward" and one["model"] == shape["model"]]
    heads = ("num_heads", "num_kv_heads", "head_dim")
    attention = [one for one in _of(result, "attention_decode") if all(one[name] == shape[name] for name in heads)]
    return [
        *(
            LaunchedKernel(f"{matrices[one['n'], one['k']]} product, {one['n']:,} x {one['k']:,}", median_s(one))
            for one in _smallest(products, "m")
        ),
        *(LaunchedKernel(_VECTOR_WORDS[one["op"]], median_s(one)) for one in _smallest(vectors, "tokens")),
        *(
            LaunchedKernel(f"attention over {one['context']:,} tokens", median_s(one))
            for one in _smallest(_smallest(attention, "batch"), "context")
        ),
    ]


def layer_matrices(shape: Entry) -> dict[str, tuple[int, int]]:
    """Outputs and inputs of the four products of a measured layer, in the order in which a token meets them."""
    hidden, inner = shape["hidden_size"], shape["intermediate_size"]
    heads, kv_heads, width = shape["num_heads"], shape["num_kv_heads"], shape["head_dim"]
    return {
        "qkv": ((heads + 2 * kv_heads) * width, hidden),
        "output": (hidden, heads * width),
        "gate and up": (2 * inner, hidden),
        "down": (hidden, inner),
    }


def _smallest(entries: list[Entry], size: str) -> list[Entry]:
    """Those at the smallest size of all, so that they belong to one step."""
    least = min((one[size] for one in entries), default=0)
    return [one for one in entries if one[size] == least]
