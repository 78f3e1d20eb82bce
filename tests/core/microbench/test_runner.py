"""Whatever goes wrong at one point, the others are measured, and what is missing has a reason."""

from __future__ import annotations

import copy
import io
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.microbench.item import Item, Measured, Point, Unsupported, Wrong
from core.microbench.reading import read
from core.microbench.record import Record
from core.microbench.runner import Runner, reason_of, say_json
from core.microbench.timing import Cancelled
from tests.core.microbench.fakes import FakeDevice, timing

ROOT = Path(__file__).resolve().parents[3]


class OutOfMemoryError(RuntimeError):
    """Named as torch's."""


def raising(error: Exception) -> Callable[[], Measured]:
    def measure() -> Measured:
        raise error

    return measure


def item(name: str, *measures: Callable[[], Measured], **options) -> Item:
    def points() -> Iterator[Point]:
        for number, measure in enumerate(measures):
            yield Point({"mode": f"{name} {number}"}, measure)

    return Item(name, "launch", points, len(measures), **options)


def good() -> Measured:
    return Measured(timing())


class Ran:
    """A run over fakes, with a clock that each look moves by a second."""

    def __init__(self, *items: Item, device: FakeDevice | None = None, max_seconds: float = 1e9, **options) -> None:
        self.device = device or FakeDevice()
        self.events: list[dict] = []
        self.saved: list[dict] = []
        self.clock = 0.0
        self.record = Record({}, {})
        runner = Runner(
            self.device,
            self.record,
            lambda record: self.saved.append(copy.deepcopy(record.as_dict())),
            self.events.append,
            max_seconds,
            now=self.tick,
            **options,
        )
        runner.run(items)

    def tick(self) -> float:
        self.clock += 1.0
        return self.clock

    @property
    def modes(self) -> list[str]:
        return [entry["mode"] for entry in self.record.measurements]


def test_all_is_measured_and_the_record_is_complete():
    ran = Ran(item("a", good, good), item("b", good))
    assert ran.modes == ["a 0", "a 1", "b 0"]
    assert ran.record.as_dict()["status"] == "complete"
    assert ran.record.skipped == []


def test_the_file_is_saved_after_each_item_and_is_partial_until_the_end():
    ran = Ran(item("a", good), item("b", good))
    assert [len(saved["measurements"]) for saved in ran.saved][-1] == 2
    assert {saved["status"] for saved in ran.saved[:-1]} == {"partial"}
    assert ran.saved[-1]["status"] == "complete"
    assert any(len(saved["measurements"]) == 1 for saved in ran.saved)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (Unsupported("torch multiplies int8 from 17 rows on"), "torch multiplies int8 from 17 rows on"),
        (Wrong("the product differs"), "the product differs"),
        (OutOfMemoryError("CUDA out of memory. Tried to allocate 4 GiB.\nmore"), "out of memory: CUDA out of memory."),
        (MemoryError(), "out of memory: MemoryError"),
        (
            RuntimeError("CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling it"),
            "torch refused it: CUDA error: CUBLAS",
        ),
        (ValueError("a sample of 0.0 s is no time"), "torch refused it: a sample"),
    ],
)
def test_one_point_that_fails_leaves_the_others(error, reason):
    ran = Ran(item("a", good, raising(error), good), item("b", good))
    assert ran.modes == ["a 0", "a 2", "b 0"]
    [skipped] = ran.record.skipped
    assert skipped["reason"].startswith(reason)
    assert skipped["settings"] == {"mode": "a 1"}
    assert ran.record.stopped is None


def test_an_item_that_cannot_begin_is_skipped_as_a_whole():
    def points() -> Iterator[Point]:
        raise Unsupported("torch has no flash attention kernel")
        yield

    ran = Ran(Item("a", "launch", points, 3), item("b", good))
    assert ran.record.skipped == [{"item": "a", "reason": "torch has no flash attention kernel"}]
    assert ran.modes == ["b 0"]


def test_a_lacking_dtype_and_too_little_memory_are_known_before():
    ran = Ran(
        item("a", good, lacks="the card has no fp8 matrix units"),
        item("b", good, needs_bytes=95 * 10**9),
        item("c", good, needs_bytes=85 * 10**9),
    )
    assert ran.modes == ["c 0"]
    assert [entry["reason"] for entry in ran.record.skipped] == [
        "the card has no fp8 matrix units",
        "needs 95000000000 of 100000000000",
    ]


def test_a_point_that_needs_too_much_is_skipped_alone():
    def points() -> Iterator[Point]:
        yield Point({"mode": "small"}, good, needs_bytes=10)
        yield Point({"mode": "large"}, good, needs_bytes=10**12)
        yield Point({"mode": "last"}, good)

    assert Ran(Item("a", "launch", points, 3)).modes == ["small", "last"]


def test_a_device_that_fails_ends_the_run_and_keeps_what_there_is():
    ran = Ran(
        item("a", good, raising(RuntimeError("CUDA error: an illegal memory access was encountered")), good),
        item("b", good),
        device=FakeDevice(working=False),
    )
    assert ran.modes == ["a 0"]
    assert ran.record.stopped == (
        "the device failed: torch refused it: CUDA error: an illegal memory access was encountered"
    )


