"""A run as a child process: started, followed, bounded in time and memory, cancelled. Nothing here needs torch.

The child is the command of :mod:`core.microbench.run`; its lines of JSON are the progress, its file is the result.
Whatever happens in it, an error of the device, too little memory, a crash, happens to the child alone.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from core.display import show_bytes

State = Literal["running", "cancelling", "complete", "partial", "refused", "crashed"]
ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 90.0  # a first import of torch from a slow disk takes half a minute
GRACE_SECONDS = 15.0  # from asking a child to end until it is killed
LOOK_EVERY = 0.5  # seconds
HOST_MEMORY_SHARE = 0.7  # of what is available when the run starts; a desk machine should stay usable
KILL_MEMORY_FACTOR = 1.2  # times the bound, at which a child is no longer asked to end but killed
_STATES: dict[int, State] = {0: "complete", 3: "refused", 4: "partial"}  # exit codes of core.microbench.run


@dataclass(frozen=True, slots=True)
class Order:
    """What to run."""

    python: str  # path of an interpreter that has torch
    set_name: str = "quick"
    device: str = "cpu"
    index: int = 0
    max_seconds: float = 50.0
    memory_share: float = 0.8  # of the device's free memory
    max_host_bytes: int | None = None  # of the child and its own children; None: a share of what is available
    models: tuple[str, ...] = ()
    ranks: int = 1  # GPUs of the collectives

    def command(self, out: Path) -> list[str]:
        """The words to start."""
        words = [self.python, "-m", "core.microbench"]
        if self.ranks > 1:
            launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(self.ranks)]
            words = [self.python, *launcher, "-m", "core.microbench"]
        words += ["--out", str(out), "--set", self.set_name, "--device", self.device]
        words += ["--index", str(self.index)] if self.device == "cuda" and self.ranks == 1 else []
        words += [word for model in self.models for word in ("--model", model)]
        return [*words, "--max-seconds", f"{self.max_seconds:g}", "--memory-share", f"{self.memory_share:g}"]


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands."""

    state: State = "running"
    item: str = ""
    done: int = 0
    total: int = 0
    seconds_left: float | None = None  # by the child's own guess, when it last said something
    said_at: float = 0.0
    skipped: int = 0
    reason: str = ""  # why it is refused, partial or crashed, in words

    @property
    def running(self) -> bool:
        """Whether the child may still be there."""
        return self.state in ("running", "cancelling")

    @property
    def share(self) -> float:
        """Of the items that are behind it. [-]"""
        return self.done / self.total if self.total else 0.0

    def left_s(self, now: float) -> float | None:
        """Time left; None until the child has said. [s]"""
        return None if self.seconds_left is None else max(self.seconds_left - (now - self.said_at), 0.0)


