"""What a rerun costs the server after a slider has been released, and how many it serves to 25 people who never rest.

The app and the baseline run side by side and are measured in turns, so that a busy machine slows both.
"""

from __future__ import annotations

import asyncio
import contextlib
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import psutil

from tests.benchmarks.session import Session

Move = Callable[[Session, int], Awaitable[float]]
WARM_UP = 10  # moves before anything is counted


@dataclass(frozen=True, slots=True)
class Target:
    """A server, the page to open on it, and how to move that page's slider to its next position."""

    address: str
    pid: int
    move: Move
    cookie: str = ""


@dataclass(frozen=True, slots=True)
class Load:
    reruns_per_s: float
    cpu_ms: float  # of the server, per rerun
    median_ms: float  # from the release to the last message
    message_bytes: int  # of the last rerun


async def compare(targets: list[Target], *, sessions: int, rounds: int, seconds: float) -> list[Load]:
    """All targets under the same load, one after the other in each round; the medians over the rounds."""
    async with contextlib.AsyncExitStack() as stack:
        crowds = [
            [await stack.enter_async_context(Session(target.address, target.cookie)) for _ in range(sessions)]
            for target in targets
        ]
        for target, crowd in zip(targets, crowds, strict=True):
            await asyncio.gather(*[_move_often(target, session, range(WARM_UP)) for session in crowd])
        results: list[list[Load]] = [[] for _ in targets]
        for _ in range(rounds):
            for target, crowd, loads in zip(targets, crowds, results, strict=True):
                loads.append(await _load(target, crowd, seconds))
        errors = {error for crowd in crowds for session in crowd for error in session.errors}
        if errors:
            raise RuntimeError(f"the page failed under load: {errors}")
    return [_median(loads) for loads in results]


async def _move_often(target: Target, session: Session, steps: range) -> None:
    for step in steps:
        await target.move(session, step)


async def _load(target: Target, crowd: list[Session], seconds: float) -> Load:
    process = psutil.Process(target.pid)
    waits: list[float] = []
    start, cpu = time.perf_counter(), _cpu_s(process)

    async def person(session: Session, step: int) -> None:
        while time.perf_counter() < start + seconds:
            step += 1
            waits.append(await target.move(session, step))

    await asyncio.gather(*[person(session, number) for number, session in enumerate(crowd)])
    elapsed, used = time.perf_counter() - start, _cpu_s(process) - cpu
    return Load(len(waits) / elapsed, 1e3 * used / len(waits), 1e3 * statistics.median(waits), crowd[0].run_bytes)


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


def _median(loads: list[Load]) -> Load:
    return Load(
        statistics.median(load.reruns_per_s for load in loads),
        statistics.median(load.cpu_ms for load in loads),
        statistics.median(load.median_ms for load in loads),
        loads[-1].message_bytes,
    )
