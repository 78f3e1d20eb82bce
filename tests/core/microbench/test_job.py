"""A run as a child process: followed to its end, cancelled, bounded, and whatever happens to it stays with it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from core.microbench import job as jobs
from core.microbench.job import BusyError, Desk, Job, Order, Progress
from core.microbench.reading import read
from tests import fake_python

SOON = 20.0  # seconds; a loaded machine starts a process in one or two


@pytest.fixture
def desk():
    made = Desk()
    yield made
    made.clear()


@pytest.fixture
def start(desk, tmp_path):
    def run(mode: str = "good", **order: object) -> Job:
        return desk.start(Order(python=fake_python.install(tmp_path, mode), **order))

    return run


def until(condition, seconds: float = SOON) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.02)


def test_a_run_is_followed_to_its_end(start):
    job = start()
    until(lambda: job.progress.total == len(fake_python.ITEMS))
    until(lambda: job.progress.done > 1)
    halfway = read(job.text())
    assert halfway.status == "partial"
    ended = job.wait(SOON)
    assert (ended.state, ended.share, ended.skipped, ended.reason) == ("complete", 1.0, 1, "")
    assert read(job.text()).status == "complete"
    took = job.elapsed_s
    time.sleep(0.05)
    assert job.elapsed_s == took


def test_cancelling_keeps_what_there_is(start):
    job = start("slow")
    until(lambda: job.progress.done == 2)
    began = time.monotonic()
    job.cancel()
    assert job.progress.state == "cancelling"
    ended = job.wait(SOON)
    assert (ended.state, ended.reason) == ("partial", "cancelled")
    assert time.monotonic() - began < 5
    result = read(job.text())
    assert (result.status, result.stopped) == ("partial", "cancelled")
    assert result.measurements


def test_a_child_that_does_not_listen_is_killed(start, monkeypatch):
    monkeypatch.setattr(jobs, "GRACE_SECONDS", 0.5)
    job = start("deaf")
    until(lambda: job.progress.done == 2)
    job.cancel()
    assert job.wait(SOON).state == "partial"
    assert read(job.text()).status == "partial"


def test_a_run_beyond_its_time_is_ended(start, monkeypatch):
    monkeypatch.setattr(jobs, "START_SECONDS", 0.5)
    job = start("slow", max_seconds=1.0)
    ended = job.wait(SOON)
    assert ended.state == "partial"
    assert ended.reason.startswith("it had not ended after ")


def test_a_run_that_takes_too_much_memory_is_ended(start):
    job = start("hungry", max_host_bytes=100 * 2**20)
    ended = job.wait(SOON)
    assert ended.state == "partial"
    assert "more than the 0.105 GB allowed" in ended.reason


def test_a_run_beyond_its_memory_is_asked_first_and_keeps_what_it_has(start):
    job = start("swollen", max_host_bytes=100 * 2**20)  # with its interpreter 0.112 GB, below 1.2 times the bound
    ended = job.wait(SOON)
    assert ended.state == "partial"
    assert "more than the 0.105 GB allowed" in ended.reason
    assert read(job.text()).stopped == "cancelled", "the child itself wrote its end"
    assert job._child.returncode == 4


def test_no_signal_is_sent_once_the_childs_id_may_be_anothers(start, monkeypatch):
    sent = []

    def killpg(group, number):
        sent.append(job._child.returncode)
        real(group, number)

    real = os.killpg
    monkeypatch.setattr(jobs.os, "killpg", killpg)
    job = start()
    job.wait(SOON)
    assert sent == [None], "what it left behind is ended while the child still holds its id"
    job.cancel()
    job.forget()
    assert sent == [None]


def test_what_a_child_leaves_behind_is_ended_with_it(start, tmp_path):
    job = start("leaves")
    assert job.wait(SOON).state == "complete"
    status = Path("/proc", (tmp_path / "left").read_text(), "status")

    def gone() -> bool:
        try:
            return "State:\tZ" in status.read_text()
        except (FileNotFoundError, ProcessLookupError):
            return True

    until(gone)


def test_a_crash_is_told_in_the_childs_own_last_words(start):
    ended = start("crash").wait(SOON)
    assert ended.state == "crashed"
    assert ended.reason == (
        "its process ended with code 1: RuntimeError: CUDA error: an illegal memory access was encountered"
    )


def test_a_child_that_the_system_killed_keeps_its_part(start):
    job = start("killed")
    ended = job.wait(SOON)
    assert ended.state == "crashed"
    assert "SIGKILL, as the system does when memory runs out" in ended.reason
    assert read(job.text()).stopped == "the run had not ended when this file was written"


def test_a_refusal_is_handed_on(start):
    job = start("refused")
    ended = job.wait(SOON)
    assert (ended.state, ended.reason) == ("refused", "the driver is too old for this torch")
    assert (job.text(), job.version()) == (None, 0)


def test_one_run_at_a_time(desk, start, tmp_path):
    first = start("slow")
    with pytest.raises(BusyError, match="a run is on already"):
        start()
    first.cancel()
    first.wait(SOON)
    second = start()
    assert desk.job is second
    assert not first.out.parent.exists()


def test_clearing_ends_the_child_and_removes_its_files(desk, start):
    job = start("slow")
    until(lambda: job.out.exists())
    pid = job._child.pid
    desk.clear()
    assert desk.job is None
    assert not job.out.parent.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_an_interpreter_that_is_not_there_is_refused_in_words(desk):
    with pytest.raises(OSError, match=r"/nowhere/python cannot be started: No such file"):
        desk.start(Order(python="/nowhere/python"))
    assert desk.job is None


def test_the_command_names_device_bounds_and_models(tmp_path):
    order = Order("py", "full", "cuda", 1, 600.0, 0.5, models=("Qwen/Qwen3-8B",))
    words = order.command(tmp_path / "r.json")
    assert words[:3] == ["py", "-m", "core.microbench"]
    assert " ".join(words[3:]).replace(str(tmp_path), "") == (
        "--out /r.json --set full --device cuda --index 1 --model Qwen/Qwen3-8B --max-seconds 600 --memory-share 0.5"
    )


def test_collectives_are_started_by_torchs_own_launcher(tmp_path):
    words = Order("py", "collectives", "cuda", ranks=4).command(tmp_path / "r.json")
    assert words[1:8] == [
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        "4",
        "-m",
        "core.microbench",
    ]
    assert "--index" not in words


def test_the_real_command_understands_every_word(tmp_path):
    from core.microbench.run import parser

    for order in (Order("py", "quick", "cpu"), Order("py", "full", "cuda", 1, models=("a", "b"))):
        parser().parse_args(order.command(tmp_path / "r.json")[3:])


def test_time_left_counts_down_from_what_was_said():
    assert Progress().left_s(5.0) is None
    assert Progress(seconds_left=10.0, said_at=2.0).left_s(5.0) == 7.0
    assert Progress(seconds_left=1.0, said_at=2.0).left_s(5.0) == 0.0
    assert Progress().share == 0.0
