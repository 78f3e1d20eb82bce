"""A result in words, for the end of a run on a terminal: what was reached, how steady it was, what is missing."""

from __future__ import annotations

from collections import Counter
from typing import Any

Entry = dict[str, Any]
STEADY_FROM_S = 100e-6  # shorter calls are too near the clock and the launch to be judged by their spread


def summary(document: dict[str, Any]) -> str:
    """A few lines on a document of the format."""
    measured: list[Entry] = document["measurements"]
    lines = [
        f"{document['system']['name']}, torch {document['system']['torch']}, "
        f"{document['run']['seconds']:.0f} s: {document['status']}"
    ]
    if document["stopped"]:
        lines.append(f"  stopped: {document['stopped']}")
    counts = Counter(entry["kind"] for entry in measured)
    lines.append("  measured: " + ", ".join(f"{kind} {count}" for kind, count in counts.items()))
    lines += _copies(measured) + _products(measured) + _launches(measured) + _steps(measured) + _collectives(measured)
    lines += _spreads(measured)
    reasons = Counter(entry["reason"] for entry in document["skipped"])
    lines += [f"  skipped {count}: {reason}" for reason, count in reasons.most_common(12)]
    return "\n".join(lines)


def rate(entry: Entry, counted: str) -> float:
    """Bytes or flops of a call over its median time. [1/s]"""
    return float(entry[counted] / entry["time"]["median_s"])


def spread(entry: Entry) -> float:
    """p90 over p10, less one. [-]"""
    return float(entry["time"]["p90_s"] / entry["time"]["p10_s"] - 1)


def _copies(measured: list[Entry]) -> list[str]:
    copies = [entry for entry in measured if entry["kind"] == "copy"]
    if not copies:
        return []
    largest = max(entry["buffer_bytes"] for entry in copies)
    ours = {entry["op"]: rate(entry, "bytes") for entry in copies if entry["buffer_bytes"] == largest}
    lines = [
        "  at "
        + f"{largest / 2**20:.0f} MiB: "
        + ", ".join(f"{op} {value / 1e9:.4g} GB/s" for op, value in ours.items())
    ]
    return lines + _against(ours.get("copy"), _plain(measured, "bytes"), "copy")


def _products(measured: list[Entry]) -> list[str]:
    lines = []
    products = [entry for entry in measured if entry["kind"] == "matmul" and entry["role"] == "forward"]
    for dtype in dict.fromkeys(entry["dtype"] for entry in products):
        best = max((entry for entry in products if entry["dtype"] == dtype), key=lambda entry: rate(entry, "flops"))
        size = f"m={best['m']} n={best['n']} k={best['k']}"
        lines.append(
            f"  best product in {dtype}: {rate(best, 'flops') / 1e12:.4g} TFLOP/s at {size}, error {best['error']:.1e}"
        )
    plain = [entry for entry in measured if entry["kind"] == "reference" and "m" in entry]
    same = [
        rate(entry, "flops")
        for entry in products
        for other in plain[:1]
        if all(entry[name] == other[name] for name in ("m", "n", "k", "dtype"))
    ]
    return lines + _against(max(same, default=None), _plain(measured, "flops"), "product")


def _plain(measured: list[Entry], counted: str) -> dict[str, float]:
    return {
        entry["call"]: rate(entry, counted)
        for entry in measured
        if entry["kind"] == "reference" and counted in entry and (counted == "flops") == ("m" in entry)
    }


def _against(ours: float | None, plain: dict[str, float], what: str) -> list[str]:
    if ours is None or not plain:
        return []
    best = max(plain, key=plain.__getitem__)
    return [f"  our {what} is {ours / plain[best]:.1%} of the best plain call, {best}"]


def _launches(measured: list[Entry]) -> list[str]:
    launches = {entry["mode"]: entry["time"]["median_s"] for entry in measured if entry["kind"] == "launch"}
    if not launches:
        return []
    return ["  a kernel launch: " + ", ".join(f"{mode} {seconds * 1e6:.2f} us" for mode, seconds in launches.items())]


def _steps(measured: list[Entry]) -> list[str]:
    lines = []
    steps = [entry for entry in measured if entry["kind"] == "step"]
    for phase, model in dict.fromkeys((entry["phase"], entry["model"]) for entry in steps):
        some = [entry for entry in steps if (entry["phase"], entry["model"]) == (phase, model)]
        ends = [
            f"{e['batch']} x {e['seq_len']} {e['mode']} {e['time']['median_s'] * 1e6:.0f} us"
            for e in (some[0], some[-1])
        ]
        lines.append(f"  {phase} layer of {model}: {', '.join(dict.fromkeys(ends))} ({len(some)} points)")
    return lines


def _collectives(measured: list[Entry]) -> list[str]:
    lines = []
    entries = [entry for entry in measured if entry["kind"] == "collective"]
    for op, mode in dict.fromkeys((entry["op"], entry["mode"]) for entry in entries):
        some = [entry for entry in entries if (entry["op"], entry["mode"]) == (op, mode)]
        times = [f"{e['tensor_bytes'] / 1e6:.3g} MB {e['time']['median_s'] * 1e6:.1f} us" for e in (some[0], some[-1])]
        lines.append(f"  {op} over {some[0]['ranks']} {mode}: {', '.join(times)}")
    return lines


def _spreads(measured: list[Entry]) -> list[str]:
    long = [entry for entry in measured if entry["time"]["median_s"] > STEADY_FROM_S]
    spreads = sorted(((spread(entry), entry) for entry in long), key=lambda pair: pair[0])
    if not spreads:
        return []
    wide = [pair for pair in spreads if pair[0] > 0.03]
    lines = [
        f"  p90/p10 of {len(spreads)} calls over 100 us: "
        f"median {spreads[len(spreads) // 2][0]:.2%}, {len(wide)} above 3%"
    ]
    for value, entry in reversed(wide[-5:]):
        about = {name: value for name, value in entry.items() if name not in ("time", "flops", "bytes", "error")}
        lines.append(f"    {value:.1%}: {about}")
    return lines
