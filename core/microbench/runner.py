"""Walk through the items of a run: measure, note what could not be, keep the file, say how far it is.

Nothing here needs torch: what goes wrong at the device is told apart by the names of its errors.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from core.microbench.item import Item, Point, Unsupported, Wrong
from core.microbench.record import Record
from core.microbench.timing import Cancelled

Say = Callable[[dict[str, Any]], None]


class Memory(Protocol):
    """What the runner asks of a device."""

    def too_little(self, needs_bytes: int, share: float) -> str | None: ...

    def release(self) -> None: ...

    def works(self) -> bool: ...


class DeviceLost(Exception):
    """The device does not answer any more; the process has to end."""


@dataclass(slots=True)
class Runner:
    """One run."""

    device: Memory
    record: Record
    save: Callable[[Record], None]
    say: Say
    max_seconds: float
    memory_share: float = 0.9
    stopped: Callable[[], bool] = lambda: False
    agree: Callable[[bool], bool] = lambda stop: stop  # among several processes: whether any wants to stop
    now: Callable[[], float] = time.monotonic
    _began: float = field(init=False)
    _expected_s: float = field(init=False, default=0.0)
    _saved: float = field(init=False, default=float("-inf"))

    def __post_init__(self) -> None:
        self._began = self.now()

    @property
    def elapsed_s(self) -> float:
        """Time since the run began. [s]"""
        return self.now() - self._began

    def run(self, items: Sequence[Item]) -> None:
        """All items. The record says at the end whether they are, and if not, why.

        Raises:
            OSError: the file cannot be written.
        """
        self.say({"event": "start", "total": len(items), "items": [item.name for item in items]})
        late = False
        try:
            for done, item in enumerate(items):
                left = self._seconds_left(items[done:])
                self.say({"event": "item", "item": item.name, "done": done, "total": len(items), "seconds_left": left})
                late = not self._walk(item) or late
                self._expected_s += _expected_s(item)
                self._keep(always=True)
        except Cancelled:
            self.record.stopped = "cancelled"
        except DeviceLost as error:
            self.record.stopped = f"the device failed: {error}"
        else:
            self.record.stopped = f"the time bound of {self.max_seconds:g} s was reached" if late else None
        self._keep(always=True)

    def _walk(self, item: Item) -> bool:
        """Whether every point had its turn before the time ran out."""
        reason = item.lacks or (
            self.device.too_little(item.needs_bytes, self.memory_share) if item.needs_bytes else None
        )
        if reason is not None:
            self._skip(item, reason)
            return True
        points = item.points()
        try:
            while True:
                if not self._may_go_on():
                    self._skip(item, f"the time bound of {self.max_seconds:g} s was reached")
                    return False
                point = self._next(item, points)
                if point is None:
                    return True
                self._measure(item, point)
                self._keep()
        finally:
            del points
            self.device.release()

    def _next(self, item: Item, points: Iterator[Point]) -> Point | None:
        try:
            return next(points, None)
        except Exception as error:
            self._skip(item, self._reason(error))
            return None

    def _measure(self, item: Item, point: Point) -> None:
        too_little = self.device.too_little(point.needs_bytes, self.memory_share) if point.needs_bytes else None
        if too_little is not None:
            self._skip(item, too_little, point)
            return
        try:
            measured = point.measure()
        except Exception as error:
            reason = self._reason(error)
            self._skip(item, reason, point)
            return
        self.record.measurements.append({"kind": item.kind, **point.settings, **measured.as_dict()})

    def _reason(self, error: Exception) -> str:
        """Why there is no measurement.

        Raises:
            Cancelled: that was the error.
            DeviceLost: the device is of no use to this process after it.
        """
        reason = reason_of(error)
        error.__traceback__ = None  # its frames hold the tensors that did not fit
        if not isinstance(error, Unsupported | Wrong):
            self.device.release()
            if not self.device.works():
                raise DeviceLost(reason)
        return reason

    def _may_go_on(self) -> bool:
        stopped, late = self.stopped(), self.elapsed_s > self.max_seconds
        if not self.agree(stopped or late):
            return True
        if stopped:
            raise Cancelled
        return False

    def _skip(self, item: Item, reason: str, point: Point | None = None) -> None:
        self.record.skip(item.name, reason, point.settings if point else None)
        self.say(
            {"event": "skipped", "item": item.name, "reason": reason} | ({"settings": point.settings} if point else {})
        )

    def _keep(self, *, always: bool = False) -> None:
        """Save now, or if the last time is two seconds ago."""
        if always or self.now() - self._saved >= 2.0:
            self.record.run["seconds"] = round(self.elapsed_s, 3)
            self.save(self.record)
            self._saved = self.now()

    def _seconds_left(self, items: Sequence[Item]) -> float:
        """From the first guesses, corrected by how they have held so far. [s]"""
        guess = sum(_expected_s(item) for item in items)
        held = self.elapsed_s / self._expected_s if self._expected_s else 1.0
        return round(min(guess * held, max(self.max_seconds - self.elapsed_s, 0.0)), 1)


def _expected_s(item: Item) -> float:
    return 0.0 if item.lacks else item.num_points * item.point_s


def reason_of(error: Exception) -> str:
    """Why a point has no measurement, in words.

    Raises:
        Cancelled: that was the error.
    """
    if isinstance(error, Cancelled):
        raise error
    if isinstance(error, Unsupported | Wrong):
        return str(error)
    lines = str(error).strip().splitlines()
    first = f"{lines[0]:.300}" if lines else type(error).__name__
    if type(error).__name__ == "OutOfMemoryError" or isinstance(error, MemoryError) or "can't allocate memory" in first:
        return f"out of memory: {first}"
    return f"torch refused it: {first}"


def say_json(event: dict[str, Any]) -> None:
    """One event as a line of JSON on the standard output; a reader that went away is no reason to stop."""
    try:
        print(json.dumps(event), flush=True)
    except BrokenPipeError:
        sys.stdout = None
