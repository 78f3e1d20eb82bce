"""Launch calls and profiler steps of GPU events."""

from __future__ import annotations

from core.trace.columns import NONE, Kind
from core.trace.steps import launched_by, only_steps, step_of, step_ranges
from tests.trace.build import call, gpu, read_one, step

# Two steps on the host; the GPU runs behind, so the kernel of step 4 starts when the host is in step 5.
EVENTS = [
    step(4, 0, 10),
    call(2, 3, 1),
    step(5, 10, 10),
    call(12, 3, 2),
    gpu(11, 5, launch=1),
    gpu(17, 5, launch=2),
    gpu(23, 5, launch=99),
    gpu(29, 5),
]


def test_a_correlation_leads_to_the_call():
    trace = read_one(*EVENTS)
    launch = launched_by(trace)
    assert [launch[row] if row in launch.nonzero()[0] else None for row in range(8)][:1] == [NONE]
    starts = [round(float(trace.start_s[row] * 1e6)) + 11 if row != NONE else None for row in launch[trace.on_gpu]]
    assert starts == [2, 12, None, None]


def test_a_graph_s_kernels_share_one_call():
    trace = read_one(call(0, 5, 1, "cudaGraphLaunch"), *(gpu(10 + 3 * i, 2, launch=1) for i in range(4)))
    assert launched_by(trace)[trace.on_gpu].tolist() == [0, 0, 0, 0]


def test_without_calls_nothing_is_known():
    trace = read_one(gpu(0, 1, launch=1))
    assert launched_by(trace).tolist() == [NONE]
    assert step_of(trace, launched_by(trace)).tolist() == [NONE]


def test_a_kernel_belongs_to_the_step_of_its_launch():
    trace = read_one(*EVENTS)
    assert step_of(trace, launched_by(trace))[trace.on_gpu].tolist() == [4, 5, NONE, NONE]


def test_ranges_come_in_order_and_once():
    trace = read_one(*EVENTS, step(5, 40, 1))
    numbers, start, end = step_ranges(trace)
    assert numbers.tolist() == [4, 5]
    assert ((end - start) * 1e6).round().tolist() == [10, 10]


def test_only_some_steps_can_be_kept():
    trace = only_steps(read_one(*EVENTS), {5})
    assert step_ranges(trace)[0].tolist() == [5]
    assert trace.on_gpu.sum() == 1
    assert (trace.kind == Kind.RUNTIME).sum() == 2
    assert len({column.size for column in (trace.kind, trace.start_s, trace.message_bytes, trace.stream)}) == 1
