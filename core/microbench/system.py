"""What a result says of where it was made: device, driver, versions, and which code made it."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

from core.microbench.device import Device

# The modules that measure; a result carries the checksum of their source.
MODULES = (
    "attention",
    "attention_decode",
    "bench",
    "collectives",
    "copy",
    "decode",
    "device",
    "host_link",
    "item",
    "kernels",
    "launch",
    "layer",
    "matmul",
    "plan",
    "prefill",
    "record",
    "reference",
    "run",
    "runner",
    "shapes",
    "summary",
    "system",
    "timing",
    "train",
    "vector",
)
PACKAGE = "core.microbench"
SMI_FIELDS = ("driver_version", "power.limit", "clocks.max.sm")


def source_of(module: str) -> str:
    """The source of one module of this package, from its file or from a standalone script."""
    spec = find_spec(f"{PACKAGE}.{module}")
    if spec is None or spec.loader is None:
        raise ImportError(f"{PACKAGE}.{module} has no source")
    source: str = spec.loader.get_source(spec.name)  # type: ignore[attr-defined]
    return source


def code_sha256() -> str:
    """Checksum of the modules that measure."""
    digest = hashlib.sha256()
    for module in MODULES:
        digest.update(source_of(module).encode())
    return digest.hexdigest()


def commit() -> str | None:
    """The commit that is checked out, if this is a checkout with git; with "+" where files differ from it."""
    here = os.path.dirname(os.path.abspath(__file__)) if "__file__" in globals() else None
    if here is None or not os.path.isdir(here):
        return None
    head = _output(["git", "-C", here, "rev-parse", "HEAD"])
    if head is None:
        return None
    changed = _output(["git", "-C", here, "status", "--porcelain", "--", "."])
    return f"{head}+" if changed else head


def facts(device: Device) -> dict[str, Any]:
    """The system, in base units. Nothing here names a person or a machine on a network."""
    import torch

    smi = _nvidia_smi(device)
    capability = device.capability
    return {
        "device": device.kind,
        "name": device.name,
        "count": torch.cuda.device_count() if device.kind == "cuda" else 1,
        "capability": None if capability is None else f"{capability[0]}.{capability[1]}",
        "num_sms": device.num_sms,
        "memory_bytes": device.memory_bytes,
        "free_bytes": device.free_bytes(),
        "cache_bytes": device.cache_bytes,
        "is_slice": device.is_slice,
        "driver": smi.get("driver_version"),
        "power_limit_w": _number(smi.get("power.limit")),
        "max_clock_hz": None if (mhz := _number(smi.get("clocks.max.sm"))) is None else mhz * 1e6,
        "torch": str(torch.__version__),
        "cuda": torch.version.cuda,
        "rocm": torch.version.hip,
        "nccl": _nccl(device),
        "python": platform.python_version(),
        "os": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "cpu_count": os.cpu_count() or 1,
        "cpu_threads": torch.get_num_threads(),
    }


def command() -> str:
    """How this process was started, without the paths before file names."""
    words = [os.path.basename(sys.argv[0]), *sys.argv[1:]]
    if words[0] == "__main__.py":
        words[0] = f"-m {PACKAGE}"
    return " ".join(["python", *(os.path.basename(word) if word.startswith("/") else word for word in words)])[:500]


def _nccl(device: Device) -> str | None:
    import torch

    if device.kind != "cuda":
        return None
    try:
        return ".".join(map(str, torch.cuda.nccl.version()))
    except Exception:  # a build without it says so in several ways
        return None


def _nvidia_smi(device: Device) -> dict[str, str]:
    import torch

    if device.kind != "cuda" or shutil.which("nvidia-smi") is None:
        return {}
    uuid = getattr(torch.cuda.get_device_properties(device.index), "uuid", None)
    chosen = ["-i", f"GPU-{uuid}"] if uuid is not None and not device.is_slice else []
    query = [f"--query-gpu={','.join(SMI_FIELDS)}", "--format=csv,noheader,nounits"]
    text = _output(["nvidia-smi", *chosen, *query]) or _output(["nvidia-smi", *query])
    values = [value.strip() for value in (text or "").splitlines()[0].split(",")] if text else []
    return dict(zip(SMI_FIELDS, values, strict=True)) if len(values) == len(SMI_FIELDS) else {}


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:  # "[N/A]"
        return None


def _output(words: list[str]) -> str | None:
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
