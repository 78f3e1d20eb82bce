"""Splits that can be counted by hand, in microseconds."""

from __future__ import annotations

import numpy as np
import pytest

from core.trace.split import GpuSplit, split
from tests.trace.build import ADD, ALL_REDUCE, TO_GPU, call, gpu, host, read_one, recording, step


def whole(*events) -> dict[str, float]:
    """Every number of the only GPU's split that is not zero, in microseconds."""
    (result,) = split(read_one(*events))
    numbers = {name: getattr(result.whole, name) for name in result.whole.__slots__}
    return {name[:-2]: round(float(value * 1e6), 6) for name, value in numbers.items() if abs(value) > 1e-12}


def test_communication_is_hidden_while_compute_runs_and_exposed_else():
    #  compute     |0---------10|           |20---25|
    #  collective       |5------------15|
    assert whole(gpu(0, 10), gpu(5, 10, ALL_REDUCE, stream=13), gpu(20, 5)) == {
        "whole": 25,
        "compute": 15,
        "hidden_communication": 5,
        "exposed_communication": 5,
        "idle_unknown": 5,
    }


def test_overlapping_streams_count_once():
    events = [gpu(0, 10), gpu(2, 10, ADD, stream=8), gpu(4, 4, stream=9), gpu(4, 4, ALL_REDUCE, stream=13)]
    assert whole(*events) == {"whole": 12, "compute": 12, "hidden_communication": 4}


def test_copies_count_where_nothing_else_runs():
    #  compute    |0------10|
    #  collective           |10--14|
    #  copy            |8----------------20|
    assert whole(gpu(0, 10), gpu(10, 4, ALL_REDUCE), gpu(8, 12, TO_GPU), gpu(20, 2, "Memset (Device)")) == {
        "whole": 22,
        "compute": 10,
        "exposed_communication": 4,
        "copy": 8,
        "hidden_copy": 6,
    }


def test_a_gap_before_a_late_launch_waited_for_the_launch():
    # The second kernel's call begins at 14, after the first one ended at 10.
    assert whole(call(-5, 3, 1), gpu(0, 10, launch=1), call(14, 3, 2), gpu(18, 2, launch=2)) == {
        "whole": 20,
        "compute": 12,
        "idle_launch": 8,
    }


def test_a_gap_before_a_queued_kernel_is_the_gpu_s_own():
    assert whole(call(-5, 3, 1), gpu(0, 10, launch=1), call(2, 3, 2), gpu(11.5, 2, launch=2)) == {
        "whole": 13.5,
        "compute": 12,
        "idle_queued": 1.5,
    }


def test_a_gap_in_the_data_loader_waited_for_input():
    #  The gap is 10 to 30: the loader runs from 5 to 22, the copy's call from 23 to 27, the host's collective 21 to 29.
    events = [call(-5, 3, 1), gpu(0, 10, launch=1), call(23, 4, 2, "cudaMemcpyAsync"), gpu(30, 5, TO_GPU, launch=2)]
    loading = host(5, 17, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__")
    assert whole(*events, loading, host(21, 8, "gloo:all_reduce")) == {
        "whole": 35,
        "compute": 10,
        "copy": 5,
        "idle_input": 12 + 4,
        "idle_communication": 1 + 2,
        "idle_launch": 1,
    }


def test_a_loader_that_runs_while_the_gpu_has_work_queued_costs_nothing():
    events = [call(-5, 3, 1), gpu(0, 10, launch=1), call(2, 3, 2), gpu(11, 9, launch=2)]
    assert "idle_input" not in whole(*events, host(5, 100, "enumerate(DataLoader)#_x.__next__"))


def test_steps_last_from_the_end_of_the_last_one_and_own_what_they_waited_for():
    events = []
    for number, begin in enumerate([0, 100, 200]):
        launch = 10 * number + 1
        events += [step(number, begin, 90), call(begin + 30, 5, launch), gpu(begin + 40, 20, launch=launch)]
    (result,) = split(read_one(*events))
    assert result.steps.tolist() == [0, 1, 2]
    np.testing.assert_allclose(result.by_step.whole_s * 1e6, [20, 100, 100])
    np.testing.assert_allclose(result.by_step.compute_s * 1e6, [20, 20, 20])
    np.testing.assert_allclose(result.by_step.idle_launch_s * 1e6, [0, 80, 80])
    np.testing.assert_allclose(result.step_start_s * 1e6, [0, 20, 120], atol=1e-9)


def test_each_gpu_of_a_rank_has_its_own_split():
    first, second = split(read_one(gpu(0, 10), gpu(0, 4, device=1), gpu(8, 4, device=1)))
    assert (first.device, float(first.whole.idle_s)) == (0, 0)
    assert (second.device, round(float(second.whole.idle_s) * 1e6)) == (1, 4)


def test_without_steps_there_is_only_the_whole():
    (result,) = split(read_one(gpu(0, 10)))
    assert result.steps.size == result.by_step.whole_s.size == result.step_start_s.size == 0


def test_events_of_no_length_take_no_time():
    assert whole(gpu(0, 0), gpu(5, 10), gpu(40, 0)) == {"whole": 10, "compute": 10}
    assert whole(gpu(0, 0)) == {}


def test_overlap_is_a_share_and_unknown_without_communication():
    (result,) = split(read_one(gpu(0, 10), gpu(5, 10, ALL_REDUCE)))
    assert float(result.whole.overlap) == pytest.approx(0.5)
    (result,) = split(read_one(gpu(0, 10)))
    assert np.isnan(result.whole.overlap)


@pytest.mark.parametrize("seed", range(20))
def test_parts_add_up_to_the_whole_and_steps_to_all(seed):
    (result,) = split(read_one(*recording(seed)))
    assert isinstance(result, GpuSplit)
    assert sum(float(part) for part in result.whole.parts().values()) == pytest.approx(float(result.whole.whole_s))
    for name, part in result.by_step.parts().items():
        assert np.all(part >= 0)
        assert float(part.sum()) == pytest.approx(float(result.whole.parts()[name]), abs=1e-12)
