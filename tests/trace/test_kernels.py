"""Totals by kernel and by collective."""

from __future__ import annotations

import numpy as np
import pytest

from core.trace.columns import Kind
from core.trace.kernels import collectives, top_kernels
from tests.trace.build import ADD, ALL_REDUCE, MATMUL, TO_GPU, gpu, read_one


def test_kernels_come_longest_total_first():
    trace = read_one(gpu(0, 4, ADD), gpu(5, 10), gpu(20, 20), gpu(41, 5, TO_GPU), gpu(50, 1, ALL_REDUCE))
    first, *others = top_kernels(trace)
    assert (first.name, first.kind, first.count, first.work) == (MATMUL, Kind.COMPUTE, 2, "matrix products")
    assert [first.total_s, first.longest_s, first.mean_s] == pytest.approx([30e-6, 20e-6, 15e-6])
    assert first.share == pytest.approx(30 / 40)
    assert [kernel.short for kernel in others] == [
        TO_GPU,
        "at::native::vectorized_elementwise_kernel",
        ALL_REDUCE.split("(")[0],
    ]
    assert [kernel.work for kernel in others] == ["", "element-wise and other", ""]
    assert sum(kernel.share for kernel in top_kernels(trace, None)) == pytest.approx(1)
    assert len(top_kernels(trace, 2)) == 2


def test_a_collective_is_exposed_where_no_compute_runs_on_its_gpu():
    named = {"Collective name": "allreduce", "In msg nelems": 500, "dtype": "Float"}
    gather = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
    trace = read_one(
        gpu(0, 10),
        gpu(5, 10, ALL_REDUCE, stream=13, **named),
        gpu(20, 6, gather, stream=13),
        gpu(16, 100, device=1),
        gpu(30, 1, ALL_REDUCE, stream=13, **named),
    )
    gathered, reduced = collectives(trace)
    assert (gathered.name, gathered.count, reduced.name, reduced.count) == ("AllGather", 1, "AllReduce", 2)
    assert [gathered.exposed_s, reduced.exposed_s, reduced.total_s] == pytest.approx([6e-6, 6e-6, 11e-6])
    assert reduced.hidden == pytest.approx(5 / 11)
    assert reduced.message_bytes == 4000
    assert np.isnan(gathered.message_bytes)


def test_a_trace_without_collectives_has_none():
    assert collectives(read_one(gpu(0, 1))) == ()


def test_kernels_of_no_length_have_no_share():
    (only,) = top_kernels(read_one(gpu(0, 0)))
    assert (only.total_s, only.share) == (0, 0)
