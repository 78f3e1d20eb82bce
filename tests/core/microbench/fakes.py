"""A device without torch, and a result that holds one measurement of each kind."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field
from typing import Any

from core.microbench.bench import Bench
from core.microbench.device import lacks_by_capability
from core.microbench.item import Measured
from core.microbench.record import FORMAT
from core.microbench.timing import Timer, Timing


@dataclass
class FakeDevice:
    """A card with some memory; it counts how often it was asked to give memory back."""

    kind: str = "cuda"
    capability: tuple[int, int] = (9, 0)
    cache_bytes: int = 50 * 2**20
    memory: int = 100 * 10**9
    is_slice: bool = False
    working: bool = True
    released: list[None] = field(default_factory=list)

    def lacks(self, dtype: str) -> str | None:
        return lacks_by_capability(dtype, self.capability) if self.kind == "cuda" else None

    def too_little(self, needs_bytes: int, share: float) -> str | None:
        return None if needs_bytes <= self.memory * share else f"needs {needs_bytes} of {self.memory}"

    def release(self) -> None:
        self.released.append(None)

    def works(self) -> bool:
        return self.working

    def synchronize(self) -> None:
        pass


def fake_bench(dtype: str = "bf16", **device: Any) -> Bench:
    fake: Any = FakeDevice(**device)
    return Bench(fake, Timer(fake), dtype)


def timing(median_s: float = 1e-4) -> Timing:
    return Timing(median_s, median_s * 0.99, median_s * 1.01, 20, 10, "graph")


TIME = Measured(timing()).as_dict()["time"]
HEADS = {"num_heads": 32, "num_kv_heads": 8, "head_dim": 128, "dtype": "bf16"}
MODEL = {"model": "meta-llama/Llama-3.1-8B", "dtype": "bf16"}
EACH_KIND: list[dict[str, Any]] = [
    {"kind": "copy", "op": "copy", "buffer_bytes": 2**30, "bytes": 2**21},
    {"kind": "matmul", "n": 4096, "k": 4096, "m": 64, "dtype": "bf16", "role": "forward", "flops": 2.1e9, "bytes": 3e7},
    {
        "kind": "attention",
        "variant": "fused",
        "direction": "training",
        "batch": 1,
        "seq_len": 2048,
        **HEADS,
        "peak_bytes": 9,
    },
    {"kind": "attention_decode", "batch": 4, "context": 2048, **HEADS},
    {"kind": "vector", "op": "norm", "direction": "forward", "tokens": 64, **MODEL},
    {
        "kind": "step",
        "phase": "training",
        "batch": 1,
        "seq_len": 2048,
        "mode": "eager",
        **MODEL,
        "weight_bytes": 436207616,
    },
    {"kind": "launch", "mode": "eager"},
    {"kind": "host_link", "direction": "to_device", "pinned": True, "buffer_bytes": 65536},
    {
        "kind": "collective",
        "op": "all_reduce",
        "ranks": 2,
        "backend": "nccl",
        "mode": "eager",
        "tensor_bytes": 4096,
        "dtype": "bf16",
    },
    {"kind": "reference", "call": "x.clone()", "buffer_bytes": 2**30, "bytes": 2**21},
]
DOCUMENT: dict[str, Any] = {
    "format": FORMAT,
    "status": "partial",
    "stopped": "cancelled",
    "run": {
        "set": "full",
        "command": "python -m core.microbench --out r.json",
        "started": "2026-11-30T09:30:00Z",
        "seconds": 12.5,
        "commit": "e589312+",
        "code_sha256": "0" * 64,
        "dtype": "bf16",
        "ranks": 1,
        "models": [
            {
                "model": "meta-llama/Llama-3.1-8B",
                "hidden_size": 4096,
                "num_heads": 32,
                "num_kv_heads": 8,
                "head_dim": 128,
                "intermediate_size": 14336,
                "qk_norm": False,
            }
        ],
    },
    "system": {
        "device": "cuda",
        "name": "NVIDIA H200",
        "count": 1,
        "capability": "9.0",
        "num_sms": 132,
        "memory_bytes": 150 * 10**9,
        "free_bytes": 149 * 10**9,
        "cache_bytes": 60 * 2**20,
        "is_slice": False,
        "driver": "580.159.04",
        "power_limit_w": 700.0,
        "max_clock_hz": 1.98e9,
        "torch": "2.11.0+cu130",
        "cuda": "13.0",
        "rocm": None,
        "nccl": "2.28.9",
        "python": "3.12.3",
        "os": "Linux 6.18",
        "machine": "x86_64",
        "cpu_count": 16,
        "cpu_threads": 16,
    },
    "notes": [],
    "measurements": [{**entry, "time": TIME, "error": 0.001} for entry in EACH_KIND],
    "skipped": [{"item": "product fp8", "reason": "the card has no fp8 matrix units", "settings": {"n": 4096}}],
}


def document(**changes: Any) -> dict[str, Any]:
    """A fresh copy to spoil; ``path__to__0__field=value`` changes one value."""
    whole = copy.deepcopy(DOCUMENT)
    for path, value in changes.items():
        *parts, last = (int(part) if part.isdecimal() else part for part in path.split("__"))
        place: Any = whole
        for part in parts:
            place = place[part]
        place[last] = value
    return whole


def text(**changes: Any) -> str:
    return json.dumps(document(**changes))
