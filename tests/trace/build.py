"""Traces to test with: events written by hand, and a generator of whole recordings of any size."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from typing import Any

from core.trace.columns import RankTrace, Trace
from core.trace.reading import read_trace

Event = dict[str, Any]
MATMUL = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_cublas"
ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>>(int, float*)"
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
TO_GPU = "Memcpy HtoD (Pageable -> Device)"


def gpu(
    start: float,
    length: float,
    name: str = MATMUL,
    *,
    category: str = "kernel",
    stream: int = 7,
    device: int = 0,
    launch: int | None = None,
    **args: Any,
) -> Event:
    """One event of the GPU, in microseconds; ``launch`` is its correlation."""
    if name.startswith("Mem") and category == "kernel":
        category = "gpu_memcpy" if name.startswith("Memcpy") else "gpu_memset"
    correlation = {} if launch is None else {"correlation": launch}
    return {
        "ph": "X",
        "cat": category,
        "name": name,
        "pid": device,
        "tid": stream,
        "ts": start,
        "dur": length,
        "args": {"device": device, "stream": stream, **correlation, **args},
    }


def call(start: float, length: float, launch: int, name: str = "cudaLaunchKernel") -> Event:
    """One call of the CUDA runtime on the host."""
    return {
        "ph": "X",
        "cat": "cuda_runtime",
        "name": name,
        "pid": 100,
        "tid": 100,
        "ts": start,
        "dur": length,
        "args": {"cbid": 211, "correlation": launch},
    }


def host(start: float, length: float, name: str, category: str = "user_annotation") -> Event:
    """One range on the host."""
    return {"ph": "X", "cat": category, "name": name, "pid": 100, "tid": 100, "ts": start, "dur": length, "args": {}}


def step(number: int, start: float, length: float) -> Event:
    """One profiler step."""
    return host(start, length, f"ProfilerStep#{number}")


def document(events: list[Event], rank: int | None = 0, world: int = 1) -> dict[str, Any]:
    """Events with the fields that stand around them."""
    about = {} if rank is None else {"distributedInfo": {"backend": "nccl", "rank": rank, "world_size": world}}
    gpus = [{"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150_000_000_000}]
    return {"schemaVersion": 1, "deviceProperties": gpus, **about, "traceEvents": events, "traceName": "trace.json"}


def as_bytes(events: list[Event], rank: int | None = 0, world: int = 1) -> bytes:
    """A plain file."""
    return json.dumps(document(events, rank, world)).encode()


def read(*events: Event) -> Trace:
    """One rank's events, through the reader."""
    return read_trace([("trace.json", as_bytes(list(events)))])


def read_one(*events: Event) -> RankTrace:
    """The columns of one rank, which must come without a note."""
    trace = read(*events)
    assert trace.notes == ()
    return trace.ranks[0]


def recording(seed: int, *, steps: int = 3, layers: int = 20, start: float = 1e6, first_launch: int = 1) -> list[Event]:
    """A made-up training run: kernels on a compute stream, collectives and copies beside it, launched by a host.

    All times are whole microseconds, as HolisticTraceAnalysis rounds them. The host is now ahead of the GPU, now late.
    """
    draw = random.Random(seed)
    events: list[Event] = []
    host_at, free = int(start), {7: 0, 13: 0, 20: 0}
    launch = first_launch

    def run(
        stream: int, name: str, length: int, function: str = "cudaLaunchKernel", after: int = 0, **args: Any
    ) -> int:
        nonlocal host_at, launch
        launch += 1
        took = draw.randint(4, 9)
        events.append(call(host_at, took, launch, function))
        begins = max(host_at + took + draw.randint(1, 3), free[stream] + draw.randint(1, 2), after)
        events.append(gpu(begins, length, name, stream=stream, launch=launch, **args))
        free[stream] = begins + length
        host_at += took + draw.choice([1, 2, 3, 40])
        return free[stream]

    for number in range(steps):
        begun = host_at
        waits = draw.randint(50, 400)
        events.append(host(host_at, waits, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"))
        host_at += waits
        run(20, TO_GPU, draw.randint(30, 80), "cudaMemcpyAsync")
        for _ in range(layers):
            done = run(7, MATMUL, draw.randint(10, 90))
            events.append(host(host_at - 3, 2, "aten::mm", "cpu_op"))
            run(7, ADD, draw.randint(1, 8))
            if draw.random() < 0.4:
                args = {"Collective name": "allreduce", "In msg nelems": 1 << 20, "dtype": "BFloat16"}
                run(13, ALL_REDUCE, draw.randint(20, 150), "cudaLaunchKernelExC", after=done, **args)
            if draw.random() < 0.1:
                run(7, "Memset (Device)", draw.randint(1, 3), "cudaMemsetAsync")
        launch += 1
        events.append(call(host_at, max(max(free.values()) - host_at, 1), launch, "cudaDeviceSynchronize"))
        host_at = max(max(free.values()), host_at) + 5
        events.append(step(number, begun, host_at - begun))
    return events


def pieces_of_large_trace(num_bytes: int, seed: int = 0) -> Iterator[bytes]:
    """A plain trace of at least so many bytes, in Kineto's layout, most of it host events and Python frames."""
    yield b'{\n  "schemaVersion": 1,\n  "traceEvents": [\n'
    written, at, launch, draw = 0, 0.0, 1, random.Random(seed)
    comma = b""
    while written < num_bytes:
        events: list[Event] = []
        for event in recording(draw.randrange(1 << 30), steps=1, layers=200, start=at, first_launch=launch):
            events.append(event)
            if event["cat"] == "cuda_runtime":
                shape = {
                    "Input Dims": [[4096, 4096], [4096, 1024], []],
                    "Input type": ["c10::BFloat16"] * 2 + ["Scalar"],
                }
                operator = host(event["ts"] - 4, event["dur"] + 8, "aten::addmm", "cpu_op")
                operator["args"] = {"External id": written, "Record function id": 0, "Ev Idx": written, **shape}
                frame = host(event["ts"] - 6, event["dur"] + 12, "torch/nn/modules/module.py(1784): _call_impl")
                frame["cat"], frame["args"] = "python_function", {"Python parent id": 5, "Python id": written}
                flow = {"ph": "s", "id": event["args"]["correlation"], "pid": 100, "tid": 100, "ts": event["ts"]}
                events += [operator, frame, {**flow, "cat": "ac2g", "name": "ac2g"}]
            at = max(at, event["ts"] + event["dur"])
            launch = max(launch, event["args"].get("correlation", 0))
        piece = ",\n".join(json.dumps(event, indent=1) for event in events).encode()
        yield comma + piece
        written += len(piece)
        comma = b",\n"
    yield b'\n  ],\n  "traceName": "large.json"\n}\n'


def packed(content: bytes) -> bytes:
    """The content as gzip, the same bytes each time."""
    return gzip.compress(content, compresslevel=6, mtime=0)
