"""The device that is measured: found, or refused in words; what it can multiply; how much memory is left."""

from __future__ import annotations

import os
import re
import warnings
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

DTYPES = ("fp32", "tf32", "bf16", "fp16", "fp8", "int8")
CPU_CACHE_BYTES = 32 * 2**20  # where the system does not say
MOST_CPU_BYTES = 6 * 2**30  # a benchmark should leave a desk machine usable
LEAST_TORCH = (2, 5)  # grouped heads in scaled_dot_product_attention


class NoDevice(Exception):
    """There is nothing to measure; the reason and a way out in words."""


@dataclass(frozen=True)
class Device:
    """One torch device."""

    kind: str  # cuda (also ROCm), cpu, or another torch device such as xpu or mps
    index: int = 0

    @property
    def torch_name(self) -> str:
        """As torch writes it: cuda:0, cpu."""
        return f"{self.kind}:{self.index}" if self.kind == "cuda" else self.kind

    @cached_property
    def _properties(self) -> Any:
        import torch

        return torch.cuda.get_device_properties(self.index)

    @property
    def rocm(self) -> bool:
        """Whether CUDA stands for AMD's ROCm."""
        import torch

        return self.kind == "cuda" and torch.version.hip is not None

    @property
    def capability(self) -> tuple[int, int] | None:
        """Compute capability; None beside CUDA."""
        return (self._properties.major, self._properties.minor) if self.kind == "cuda" else None

    @property
    def num_sms(self) -> int | None:
        """Streaming multiprocessors, or compute units; None beside CUDA."""
        return int(self._properties.multi_processor_count) if self.kind == "cuda" else None

    @property
    def name(self) -> str:
        """As the driver or the system names it."""
        return str(self._properties.name) if self.kind == "cuda" else _cpu_name() if self.kind == "cpu" else self.kind

    @property
    def is_slice(self) -> bool:
        """Whether it is a MIG slice of a card."""
        return self.kind == "cuda" and "MIG" in self.name

    @property
    def memory_bytes(self) -> int:
        """All of its memory; 0 where torch does not say."""
        if self.kind == "cuda":
            return int(self._properties.total_memory)
        return _meminfo("MemTotal") if self.kind == "cpu" else 0

    @property
    def cache_bytes(self) -> int:
        """Last-level cache: data beyond it comes from memory."""
        if self.kind == "cuda":
            return int(getattr(self._properties, "L2_cache_size", 0)) or CPU_CACHE_BYTES
        return _cpu_cache_bytes()

    def free_bytes(self) -> int:
        """Memory that nobody uses, what this process has cached included; bounded on a CPU."""
        if self.kind == "cuda":
            import torch

            free, _ = torch.cuda.mem_get_info(self.index)
            cached = torch.cuda.memory_reserved(self.index) - torch.cuda.memory_allocated(self.index)
            return int(free + cached)
        return min(_meminfo("MemAvailable") or MOST_CPU_BYTES, MOST_CPU_BYTES)

    def own_bytes(self) -> int:
        """Memory that this process holds."""
        if self.kind != "cuda":
            return 0
        import torch

        return int(torch.cuda.memory_allocated(self.index))

    def synchronize(self) -> None:
        """Wait until the device has done what it was given."""
        import torch

        if self.kind == "cuda":
            torch.cuda.synchronize()
        elif self.kind != "cpu":
            torch.accelerator.synchronize()

    def release(self) -> None:
        """Give back memory that is cached for later. A device that has failed says so at :meth:`works`."""
        import gc

        gc.collect()
        if self.kind == "cuda":
            import torch

            with suppress(RuntimeError):
                torch.cuda.empty_cache()

    def works(self) -> bool:
        """Whether it still adds up eight ones."""
        import torch

        try:
            return float(torch.ones(8, device=self.torch_name).sum()) == 8
        except RuntimeError:
            return False

    def too_little(self, needs_bytes: int, share: float) -> str | None:
        """Why so much memory cannot be had, or None if it can.

        Args:
            needs_bytes: further memory wanted. [bytes]
            share: of the free memory that may be taken. [-]
        """
        free = self.free_bytes()
        if needs_bytes <= free * share:
            return None
        reason = f"needs {needs_bytes / 1e9:.1f} GB of memory, {free * share / 1e9:.1f} GB may be taken"
        taken = self.memory_bytes - free - self.own_bytes()
        if self.kind == "cuda" and needs_bytes <= (self.memory_bytes - self.own_bytes()) * share:
            return f"{reason}: other processes hold {taken / 1e9:.1f} of its {self.memory_bytes / 1e9:.1f} GB"
        return reason

    def lacks(self, dtype: str) -> str | None:
        """Why it cannot multiply a dtype, or None if it can."""
        if self.kind == "cuda" and not self.rocm:
            return lacks_by_capability(dtype, self.capability or (0, 0))
        if dtype in ("tf32", "fp8") or (dtype == "fp16" and self.kind == "cpu"):
            return f"{dtype} products are measured on NVIDIA cards only"
        return None