def test_memory_is_given_back_after_each_item_and_each_failure():
    device = FakeDevice()
    Ran(item("a", good, raising(RuntimeError("odd"))), item("b", good), device=device)
    assert len(device.released) == 3


def test_the_time_bound_keeps_what_there_is_and_says_so():
    ran = Ran(item("a", *[good] * 100), item("b", good), max_seconds=30)
    assert 0 < len(ran.modes) < 30
    assert ran.record.stopped == "the time bound of 30 s was reached"
    assert [entry["item"] for entry in ran.record.skipped] == ["a", "b"]


def test_a_cancel_between_points_or_within_one_keeps_what_there_is():
    asked = []
    ran = Ran(item("a", good, lambda: asked.append(1) or good(), good), stopped=lambda: bool(asked))
    assert ran.modes == ["a 0", "a 1"]
    assert ran.record.stopped == "cancelled"
    ran = Ran(item("a", good, raising(Cancelled()), good))
    assert ran.modes == ["a 0"]
    assert (ran.record.stopped, ran.record.skipped) == ("cancelled", [])


def test_what_one_rank_wants_all_do():
    """The others have stopped, so this one must not wait for them in a collective."""
    ran = Ran(item("a", good, good), agree=lambda stop: True)
    assert ran.modes == []
    assert ran.record.stopped is not None


def test_progress_counts_items_and_the_time_left_falls():
    ran = Ran(item("a", *[good] * 10), item("b", *[good] * 10), item("c", *[good] * 10), max_seconds=10_000)
    items = [event for event in ran.events if event["event"] == "item"]
    assert [(event["item"], event["done"], event["total"]) for event in items] == [
        ("a", 0, 3),
        ("b", 1, 3),
        ("c", 2, 3),
    ]
    left = [event["seconds_left"] for event in items[1:]]  # the first is a guess
    assert left[0] > left[1] > 0
    assert ran.events[0] == {"event": "start", "total": 3, "items": ["a", "b", "c"]}


def test_time_left_is_never_more_than_the_bound():
    ran = Ran(item("a", *[good] * 10, point_s=1e6), max_seconds=50)
    assert ran.events[1]["seconds_left"] <= 50


def test_a_cancel_is_no_reason_for_a_point():
    with pytest.raises(Cancelled):
        reason_of(Cancelled())
    assert reason_of(RuntimeError()) == "torch refused it: RuntimeError"


def test_events_are_lines_of_json_and_a_reader_that_left_is_no_error(monkeypatch):
    lines = io.StringIO()
    monkeypatch.setattr(sys, "stdout", lines)
    say_json({"event": "item", "item": "a"})
    assert json.loads(lines.getvalue()) == {"event": "item", "item": "a"}

    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", Closed())
    say_json({"event": "item"})
    say_json({"event": "item"})


SCRIPT = """
import json, sys, time
from pathlib import Path
from core.microbench.record import Record, write
from core.microbench.run import Stop
from core.microbench.runner import Runner, say_json
from core.microbench.item import Item, Measured, Point
from core.microbench.timing import Bounds, Timer
from tests.core.microbench.fakes import DOCUMENT, FakeDevice

stop = Stop()
stop.install()
device = FakeDevice(kind="cpu")
timer = Timer(device, Bounds(point_s=0.02, warm_up_s=0.0), stop)

def points():
    for mode in ("eager", "graph"):
        yield Point({"mode": mode}, lambda: Measured(timer.time([lambda: time.sleep(0.001)]), error=0.0))
    yield Point({"mode": "eager"}, lambda: Measured(timer.time([lambda: time.sleep(0.05)] * 1000)))

record = Record(DOCUMENT["run"], DOCUMENT["system"])
out = Path(sys.argv[1])
runner = Runner(device, record, lambda record: write(record, out), say_json, 60, stopped=stop)
short, long = list(points())[:2], list(points())[2:]
runner.run([Item("short", "launch", lambda: iter(short), 2), Item("long", "launch", lambda: iter(long), 1)])
"""


@pytest.fixture
def running(tmp_path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A process that has done its first item and is within a long point of its second."""
    out = tmp_path / "r.json"
    words = [sys.executable, "-c", SCRIPT, str(out)]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            event = json.loads(line)
            if event["event"] == "item" and event["item"] == "long":
                break
        yield process, out
        process.kill()


def test_sigterm_leaves_a_valid_file_marked_cancelled(running):
    process, out = running
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    result = read(out.read_bytes())
    assert (result.status, result.stopped, len(result.measurements)) == ("partial", "cancelled", 2)


def test_a_killed_process_leaves_a_valid_file_marked_unfinished(running):
    process, out = running
    process.kill()
    process.wait(timeout=30)
    result = read(out.read_bytes())
    assert result.status == "partial"
    assert "had not ended" in str(result.stopped)
    assert len(result.measurements) == 2
