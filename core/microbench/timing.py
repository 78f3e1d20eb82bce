"""How long a call takes: warm-up, enough repeats, the median and its spread, and a bound for each point.

On CUDA a sample is one replay of a graph that holds many calls, between two device events: launch gaps stay out, and
a sample is long beside the clock's resolution. Elsewhere it is a run of calls between two readings of the wall clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, Protocol

Method = Literal["graph", "events", "wall"]
Call = Callable[[], Any]
ENOUGH = 3  # samples, where calls turn out slower than the first ones were
BETWEEN_CHECKS_S = 0.5  # of samples given to the device at once, so that a cancel is soon noticed


class Cancelled(Exception):
    """The run was asked to stop."""


class Unsupported(Exception):
    """A point that this device or this torch cannot measure; the reason is a sentence."""


class Clocked(Protocol):
    """What timing needs to know of a device."""

    @property
    def kind(self) -> str: ...

    def synchronize(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Timing:
    """Time of one call. [s]

    Each sample is the mean over ``calls`` calls in a row; p10 and p90 are those of the samples.
    """

    median_s: float
    p10_s: float
    p90_s: float
    samples: int
    calls: int  # in each sample
    method: Method

    @property
    def spread(self) -> float:
        """p90 over p10, less one. [-]"""
        return self.p90_s / self.p10_s - 1


@dataclass(frozen=True, slots=True)
class Bounds:
    """How long one point may take, and how it is cut into samples."""

    point_s: float = 0.12  # of sampling
    warm_up_s: float = 0.03
    sample_s: float = 0.002  # the clock of device events ticks every 0.5 us: 0.03% of this
    fewest: int = 10
    most: int = 100
    most_calls: int = 400  # in one graph: building it takes longer than running it
    longest_s: float = 3.0  # for the fewest samples; slower calls get fewer yet


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which a share of the values lies, straight between neighbours."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def timing_of(samples_s: Sequence[float], calls: int, method: Method) -> Timing:
    """The time of one call, from samples of ``calls`` calls each.

    Raises:
        ValueError: no sample, or one that is not above zero: the clock was too coarse or went back.
    """
    if not samples_s or min(samples_s) <= 0:
        raise ValueError(
            f"a sample of {min(samples_s, default=0.0)} s is no time: the clock went back or is too coarse"
        )
    each = [sample / calls for sample in samples_s]
    return Timing(quantile(each, 0.5), quantile(each, 0.1), quantile(each, 0.9), len(each), calls, method)


def rounds_in_a_sample(round_s: float, calls: int, bounds: Bounds) -> int:
    """How often a sample goes through its calls, so that it lasts long enough for the clock. [rounds]"""
    wanted = int(bounds.sample_s / max(round_s, 1e-9)) + 1
    return max(1, min(wanted, bounds.most_calls // calls))


def samples_to_take(sample_s: float, bounds: Bounds) -> int:
    """Samples that fit into a point's time, but no fewer than a spread needs, unless one lasts very long. [samples]"""
    if sample_s * bounds.fewest > bounds.longest_s:
        return max(1, int(bounds.longest_s / sample_s))
    return max(bounds.fewest, min(bounds.most, int(bounds.point_s / sample_s)))