# Compute capability from which matrix units take a dtype. Sources: CUDA C++ Programming Guide, table of features by
# compute capability; torch._scaled_mm asks for 8.9 or 9.0 and newer.
FROM_CAPABILITY = {"fp32": (0, 0), "tf32": (8, 0), "bf16": (8, 0), "fp16": (7, 0), "fp8": (8, 9), "int8": (7, 5)}


def lacks_by_capability(dtype: str, capability: tuple[int, int]) -> str | None:
    """Why a card of this compute capability cannot multiply a dtype, or None if it can."""
    least = FROM_CAPABILITY[dtype]
    if capability >= least:
        return None
    have, need = (".".join(map(str, version)) for version in (capability, least))
    return f"the card has no {dtype} matrix units: its compute capability is {have}, they came with {need}"


def find_device(kind: str | None = None, index: int = 0) -> Device:
    """The device to measure.

    Args:
        kind: cuda, cpu, or another torch device; None: CUDA where there is any, else the CPU.
        index: which of several.

    Raises:
        NoDevice: torch is missing, has no such device, or the device does not work.
    """
    try:
        import torch
    except ImportError:
        raise NoDevice(
            "torch is not installed here; install it (pip install torch), or choose another Python"
        ) from None
    if version_of(str(torch.__version__)) < LEAST_TORCH:
        least = ".".join(map(str, LEAST_TORCH))
        raise NoDevice(f"torch {torch.__version__} is too old; install torch {least} or newer (pip install -U torch)")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is wrong is said below, once
        there = torch.cuda.is_available()
    if kind is None:
        kind = "cuda" if there else "cpu"
    if kind == "cuda" and not there:
        raise NoDevice(_why_no_cuda())
    device = Device(kind, index)
    try:
        if kind == "cuda":
            torch.cuda.set_device(index)
        total = float(torch.ones(8, device=device.torch_name).sum())
    except Exception as error:  # whatever a driver says becomes the reason
        raise NoDevice(f"the device {device.torch_name!r} does not work here: {first_line(error)}") from None
    if total != 8:
        raise NoDevice(f"the device {device.torch_name!r} adds eight ones up to {total:g}; it cannot be trusted")
    return device


def version_of(text: str) -> tuple[int, int]:
    """Major and minor number of a version such as 2.11.0+cu130; (0, 0) where they cannot be read."""
    match = re.match(r"(\d+)\.(\d+)", text)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def first_line(error: BaseException) -> str:
    """What an error says, cut to one line."""
    lines = str(error).strip().splitlines()
    return f"{lines[0]:.300}" if lines else type(error).__name__


def _why_no_cuda() -> str:
    import torch

    if torch.version.cuda is None and torch.version.hip is None:
        return f"torch {torch.__version__} was built without CUDA; install a CUDA build, or use --device cpu"
    try:
        torch.cuda.init()
    except Exception as error:  # "driver too old", "no NVIDIA driver": torch says which
        built = f"torch {torch.__version__} was built for CUDA {torch.version.cuda}"
        return f"{first_line(error)} ({built}); or use --device cpu"
    return "torch sees no CUDA device; check nvidia-smi and CUDA_VISIBLE_DEVICES, or use --device cpu"


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else f"CPU with {os.cpu_count()} cores"


def _cpu_cache_bytes() -> int:
    sizes = [CPU_CACHE_BYTES]
    for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        text = path.read_text().strip()
        if text.endswith("K") and text[:-1].isdecimal():
            sizes.append(int(text[:-1]) * 1024)
    return max(sizes)


def _meminfo(field: str) -> int:
    """A field of /proc/meminfo, which counts KiB; 0 where there is none. [bytes]"""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return 0
    found = [int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:")]
    return found[0] if found else 0
