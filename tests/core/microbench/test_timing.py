"""Warm-up is not counted, the median and its spread are, and no point takes longer than its bound."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from core.microbench.timing import (
    Bounds,
    Cancelled,
    Timer,
    Unsupported,
    quantile,
    rounds_in_a_sample,
    samples_to_take,
    timing_of,
)
from tests.core.microbench.fakes import FakeDevice


class World:
    """A clock that only work moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.calls: list[str] = []

    def work(self, name: str, *seconds: float):
        """A call that lasts what is named, one after the other, then the last for ever."""
        left = list(seconds)

        def call() -> None:
            self.calls.append(name)
            self.now += left.pop(0) if len(left) > 1 else left[0]

        return call

    def timer(self, **options) -> Timer:
        return Timer(FakeDevice(kind="cpu"), now=lambda: self.now, **options)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.25, 0.5, 0.9, 1.0])
def test_quantiles_are_those_of_numpy(share):
    values = [5.0, 1.0, 2.5, 9.0, 4.0, 4.0, 8.0]
    assert quantile(values, share) == pytest.approx(np.quantile(values, share))


def test_a_sample_is_shared_among_its_calls():
    timing = timing_of([0.2, 0.4, 0.3], 10, "wall")
    assert timing.median_s == pytest.approx(0.03)
    assert timing.samples == 3
    assert timing.spread == pytest.approx(0.038 / 0.022 - 1)


@pytest.mark.parametrize("samples", [[], [1e-3, 0.0], [1e-3, -1e-9]])
def test_a_clock_that_stands_or_goes_back_gives_no_time(samples):
    with pytest.raises(ValueError, match="the clock went back or is too coarse"):
        timing_of(samples, 1, "wall")


def test_samples_last_long_enough_for_the_clock_but_graphs_stay_small():
    bounds = Bounds(sample_s=2e-3, most_calls=400)
    assert rounds_in_a_sample(5e-6, 1, bounds) == 400
    assert rounds_in_a_sample(1e-3, 1, bounds) == 3
    assert rounds_in_a_sample(1.0, 1, bounds) == 1
    assert rounds_in_a_sample(5e-6, 64, bounds) * 64 <= 400


def test_slow_calls_get_fewer_samples():
    bounds = Bounds(point_s=0.1, fewest=10, most=100, longest_s=3.0)
    assert samples_to_take(1e-4, bounds) == 100
    assert samples_to_take(2e-3, bounds) == 50
    assert samples_to_take(0.1, bounds) == 10
    assert samples_to_take(1.0, bounds) == 3
    assert samples_to_take(60.0, bounds) == 1


def test_the_slow_first_call_is_not_counted():
    world = World()
    timing = world.timer().time([world.work("a", 2.0, 0.01)])
    assert timing.median_s == timing.p10_s == pytest.approx(0.01)
    assert timing.p90_s == pytest.approx(0.01)


