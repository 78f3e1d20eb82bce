"""A run of our own benchmark (``microbench/1``) as a measured profile, to stand beside open data and under every page.

Only kernels and links are taken: steps of whole layers are what a profile's predictions are judged by, so it must not
see them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from statistics import median
from typing import Any

from core.hardware import PEAK_DTYPES, load_accelerators
from core.measured_file import FORMAT, KV_DTYPES, VECTOR_OPS, ProfileFile
from core.measured_profile import Profile
from core.own_entry import Entry, median_s
from core.own_views import layer_matrices

RESULT_FORMAT = "microbench/1"
SOURCE = "measured with this app's own benchmark"
_OF_PRODUCTS = ("plain_flops_per_s", "planned_weights")  # belong to the run whose products are taken
_JOINED = ("matmul", "attention", "collectives", "vectors", "memory_bytes_per_s", "launch_s", "graph_launch_s")
_SKIPPED_PRODUCT = re.compile(r"product (\w+) (\d{1,9}) x (\d{1,9})")  # as core.microbench.matmul names it
# What a driver calls a card, and the catalog's id; the first that is found in the name holds.
_CARDS = (
    ("A100-SXM4-80GB", "a100-sxm-80gb"),
    ("A100-SXM4-40GB", "a100-sxm-40gb"),
    ("A100 80GB PCIe", "a100-pcie-80gb"),
    ("A100-PCIE-40GB", "a100-pcie-40gb"),
    ("H100 80GB HBM3", "h100-sxm"),
    ("H100 PCIe", "h100-pcie"),
    ("H100 NVL", "h100-nvl"),
    ("H200 NVL", "h200-nvl"),
    ("H200", "h200-sxm"),
    ("H20", "h20"),
    ("GB200", "gb200"),
    ("GB300", "gb300"),
    ("B200", "b200-sxm"),
    ("B300", "b300-sxm"),
    ("L40S", "l40s"),
    ("RTX PRO 6000 Blackwell Server", "rtx-pro-6000-server"),
    ("RTX PRO 6000", "rtx-pro-6000-workstation"),
    ("RTX 5090", "rtx-5090"),
    ("RTX 4090", "rtx-4090"),
    ("RTX 3090", "rtx-3090"),
    ("Tesla T4", "t4"),
    ("NVIDIA L4", "l4"),
    ("A10G", "a10g"),
)


def profile_of(result: Entry, *, accelerator: str | None = None) -> Profile:
    """The kernels and links of a result as a profile.

    Args:
        result: a validated document ``microbench/1``, as plain values (``model_dump()`` of one that was read).
        accelerator: id of the catalog's row to stand beside it; None: by the device's name, if the catalog has it.

    Raises:
        ValueError: another format, or nothing in it that a profile holds (pydantic's ValidationError for a value that
            no measurement can have).
    """
    if result.get("format") != RESULT_FORMAT:
        raise ValueError(f"format {result.get('format')!r} is not {RESULT_FORMAT!r}; measure again with this version")
    entries: dict[str, list[Entry]] = defaultdict(list)
    for entry in result["measurements"]:
        entries[entry["kind"]].append(entry)
    system, run = result["system"], result["run"]
    held = {
        "matmul": _products(entries["matmul"]),
        "attention": _attention(entries["attention_decode"], entries["attention"]),
        "collectives": _collectives(entries["collective"]),
        "vectors": _vectors(entries["vector"]),
    }
    if not any(held.values()):
        raise ValueError(
            "the result holds no product, attention, collective or vector kernel; run the quick or full set"
        )
    started = date.fromisoformat(str(run["started"])[:10])
    name = accelerator or card_of(system["name"])
    versions = {key: str(system[key]) for key in ("torch", "cuda", "rocm", "nccl", "driver") if system.get(key)}
    return Profile(
        ProfileFile.model_validate(
            {
                "format": FORMAT,
                "id": f"own-{re.sub('[^a-z0-9]+', '-', system['name'].lower()).strip('-') or 'device'}",
                "accelerator": name,
                "device": system["name"],
                "own": True,
                "source": f"{SOURCE} on {system['name']}",
                "dated": started,
                "versions": versions,
                "note": "" if result.get("stopped") is None else f"A partial run: {result['stopped']}.",
                **held,
                "memory_bytes_per_s": _copy_rate(entries["copy"]),
                "launch_s": _launch(entries["launch"], "eager"),
                "graph_launch_s": _launch(entries["launch"], "graph"),
                "plain_flops_per_s": _plain(entries["reference"]),
                "planned_weights": _planned(result, entries["matmul"]),
            }
        )
    )


def join(profiles: Sequence[Profile]) -> Profile:
    """Several runs on one kind of device as one profile, such as a full set and collectives.

    Args:
        profiles: of runs, the one that counts first: each kind of table, and each rate, is taken from the first that
            has it, so that no table mixes runs.

    Raises:
        ValueError: none, or runs of different devices.
    """
    if not profiles:
        raise ValueError("there is no profile to join; give at least one")
    first, *others = files = [profile.file for profile in profiles]
    for other in others:
        if (other.device, other.accelerator) != (first.device, first.accelerator):
            raise ValueError(f"runs on {first.device!r} and on {other.device!r} cannot be one profile")

    def of_first(name: str) -> Any:
        return next((value for value in (getattr(file, name) for file in files) if value), getattr(first, name))

    measured = next((file for file in files if file.matmul), first)
    versions = {
        name: sorted({file.versions[name] for file in files if name in file.versions}) for name in _names(files)
    }
    return Profile(
        first.model_copy(
            update={name: of_first(name) for name in _JOINED}
            | {name: getattr(measured, name) for name in _OF_PRODUCTS}
            | {
                "versions": {name: ", ".join(found) for name, found in versions.items()},
                "dated": max(file.dated for file in files),
                "note": " ".join(dict.fromkeys(file.note for file in files if file.note)),
            }
        )
    )


def _names(files: Sequence[ProfileFile]) -> list[str]:
    return list(dict.fromkeys(name for file in files for name in file.versions))


def card_of(name: str) -> str | None:
    """The catalog's id of a card by its driver's name; None where that is not certain."""
    if "MIG" in name:  # a slice is another machine than its card
        return None
    rows = load_accelerators()
    found = (card for words, card in _CARDS if re.search(rf"\b{re.escape(words)}\b", name))
    return next((card for card in found if card in rows), None)


def _products(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    groups: dict[tuple[str, str], dict[tuple[int, ...], list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in entries:
        if one["dtype"] in PEAK_DTYPES:
            groups[one["dtype"], one.get("role", "forward")][one["n"], one["k"], one["m"]].append(median_s(one))
    tables = []
    for (dtype, role), cells in groups.items():
        n, k, m = (sorted({cell[at] for cell in cells}) for at in range(3))
        seconds = [[[_median(cells.get((a, b, c))) for c in m] for b in k] for a in n]
        tables.append({"dtype": dtype, "role": role, "kernel": "PyTorch", "n": n, "k": k, "m": m, "seconds": seconds})
    return tables


def _plain(entries: Iterable[Entry]) -> dict[str, float]:
    """The best plain call by format. [FLOP/s]"""
    best: dict[str, float] = {}
    for one in entries:
        if one.get("flops") and one.get("dtype") in PEAK_DTYPES:
            best[one["dtype"]] = max(best.get(one["dtype"], 0.0), float(one["flops"]) / median_s(one))
    return best


def _planned(result: Entry, products: Iterable[Entry]) -> dict[str, int]:
    """Weights whose forward products the run set out to measure, by format: its layers', and what it lists as skipped.

    A run that was cancelled lists nothing as skipped; its layers' weights are known even then.
    """
    run = result["run"]
    weights: dict[str, set[tuple[int, int]]] = defaultdict(set)
    weights[run["dtype"]].update(nk for shape in run["models"] for nk in layer_matrices(shape).values())
    for one in products:
        if one["role"] == "forward":
            weights[one["dtype"]].add((one["n"], one["k"]))
    for one in result["skipped"]:
        if named := _SKIPPED_PRODUCT.fullmatch(one["item"]):
            weights[named[1]].add((int(named[2]), int(named[3])))
    return {dtype: len(found) for dtype, found in weights.items() if found}


def _attention(decode: Iterable[Entry], whole: Iterable[Entry]) -> list[dict[str, Any]]:
    """Decode at each context; of whole sequences the fused kernels, forward and with their backward pass."""
    groups: dict[tuple[Any, ...], dict[tuple[int, int], list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in decode:
        # Its context holds the new token, whose key and value are in the cache by then.
        groups["decode", *_heads(one)][one["batch"], max(one["context"] - 1, 1)].append(median_s(one))
    for one in whole:
        if one["variant"] == "fused":
            phase = {"forward": "prefill", "training": "training"}[one["direction"]]
            groups[phase, *_heads(one)][one["batch"], one["seq_len"]].append(median_s(one))
    tables = []
    for (phase, dtype, heads, kv_heads, head_dim), cells in groups.items():
        if dtype not in KV_DTYPES:
            continue
        batch, tokens = (sorted({cell[at] for cell in cells}) for at in range(2))
        tables.append(
            {
                "phase": phase,
                "kv_dtype": dtype,
                "kernel": "PyTorch",
                "heads": heads,
                "kv_heads": kv_heads,
                "head_dim": head_dim,
                "batch": batch,
                "tokens": tokens,
                "seconds": [[_median(cells.get((b, n))) for n in tokens] for b in batch],
            }
        )
    return tables


def _collectives(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """As a step calls them: eager, or from a graph where only that was measured."""
    groups: dict[tuple[str, int, str], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in entries:
        groups[one["op"], one["ranks"], one["mode"]][one["tensor_bytes"]].append(median_s(one))
    return [
        {"op": op, "ranks": ranks, **_over("num_bytes", cells)}
        for (op, ranks, mode), cells in groups.items()
        if mode == "eager" or (op, ranks, "eager") not in groups
    ]


def _vectors(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    """Kernels by the bytes that they move, whichever model's widths those came from."""
    groups: dict[tuple[str, str], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in entries:
        if one["op"] in VECTOR_OPS and one.get("bytes"):
            groups[one["op"], one["direction"]][round(one["bytes"])].append(median_s(one))
    return [
        {"op": op, "direction": direction, **_over("num_bytes", cells)} for (op, direction), cells in groups.items()
    ]


def _over(name: str, cells: Mapping[int, list[float]]) -> dict[str, Any]:
    sizes = sorted(cells)
    return {name: sizes, "seconds": [_median(cells[size]) for size in sizes]}


def _copy_rate(entries: Iterable[Entry]) -> float | None:
    """Of the largest copy, the one nearest to memory's. [bytes/s]"""
    copies = [one for one in entries if one["op"] == "copy" and one.get("bytes")]
    largest = max(copies, key=lambda one: float(one["buffer_bytes"]), default=None)
    return None if largest is None else float(largest["bytes"]) / median_s(largest)


def _launch(entries: Iterable[Entry], mode: str) -> float | None:
    return _median([median_s(one) for one in entries if one["mode"] == mode])


def _heads(one: Entry) -> tuple[str, int, int, int]:
    return one["dtype"], one["num_heads"], one["num_kv_heads"], one["head_dim"]


def _median(times: list[float] | None) -> float | None:
    return median(times) if times else None
