"""Launch calls against their events."""

from __future__ import annotations

import numpy as np
import pytest

from core.trace.launches import launches
from tests.trace.build import call, gpu, read_one


def test_delay_runs_from_the_call_s_end_to_the_kernel_s_start():
    found = launches(
        read_one(
            *(call(0, 6, 1), gpu(8, 3, launch=1)),
            *(call(6, 6, 2), gpu(40, 30, launch=2)),
            *(call(13, 6, 3), gpu(18, 2, launch=3)),
        )
    )
    # The third starts before its call returns: no delay, as HolisticTraceAnalysis clips it.
    np.testing.assert_allclose(found.delay_s * 1e6, [2, 0, 28], atol=1e-9)
    np.testing.assert_allclose(found.call_s * 1e6, [6, 6, 6])
    np.testing.assert_allclose(found.gpu_s * 1e6, [3, 2, 30])
    assert found.count == 3
    assert found.short == pytest.approx(2 / 3)
    assert found.starved == pytest.approx(2 / 3)
    assert found.median_call_s == pytest.approx(6e-6)
    assert found.median_gpu_s == pytest.approx(3e-6)
    assert found.delay_at(0.5) == pytest.approx(2e-6)


def test_a_graph_counts_as_one_launch_of_many_kernels():
    found = launches(read_one(call(0, 9, 1, "cudaGraphLaunch"), *(gpu(10 + i, 1, launch=1) for i in range(7))))
    assert (found.count, found.graph_launches, found.graph_kernels) == (0, 1, 7)
    assert np.isnan([found.short, found.starved, found.median_call_s, found.median_gpu_s, found.delay_at(0.5)]).all()


def test_waits_for_the_gpu_are_counted():
    found = launches(
        read_one(
            gpu(0, 9), call(1, 8, 2, "cudaStreamSynchronize"), call(20, 4, 3, "cudaDeviceSynchronize"), call(30, 4, 4)
        )
    )
    assert found.synchronizations == 2
    assert found.synchronization_s == pytest.approx(12e-6)
