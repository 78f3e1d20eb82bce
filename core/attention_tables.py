"""The tables of step 4: passes, kinds of attention, launches, and the fixes with their price and proof."""

from __future__ import annotations

from functools import reduce
from operator import add

from core.attention import IoSweep
from core.attention_cost import Cost, Method
from core.attention_kinds import Kind
from core.attention_measured import MeasuredPasses
from core.decode_launches import LaunchRow
from core.display import digits, show_bytes, show_count, show_seconds

_METHODS: tuple[tuple[str, Method], ...] = (
    ("unfused", "unfused"),
    ("tiled, causal", "tiled"),
    ("tiled, no mask", "tiled, no mask"),
)


def pass_table(sweep: IoSweep, index: int, unit: str, measured: MeasuredPasses | None = None) -> list[dict[str, str]]:
    """Forward, backward and both, unfused and tiled: what a layer computes, moves and takes.

    Args:
        sweep: over the length.
        index: the position shown.
        unit: of bytes.
        measured: times to stand beside the floors of tiled causal passes; no column without it.
    """
    times = None if measured is None else measured.seconds
    every = f"all {sweep.layers:,} layers" if sweep.layers > 1 else "the only layer"
    forward, backward = (sweep.forward, sweep.all_forward), (sweep.backward, sweep.all_backward)
    rows = []
    for name, passes in (("forward", [forward]), ("backward", [backward]), ("both", [forward, backward])):
        for words, method in _METHODS if name == "both" else _METHODS[:2]:
            layer, model = (reduce(add, [costs[method] for costs in part]) for part in zip(*passes, strict=True))
            beside = {}
            if times is not None:
                known = method == "tiled" and name in times
                beside = {"measured": show_seconds(times[name]) if known else ""}
            rows.append(
                {
                    "pass": f"{name}, {words}",
                    "FLOPs": show_count(float(layer.flops[index])),
                    "traffic": _range(layer, index, unit),
                    "time floor": show_seconds(float(layer.time_s[index])),
                    **beside,
                    f"traffic, {every}": _range(model, index, unit),
                    f"floor, {every}": show_seconds(float(model.time_s[index])),
                }
            )
    return rows


def _range(cost: Cost, index: int, unit: str) -> str:
    least, most = (show_bytes(float(values[index]), unit) for values in (cost.least_bytes, cost.moved_bytes))
    return most if least == most else f"{least} to {most}"


def kind_table(kinds: tuple[Kind, ...], unit: str) -> list[dict[str, str]]:
    """One row for each kind of attention."""
    mha = next(kind for kind in kinds if kind.name == "MHA")
    return [
        {
            "kind": kind.name,
            "what it keeps": kind.about,
            "a token adds": _token(kind, unit),
            "cache at 32,768": show_bytes(kind.cache_bytes, unit),
            "against MHA": f"{digits(100 * kind.cache_bytes / mha.cache_bytes)}%",
            "read to decode one": show_bytes(kind.read_bytes, unit),
        }
        for kind in kinds
    ]


def _token(kind: Kind, unit: str) -> str:
    if not kind.first_token_bytes:
        return f"nothing; {show_bytes(kind.state_bytes, unit)} once"
    grows = show_bytes(kind.first_token_bytes, unit)
    if kind.token_bytes < kind.first_token_bytes:
        later = show_bytes(kind.token_bytes, unit) if kind.token_bytes else "nothing"
        grows += f", {later} once windows are full"
    return grows + (f"; {show_bytes(kind.state_bytes, unit)} once" if kind.state_bytes else "")


def launch_table(rows: tuple[LaunchRow, ...]) -> list[dict[str, str]]:
    """One row for each way to launch a decode step."""
    return [
        {
            "a decode step as": row.name,
            "kernels": f"{row.kernels:,}",
            "launches take": show_seconds(row.queue_s),
            "GPU's work, floor": show_seconds(row.work_s),
            "step, at least": show_seconds(row.step_s),
            "it waits for": "launches" if row.waits_for_launches else "the GPU",
        }
        for row in rows
    ]


def launch_verdict(rows: tuple[LaunchRow, ...]) -> str:
    """Which of the ways wait, in a sentence."""
    waiting = [row for row in rows if row.waits_for_launches]
    if not waiting:
        return "Here every way keeps the GPU busy: launches hide behind work. Lower the batch or the model to see them."
    worst = rows[0]
    cured = next((row for row in rows[1:] if not row.waits_for_launches), None)
    cure = f" With {cured.name} the GPU is busy again." if cured else " Even fused and in a graph it waits."
    return (
        f"With {worst.name} the GPU waits: launches take {show_seconds(worst.queue_s)}, its work"
        f" {show_seconds(worst.work_s)}.{cure}"
    )


def launch_note(rows: tuple[LaunchRow, ...]) -> str:
    """What the table of launches rests on."""
    eager, graph = (show_seconds(row.launch_s) for row in rows[:2])
    return (
        f"Estimate: {eager} a launch, {graph} inside a CUDA graph, {rows[0].launch_source}; other chips and runtimes"
        " differ. Fusion is counted by its launches alone: the traffic that it saves beside them comes on top."
    )


# When it helps, what to do, what it gains and costs, how to confirm it.
FIXES = (
    {
        "when": "the trace shows softmax and masks as kernels of their own",
        "do": "a tiled kernel: FlashAttention, SDPA's flash backend",
        "gains": "scores never reach HBM: traffic falls, memory grows with tokens, not with their square",
        "costs": "scores are made again in the backward pass; the mask and head width must be ones it knows",
        "confirm by": "one attention kernel in the trace, and HBM bytes read by its counters",
    },
    {
        "when": "heads are wide, or the chip's shared memory is small",
        "do": "smaller tiles, a kernel tuned for the width, latents instead of wide heads",
        "gains": "tiles fit, more blocks run at once",
        "costs": "more visits of each tile: the L2 has to catch them",
        "confirm by": "L2 hit rate and occupancy of the attention kernel",
    },
    {
        "when": "decode reads more cache than weights",
        "do": "GQA, MLA, windows, sparse or linear attention",
        "gains": "fewer bytes a token, see the kinds of attention",
        "costs": "a choice of the model: it has to be trained, or converted and trained on",
        "confirm by": "decode time against context, and quality on long inputs",
    },
    {
        "when": "norms, activations and casts move more than they compute",
        "do": "fuse them: torch.compile, hand-written kernels",
        "gains": "intermediate results stay in registers; fewer launches",
        "costs": "compile time, recompilation when shapes change",
        "confirm by": "kernels a layer, and bytes of elementwise kernels",
    },
    {
        "when": "gaps between short kernels, decode at small batches",
        "do": "CUDA graphs",
        "gains": "about a ninth of the time a launch",
        "costs": "fixed shapes and addresses: a graph for each batch size, and its memory",
        "confirm by": "gaps in the timeline before and after",
    },
)
