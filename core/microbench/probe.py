"""Which devices a Python can measure: asked in a process of its own, so that whoever asks need not load torch.

``python -m core.microbench.probe`` prints one line of JSON; :func:`look` runs that and reads it.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.microbench.device import NoDevice, find_device, first_line

ROOT = Path(__file__).resolve().parents[2]
MODULE = "core.microbench.probe"
LOOK_SECONDS = 90.0  # a first import of torch from a slow disk takes half a minute


@dataclass(frozen=True, slots=True)
class Choice:
    """One device that can be measured."""

    kind: str
    index: int
    name: str
    memory_bytes: int
    free_bytes: int
    is_slice: bool


@dataclass(frozen=True, slots=True)
class Found:
    """What there is to measure."""

    torch: str | None  # its version; None: not installed
    choices: tuple[Choice, ...]  # GPUs first; empty where nothing can be measured
    problem: str | None  # why there is no GPU, or nothing at all, in words

    @property
    def gpus(self) -> tuple[Choice, ...]:
        """The CUDA devices."""
        return tuple(choice for choice in self.choices if choice.kind == "cuda")


def survey() -> dict[str, Any]:
    """What this process finds, as plain values."""
    try:
        cpu = _facts("cpu", 0)
    except NoDevice as error:
        return {"torch": None, "choices": [], "problem": str(error)}
    import torch

    gpus, problem = [], None
    try:
        gpus = [_facts("cuda", 0)]
        gpus += [_facts("cuda", index) for index in range(1, torch.cuda.device_count())]
    except NoDevice as error:
        problem = str(error)
    return {"torch": str(torch.__version__), "choices": [*gpus, cpu], "problem": problem}


def look(python: str, seconds: float = LOOK_SECONDS) -> Found:
    """What another Python finds.

    Args:
        python: path of the interpreter.
        seconds: to wait for its answer. [s]
    """
    try:
        done = subprocess.run(
            [python, "-m", MODULE], cwd=ROOT, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return Found(None, (), f"{python} did not say within {seconds:.0f} s what it can measure; try again")
    except OSError as error:
        return Found(None, (), f"{python} cannot be started: {error.strerror or error}")
    try:
        said = json.loads(done.stdout.strip().splitlines()[-1])
        choices = tuple(Choice(**choice) for choice in said["choices"])
        return Found(said["torch"], choices, said["problem"])
    except (ValueError, LookupError, TypeError):
        last = done.stderr.strip().splitlines()[-1:] or [f"it ended with {done.returncode} and said nothing"]
        return Found(None, (), f"{python} cannot say what it can measure: {last[0]:.300}")


def _facts(kind: str, index: int) -> dict[str, Any]:
    device = find_device(kind, index)
    try:
        free = device.free_bytes()
    except RuntimeError as error:
        raise NoDevice(f"the device {device.torch_name!r} does not work here: {first_line(error)}") from None
    return {
        "kind": kind,
        "index": index,
        "name": device.name,
        "memory_bytes": device.memory_bytes,
        "free_bytes": free,
        "is_slice": device.is_slice,
    }


if __name__ == "__main__":
    print(json.dumps(survey()))