@dataclass(eq=False)
class Job:
    """One run. Its folder holds the result until :meth:`forget`."""

    order: Order
    began: float = field(default_factory=time.monotonic)
    _progress: Progress = field(default_factory=Progress, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _signals: threading.Lock = field(default_factory=threading.Lock, init=False)  # none is sent once it is reaped
    _asked_to_end: float | None = field(default=None, init=False)
    _ended: float | None = field(default=None, init=False)
    _bound: str = field(default="", init=False)  # which bound ended it, in words

    def __post_init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="microbench-"))
        self.out = self._folder / "result.json"
        self._max_host_bytes = self.order.max_host_bytes or round(HOST_MEMORY_SHARE * _available_bytes())
        with (self._folder / "stderr").open("wb") as errors:
            try:
                self._child = subprocess.Popen(
                    self.order.command(self.out),
                    cwd=ROOT,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    start_new_session=True,  # so that all of its processes can be ended together
                )
            except OSError as error:
                shutil.rmtree(self._folder, ignore_errors=True)
                raise OSError(f"{self.order.python} cannot be started: {error.strerror or error}") from None
        with suppress(OSError):  # if memory runs out, this child is the one to go, and not the app
            Path(f"/proc/{self._child.pid}/oom_score_adj").write_text("1000")
        atexit.register(self._kill)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    @property
    def progress(self) -> Progress:
        """Where it stands now."""
        with self._lock:
            return self._progress

    @property
    def elapsed_s(self) -> float:
        """How long it has run, or ran. [s]"""
        return (self._ended or time.monotonic()) - self.began

    def text(self) -> str | None:
        """The result so far: a whole document at any moment, or None before there is one."""
        try:
            return self.out.read_text(encoding="utf-8")
        except OSError:
            return None

    def version(self) -> int:
        """Changes when the file does; 0 before there is one."""
        try:
            return self.out.stat().st_mtime_ns
        except OSError:
            return 0

    def cancel(self) -> None:
        """Ask it to end between two samples and keep what it has; it is killed if it does not."""
        self._end("")

    def forget(self) -> None:
        """End it and remove its files."""
        self._kill()
        self._watcher.join()
        shutil.rmtree(self._folder, ignore_errors=True)
        atexit.unregister(self._kill)

    def wait(self, seconds: float) -> Progress:
        """Wait until it has ended, at most so long. [s]"""
        until = time.monotonic() + seconds
        while self.progress.running and time.monotonic() < until:
            time.sleep(0.02)
        return self.progress

    def _end(self, bound: str) -> None:
        with self._lock:
            if not self._progress.running or self._asked_to_end is not None:
                return
            self._asked_to_end, self._bound = time.monotonic(), bound
            self._progress = replace(self._progress, state="cancelling")
        self._signal(signal.SIGTERM)

    def _kill(self) -> None:
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        """To all of its processes, while their group is surely ours: once the child is reaped, its id may be reused."""
        with self._signals:
            if self._child.returncode is None:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._child.pid, number)

    def _reap(self) -> int:
        """End what the ended child left behind, while its id is still held for it; its exit code."""
        with self._signals:
            if self._child.returncode is None:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._child.pid, signal.SIGKILL)
            return self._child.wait()

    def _read(self) -> None:
        assert self._child.stdout is not None
        with self._child.stdout as lines:
            for line in lines:
                with suppress(ValueError, TypeError, AttributeError):  # torch's own words there are none of ours
                    self._take(json.loads(line))

    def _take(self, event: dict[str, Any]) -> None:
        name = event.get("event")
        with self._lock:
            now = self._progress
            if name == "start":
                self._progress = replace(now, total=int(event["total"]))
            elif name == "item":
                self._progress = replace(
                    now,
                    item=str(event["item"]),
                    done=int(event["done"]),
                    total=int(event["total"]),
                    seconds_left=float(event["seconds_left"]),
                    said_at=time.monotonic(),
                )
            elif name == "skipped":
                self._progress = replace(now, skipped=now.skipped + 1)
            elif name in ("refused", "done"):
                self._progress = replace(now, reason=str(event.get("reason") or event.get("stopped") or ""))

    def _watch(self) -> None:
        """Hold the bounds until the child has ended, then say how it did."""
        while not _has_ended(self._child):
            if self._asked_to_end is None and self.elapsed_s > self.order.max_seconds + START_SECONDS:
                self._end(f"it had not ended after {self.elapsed_s:.0f} s")
            held = _resident_bytes(self._child.pid)
            if held > self._max_host_bytes:  # asked first, so that it keeps what it has measured
                self._end(
                    f"it held {show_bytes(held)} of memory, more than the {show_bytes(self._max_host_bytes)} allowed"
                )
            late = self._asked_to_end is not None and time.monotonic() - self._asked_to_end > GRACE_SECONDS
            if late or held > KILL_MEMORY_FACTOR * self._max_host_bytes:
                self._kill()
            time.sleep(LOOK_EVERY)
        self._reader.join(GRACE_SECONDS)
        code = self._reap()
        with self._lock:
            self._ended = time.monotonic()
            state = _STATES.get(code, "crashed")
            if self._asked_to_end is not None and state == "crashed":
                state = "partial"
            now = self._progress
            done = now.total if state == "complete" else now.done
            self._progress = replace(now, state=state, done=done, reason=self._why(state, code, now.reason))

    def _why(self, state: State, code: int, said: str) -> str:
        if self._bound:
            return self._bound
        if said or state == "complete":
            return said
        if self._asked_to_end is not None:
            return "cancelled"
        lines = (self._folder / "stderr").read_text(errors="replace").strip().splitlines()[-1:]
        last = f": {lines[0]:.300}" if lines else ""
        if code < 0:
            name = signal.Signals(-code).name
            often = ", as the system does when memory runs out" if -code == signal.SIGKILL else ""
            return f"its process was ended by {name}{often}{last}"
        return f"its process ended with code {code}{last}"


class BusyError(RuntimeError):
    """A run is on already."""


class Desk:
    """One run at a time; the last one's result stays until the next is started."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._job: Job | None = None

    @property
    def job(self) -> Job | None:
        """The run that is on, or the last one."""
        return self._job

    def start(self, order: Order) -> Job:
        """Start a run.

        Raises:
            BusyError: another one has not ended.
            OSError: the interpreter cannot be started; in words.
        """
        with self._lock:
            if self._job is not None:
                if self._job.progress.running:
                    raise BusyError("a run is on already; wait for it, or cancel it")
                self._job.forget()
                self._job = None
            self._job = Job(order)
            return self._job

    def clear(self) -> None:
        """End the run that is on, and forget the last."""
        with self._lock:
            if self._job is not None:
                self._job.forget()
                self._job = None


def _has_ended(child: subprocess.Popen[bytes]) -> bool:
    """Whether it has, without reaping it where the system can tell: until then nobody else gets its id."""
    if not hasattr(os, "waitid"):  # macOS before Python 3.13
        return child.poll() is not None
    try:
        return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:  # somebody else reaped it
        return child.poll() is not None


def _available_bytes() -> int:
    """Memory that processes may still take; where the system does not say, enough for a run on a GPU. [bytes]"""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError, IndexError):
        return 16 * 10**9


def _resident_bytes(session: int) -> int:
    """Memory that the processes of a session hold; 0 where there is no /proc. [bytes]"""
    total = 0
    page = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            fields = stat.read_text().rpartition(")")[2].split()  # the name before it may hold anything
            if int(fields[3]) == session:  # state, parent, group, session
                total += int(fields[21]) * page  # resident pages
    return total
