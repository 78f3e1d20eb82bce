"""The command: ``python -m core.microbench --out result.json``. Progress is a line of JSON for each event."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from core.microbench import collectives, plan, system
from core.microbench.bench import Bench
from core.microbench.device import Device, NoDevice, find_device
from core.microbench.item import Item, Unsupported
from core.microbench.record import Record, utc_now, write
from core.microbench.runner import Runner, Say, say_json
from core.microbench.shapes import CPU_MODEL, GPU_MODELS, LayerShape, find_shape
from core.microbench.summary import summary
from core.microbench.timing import Bounds, Timer

COMPLETE, USAGE, REFUSED, PARTIAL = 0, 2, 3, 4  # exit codes
# fp8 and int8 are measured as products only.
LAYER_DTYPES = ("fp32", "bf16", "fp16")


class Stop:
    """Set by SIGTERM or Ctrl+C; asked between measurements and between samples."""

    def __init__(self) -> None:
        self.asked = False

    def install(self) -> None:
        """Take over both signals."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._ask)

    def _ask(self, number: int, frame: Any) -> None:
        self.asked = True

    def __call__(self) -> bool:
        return self.asked


def parser() -> argparse.ArgumentParser:
    """The command's options."""
    parser = argparse.ArgumentParser(
        prog="python -m core.microbench", description="Measure this machine's accelerator."
    )
    parser.add_argument("--out", type=Path, required=True, help="the result, JSON; replaced after each item")
    parser.add_argument(
        "--set", choices=plan.SETS, default="quick", dest="set_name", help="quick: under a minute on a GPU"
    )
    parser.add_argument("--device", help="cuda, cpu, or another device of torch; CUDA where there is any")
    parser.add_argument("--index", type=int, default=0, help="which CUDA device")
    parser.add_argument("--model", action="append", default=[], help="whose layer: a catalog id; may be given again")
    parser.add_argument("--dtype", choices=LAYER_DTYPES, help="of layers; bf16 where the card has it")
    parser.add_argument("--max-seconds", type=float, help="stop then and keep what there is")
    parser.add_argument("--memory-share", type=float, default=0.9, help="of the free memory that may be taken")
    parser.add_argument("--commit", help="of the code, where git cannot say")
    parser.add_argument("--summary", action="store_true", help="end with a table in words on the standard error")
    return parser


def main(
    arguments: Sequence[str] | None = None, more_shapes: tuple[LayerShape, ...] = (), commit: str | None = None
) -> int:
    """Run the command.

    Args:
        arguments: its options; None: those of the process.
        more_shapes: shapes beyond the built-in ones, which a standalone script brings along.
        commit: of the code, if known.

    Returns:
        exit code: 0 complete, 2 wrong options, 3 refused in words, 4 partial and kept.
    """
    options = parser().parse_args(arguments)
    stop = Stop()
    stop.install()
    rank, ranks, local = collectives.ranks_in_environment()
    say: Say = say_json if rank == 0 else lambda event: None
    try:
        runner, items = _prepare(options, more_shapes, commit, stop, say, (rank, ranks, local))
        runner.run(items)
    except (NoDevice, Unsupported, ValueError, OSError) as error:
        say({"event": "refused", "reason": str(error)})
        return REFUSED
    record = runner.record
    if rank == 0:
        if options.summary:
            print(summary(record.as_dict()), file=sys.stderr, flush=True)
        status = "complete" if record.stopped is None else "partial"
        say({"event": "done", "status": status, "stopped": record.stopped, "out": str(options.out)})
    if ranks > 1:
        # Peers may be gone, and leaving the group in good order would wait for them.
        sys.stdout.flush()
        os._exit(COMPLETE if record.stopped is None else PARTIAL)
    return COMPLETE if record.stopped is None else PARTIAL


def _prepare(
    options: argparse.Namespace,
    more_shapes: tuple[LayerShape, ...],
    commit: str | None,
    stop: Stop,
    say: Say,
    place: tuple[int, int, int],
) -> tuple[Runner, list[Item]]:
    """Everything up to the first measurement, refused in words if it cannot be."""
    rank, ranks, local = place
    in_group = options.set_name == "collectives"
    if in_group and ranks < 2:
        raise Unsupported(
            "collectives need two or more processes: torchrun --standalone --nproc-per-node 2 -m core.microbench ..."
        )
    if not in_group and ranks > 1:
        raise Unsupported("this set is measured by one process; only --set collectives is started by torchrun")
    if not 0 < options.memory_share <= 1:
        raise ValueError(f"--memory-share {options.memory_share:g} is not a share above 0 and up to 1")
    max_seconds = plan.MAX_SECONDS[options.set_name] if options.max_seconds is None else options.max_seconds
    if not 0 < max_seconds < float("inf"):
        raise ValueError(f"--max-seconds {max_seconds:g} is not a time above zero")
    device = find_device(options.device, local if in_group else options.index)
    dtype = options.dtype or _usual_dtype(device)
    shapes = [
        find_shape(model, more_shapes)
        for model in dict.fromkeys(options.model) or _usual_models(device, options.set_name)
    ]

    import torch

    torch.manual_seed(rank)
    record = Record(
        run={
            "set": options.set_name,
            "command": system.command(),
            "started": utc_now(),
            "seconds": 0.0,
            "commit": options.commit or commit or system.commit(),
            "code_sha256": system.code_sha256(),
            "dtype": dtype,
            "ranks": ranks,
            "models": [] if in_group else [shape.as_dict() for shape in shapes],
        },
        system=system.facts(device),
        notes=_notes(device),
    )
    save: Callable[[Record], None] = partial(write, path=options.out) if rank == 0 else _keep_nothing
    save(record)  # before anything is measured: a path that cannot be written is refused now
    runner = Runner(device, record, save, say, max_seconds, options.memory_share, stop)
    if not in_group:
        bench = Bench(device, Timer(device, Bounds(), stop), dtype)
        return runner, plan.items(bench, options.set_name, shapes)
    group = collectives.join(device.kind)
    runner.agree = lambda wants: group.largest(float(wants)) > 0
    bench = Bench(device, Timer(device, Bounds(), stop, group.largest), dtype)
    sizes = collectives.GPU_SIZES if device.kind == "cuda" else collectives.CPU_SIZES
    return runner, collectives.items(bench, group, sizes)


def _keep_nothing(record: Record) -> None:
    """Of several processes, the first one writes the file."""


def _usual_dtype(device: Device) -> str:
    """bf16 where the card multiplies it, else fp16; fp32 beside GPUs."""
    if device.kind != "cuda":
        return "fp32"
    return "bf16" if device.lacks("bf16") is None else "fp16"


def _usual_models(device: Device, set_name: str) -> tuple[str, ...]:
    if device.kind == "cpu":
        return (CPU_MODEL,)
    return GPU_MODELS if set_name == "full" else GPU_MODELS[:1]


def _notes(device: Device) -> list[str]:
    notes = []
    if device.is_slice:
        notes.append("This is a MIG slice: it has a part of the card's units, memory and bandwidth.")
    if device.rocm:
        notes.append("ROCm is tried here and not tested by us.")
    if device.kind not in ("cuda", "cpu"):
        notes.append(
            f"Devices of the kind {device.kind} are tried here and not tested by us; times are by the wall clock."
        )
    taken = device.memory_bytes - device.free_bytes() - device.own_bytes()
    if device.kind == "cuda" and taken > device.memory_bytes * 0.1:
        notes.append(f"Other processes held {taken / 1e9:.1f} GB of the card's memory when the run began.")
    return notes