def test_calls_are_taken_in_turn_so_that_none_is_found_in_a_cache():
    world = World()
    world.timer().time([world.work("a", 1e-3), world.work("b", 3e-3)])
    assert world.calls[0::2] == ["a"] * (len(world.calls) // 2)
    assert world.calls[1::2] == ["b"] * (len(world.calls) // 2)


def test_the_time_is_that_of_one_call_of_several():
    world = World()
    assert world.timer().time([world.work("a", 1e-3), world.work("b", 3e-3)]).median_s == pytest.approx(2e-3)


def test_a_call_beyond_the_bound_is_made_once():
    world = World()
    timing = world.timer(bounds=Bounds(longest_s=5)).time([world.work("a", 60.0)])
    assert (timing.samples, len(world.calls)) == (1, 1)


def test_calls_that_become_slow_end_a_point():
    world = World()
    world.timer(bounds=Bounds(longest_s=3, warm_up_s=0.0)).time([world.work("a", *[0.1] * 5, 2.0)])
    assert world.now < 15  # ten samples of two seconds were planned


def test_a_point_stays_near_its_bound():
    world = World()
    bounds = Bounds(point_s=0.12, warm_up_s=0.03)
    world.timer(bounds=bounds).time([world.work("a", 1e-5)])
    assert world.now < 2.5 * bounds.point_s


def test_a_cancel_is_noticed_before_and_within_a_point():
    world = World()
    with pytest.raises(Cancelled):
        world.timer(stopped=lambda: True).time([world.work("a", 1e-3)])
    assert world.calls == []
    with pytest.raises(Cancelled):
        world.timer(stopped=lambda: world.now > 0.05).time([world.work("a", 1e-2)])
    assert world.now < 0.1


def test_ranks_repeat_as_often_as_the_slowest_agrees_to():
    """Each rank's own clock differs; the same number decides for all, so all make the same calls."""
    counts = []
    for own in (1.0, 0.5):
        world = World()
        world.timer(agree=lambda seconds, own=own: seconds / own).time([world.work("a", 0.01 * own)])
        counts.append(len(world.calls))
    assert counts[0] == counts[1]


class FakeCuda:
    """Just enough of torch.cuda to see in which order work, events and waits come; kernels take a time each."""

    def __init__(self, recordable: bool = True) -> None:
        self.device_s = 0.0
        self.log: list[str] = []
        self.recording: list[float] | None = None
        self.recordable = recordable
        torch = ModuleType("torch")
        torch.OutOfMemoryError = type("OutOfMemoryError", (RuntimeError,), {})
        torch.cuda = SimpleNamespace(
            Stream=lambda: SimpleNamespace(wait_stream=lambda other: None),
            current_stream=lambda: SimpleNamespace(wait_stream=lambda other: None),
            stream=lambda stream: _Nothing(),
            synchronize=lambda: self.log.append("wait"),
            Event=lambda enable_timing: _Event(self),
            CUDAGraph=lambda: _Graph(self),
            graph=lambda graph, capture_error_mode: graph,
        )
        self.torch = torch

    def kernel(self, seconds: float):
        def call() -> None:
            if self.recording is not None:
                if not self.recordable:
                    raise RuntimeError("operation not permitted when stream is capturing")
                self.recording.append(seconds)
                return
            self.log.append("launch")
            self.device_s += seconds

        return call


class _Nothing:
    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None: ...


class _Event:
    def __init__(self, cuda: FakeCuda) -> None:
        self.cuda = cuda

    def record(self) -> None:
        self.cuda.log.append("event")
        self.at = self.cuda.device_s

    def elapsed_time(self, end: _Event) -> float:
        return (end.at - self.at) * 1e3


class _Graph:
    def __init__(self, cuda: FakeCuda) -> None:
        self.cuda = cuda
        self.recorded: list[float] = []

    def __enter__(self) -> None:
        self.cuda.recording = self.recorded

    def __exit__(self, *error: object) -> None:
        self.cuda.recording = None

    def replay(self) -> None:
        self.cuda.log.append("replay")
        self.cuda.device_s += sum(self.recorded)


def test_a_graph_holds_many_calls_and_its_samples_follow_without_a_wait(monkeypatch):
    cuda = FakeCuda()
    monkeypatch.setitem(sys.modules, "torch", cuda.torch)
    timing = Timer(FakeDevice()).time([cuda.kernel(1e-5), cuda.kernel(3e-5)])
    assert timing.method == "graph"
    assert timing.median_s == pytest.approx(2e-5)
    assert timing.calls == 102  # 51 rounds of both last two milliseconds
    last = " ".join(cuda.log).rpartition("wait replay")[2]
    assert last.split() == ["event", *["replay", "event"] * timing.samples, "wait"]


def test_eager_times_launches_between_events(monkeypatch):
    cuda = FakeCuda()
    monkeypatch.setitem(sys.modules, "torch", cuda.torch)
    timing = Timer(FakeDevice()).time([cuda.kernel(1e-3)], graph=False)
    assert timing.method == "events"
    assert timing.median_s == pytest.approx(1e-3)
    assert "replay" not in cuda.log


def test_what_cannot_be_recorded_is_launched(monkeypatch):
    cuda = FakeCuda(recordable=False)
    monkeypatch.setitem(sys.modules, "torch", cuda.torch)
    timing = Timer(FakeDevice()).time([cuda.kernel(1e-3)])
    assert timing.method == "events"
    assert timing.median_s == pytest.approx(1e-3)


def test_where_the_graph_is_what_is_measured_nothing_stands_in_for_it(monkeypatch):
    cuda = FakeCuda(recordable=False)
    monkeypatch.setitem(sys.modules, "torch", cuda.torch)
    with pytest.raises(Unsupported, match="cannot be recorded into a graph"):
        Timer(FakeDevice()).time_as("graph", [cuda.kernel(1e-3)])
    assert Timer(FakeDevice()).time_as("eager", [cuda.kernel(1e-3)]).method == "events"


def test_no_memory_for_a_graph_is_not_hidden(monkeypatch):
    cuda = FakeCuda()
    monkeypatch.setitem(sys.modules, "torch", cuda.torch)

    def full() -> None:
        if cuda.recording is not None:
            raise cuda.torch.OutOfMemoryError("CUDA out of memory")
        cuda.device_s += 1e-3

    with pytest.raises(cuda.torch.OutOfMemoryError):
        Timer(FakeDevice()).time([full])