class Timer:
    """Times calls on one device."""

    def __init__(
        self,
        device: Clocked,
        bounds: Bounds | None = None,
        stopped: Callable[[], bool] = lambda: False,
        agree: Callable[[float], float] = lambda seconds: seconds,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Args:
        device: what is timed.
        bounds: how long a point may take.
        stopped: whether the run was asked to stop.
        agree: where several processes have to make the same calls, the same number for all of them from each one's
            own; it decides how often a call is repeated.
        now: the wall clock. [s]
        """
        self.device = device
        self.bounds = bounds or Bounds()
        self._stopped = stopped
        self._agree = agree
        self._now = now

    def time(self, calls: Sequence[Call], *, graph: bool = True) -> Timing:
        """Time of one call, the calls taken in turn: pass several on different data so that none is found in a cache.

        Args:
            calls: they do the same work, without waiting for the device.
            graph: on CUDA, record them into a graph and time its replays; False times the launches too.

        Raises:
            Cancelled: the run was asked to stop.
        """
        self.check()
        if self.device.kind == "cuda":
            return self._by_events(calls, graph)
        return self._by_the_wall(calls)

    def time_as(self, mode: str, calls: Sequence[Call]) -> Timing:
        """The same, where the mode is what is measured: "graph" replays a graph or measures nothing, "eager" launches.

        Raises:
            Unsupported: the calls cannot be recorded into a graph.
        """
        timing = self.time(calls, graph=mode == "graph")
        if mode == "graph" and timing.method != "graph":
            raise Unsupported("these calls cannot be recorded into a graph")
        return timing

    def check(self) -> None:
        """Raises :class:`Cancelled` if the run was asked to stop."""
        if self._stopped():
            raise Cancelled

    def _by_the_wall(self, calls: Sequence[Call]) -> Timing:
        start = self._now()
        for count, call in enumerate(calls, start=1):
            self.check()
            call()
            self.device.synchronize()
            elapsed = self._agree(self._now() - start)
            if elapsed > self.bounds.longest_s:  # too slow to do again
                return timing_of([elapsed], count, "wall")

        def sample(rounds: int) -> float:
            start = self._now()
            _repeat(calls, rounds)
            self.device.synchronize()
            return self._now() - start

        return self._sampled(lambda count, rounds: [sample(rounds) for _ in range(count)], len(calls), "wall")

    def _by_events(self, calls: Sequence[Call], graph: bool) -> Timing:
        import torch

        side = torch.cuda.Stream()  # CUDA graphs ask for a warm-up on another stream than the default one
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            _repeat(calls, 1)
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()

        def by_launches(count: int, rounds: int) -> list[float]:
            return _between_events(lambda: _repeat(calls, rounds), count)

        if not graph:
            return self._sampled(by_launches, len(calls), "events")
        rounds = rounds_in_a_sample(self._agree(by_launches(1, 1)[0]), len(calls), self.bounds)
        self.check()
        try:
            recorded = torch.cuda.CUDAGraph()
            # Other threads may call CUDA meanwhile: the one of autograd does, and NCCL's that watches for time-outs.
            with torch.cuda.graph(recorded, capture_error_mode="thread_local"):
                _repeat(calls, rounds)
        except torch.OutOfMemoryError:
            raise
        except RuntimeError:  # something in it cannot be recorded
            torch.cuda.synchronize()
            return self._sampled(by_launches, len(calls), "events")

        def by_replays(count: int, _: int) -> list[float]:
            return _between_events(recorded.replay, count)

        return self._sampled(by_replays, len(calls), "graph", rounds)

    def _sampled(
        self, take: Callable[[int, int], list[float]], calls: int, method: Method, rounds: int | None = None
    ) -> Timing:
        """Samples of ``rounds`` rounds, a number found here unless given; ``take`` takes a count of samples."""
        last = self._agree(*take(1, rounds or 1))  # loads kernels and fills caches
        if last > self.bounds.longest_s:  # too slow to do again
            return timing_of([last], calls * (rounds or 1), method)
        if rounds is None:
            rounds = rounds_in_a_sample(self._agree(*take(1, 1)), calls, self.bounds)
        last = self._agree(*take(1, rounds))
        for _ in range(int(self.bounds.warm_up_s / last)):
            self.check()
            [last] = take(1, rounds)
        last = self._agree(last)
        wanted = samples_to_take(last, self.bounds)
        samples: list[float] = []
        while len(samples) < wanted:
            self.check()
            samples += take(min(wanted - len(samples), max(1, int(BETWEEN_CHECKS_S / last))), rounds)
            if len(samples) >= ENOUGH and self._agree(sum(samples)) > self.bounds.longest_s:
                break  # calls have become slower than they were at first
        return timing_of(samples, calls * rounds, method)


def _repeat(calls: Sequence[Call], rounds: int) -> None:
    for _ in range(rounds):
        for call in calls:
            call()


def _between_events(work: Call, count: int) -> list[float]:
    """Device times of work done ``count`` times. [s]

    All of it is given to the device at once, after one time more that is not counted: while the device works on that,
    what follows is already waiting, so no sample begins with the device idle.
    """
    import torch

    work()
    marks = [torch.cuda.Event(enable_timing=True)]
    marks[0].record()
    for _ in range(count):
        work()
        marks.append(torch.cuda.Event(enable_timing=True))
        marks[-1].record()
    torch.cuda.synchronize()
    return [float(start.elapsed_time(end)) * 1e-3 for start, end in pairwise(marks)]  # events count milliseconds
