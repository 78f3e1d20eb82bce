"""What every benchmark is handed: the device, the timer, the dtype of layers, and small helpers on tensors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from core.microbench.device import Device
from core.microbench.item import Unsupported
from core.microbench.timing import Timer

Tensor = Any
TORCH_NAMES = {
    "fp32": "float32",
    "tf32": "float32",
    "bf16": "bfloat16",
    "fp16": "float16",
    "fp8": "float8_e4m3fn",
    "int8": "int8",
}
ELEMENT_BYTES = {"fp32": 4, "tf32": 4, "bf16": 2, "fp16": 2, "fp8": 1, "int8": 1}
MOST_COPIES = 64
CACHES = 3  # data walked through before the same data comes again, in caches


@dataclass(frozen=True, slots=True)
class Bench:
    """A device and how to time on it."""

    device: Device
    timer: Timer
    dtype: str  # of layers, attention and elementwise kernels

    @property
    def element_bytes(self) -> int:
        """Size of an element of that dtype."""
        return ELEMENT_BYTES[self.dtype]

    def torch_dtype(self, dtype: str | None = None) -> Any:
        """The dtype as torch names it.

        Raises:
            Unsupported: this torch has no such dtype.
        """
        import torch

        name = TORCH_NAMES[dtype or self.dtype]
        if not hasattr(torch, name):
            raise Unsupported(f"torch {torch.__version__} has no {name}")
        return getattr(torch, name)

    def random(self, *sizes: int, scale: float = 1.0, dtype: Any = None) -> Tensor:
        """Normally distributed numbers: zeros would run faster than real data does."""
        import torch

        values = torch.randn(*sizes, device=self.device.torch_name, dtype=dtype or self.torch_dtype())
        return values if scale == 1.0 else values.mul_(scale)

    def copies(self, num_bytes: float) -> int:
        """Copies of data of this size that together are :data:`CACHES` times the cache, so that none is found there."""
        return min(MOST_COPIES, int(CACHES * self.device.cache_bytes / num_bytes) + 1)

    def peak_bytes(self, call: Callable[[], Any]) -> int | None:
        """Most memory that one call holds beyond what is held now; None where torch does not count. [bytes]"""
        if self.device.kind != "cuda":
            return None
        import torch

        call()  # what is allocated once, such as a library's workspace, is not the call's
        self.device.synchronize()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        call()
        self.device.synchronize()
        return int(torch.cuda.max_memory_allocated() - before)


def relative_error(result: Tensor, reference: Tensor) -> float:
    """|result - reference| / |reference| over all elements, in float64; NaN stays NaN."""
    difference = (result.double() - reference.double()).norm()
    return float(difference / reference.double().norm())


def fp8_of(values: Tensor) -> Tensor:
    """Values in float8 e4m3, which saturates beyond 448."""
    import torch

    return values.clamp(-448, 448).to(torch.float8_e4m3fn)


def powers(low: int, high: int, step: int = 2) -> tuple[int, ...]:
    """low, low * step, ... up to high."""
    values = []
    while low <= high:
        values.append(low)
        low *= step
    return tuple(values)
