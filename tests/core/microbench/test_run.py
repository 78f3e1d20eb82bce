"""The command refuses in words and leaves with the right code."""

from __future__ import annotations

import json
import signal
import sys

import pytest

from core.microbench import run
from core.microbench.run import PARTIAL, REFUSED, Stop, main, parser


def refused(capsys, *options: str) -> str:
    """The sentence of a run that refuses."""
    assert main(options) == REFUSED
    [line] = capsys.readouterr().out.splitlines()
    event = json.loads(line)
    assert event["event"] == "refused"
    return event["reason"]


@pytest.fixture(autouse=True)
def _signals_as_they_were():
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def out(tmp_path) -> str:
    return str(tmp_path / "r.json")


def test_without_torch_it_says_what_to_install_and_writes_nothing(capsys, monkeypatch, tmp_path, out):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert "torch is not installed here" in refused(capsys, "--out", out)
    assert list(tmp_path.iterdir()) == []


def test_collectives_without_torchrun_say_how_to_start(capsys, monkeypatch, out):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    assert "torchrun --standalone --nproc-per-node 2" in refused(capsys, "--out", out, "--set", "collectives")


def test_another_set_under_torchrun_is_refused(capsys, monkeypatch, out):
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert "measured by one process" in refused(capsys, "--out", out)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--memory-share", "0"), "is not a share"),
        (("--memory-share", "1.5"), "is not a share"),
        (("--memory-share", "nan"), "is not a share"),
        (("--max-seconds", "0"), "is not a time above zero"),
        (("--max-seconds", "inf"), "is not a time above zero"),
        (("--max-seconds", "nan"), "is not a time above zero"),
    ],
)
def test_odd_bounds_are_refused(capsys, out, options, words):
    assert words in refused(capsys, "--out", out, *options)


@pytest.mark.parametrize("options", [(), ("--out", "r.json", "--set", "huge"), ("--out", "r.json", "--dtype", "fp8")])
def test_wrong_options_are_answered_with_the_usage(capsys, options):
    with pytest.raises(SystemExit) as left:
        main(options)
    assert left.value.code == 2
    assert "usage: python -m core.microbench" in capsys.readouterr().err


def test_the_quick_set_is_what_one_gets():
    options = parser().parse_args(["--out", "r.json"])
    assert (options.set_name, options.memory_share, options.model) == ("quick", 0.9, [])


def test_a_signal_asks_and_does_not_interrupt():
    stop = Stop()
    stop.install()
    assert not stop()
    signal.raise_signal(signal.SIGTERM)
    assert stop()


def test_exit_codes_differ():
    assert len({run.COMPLETE, run.USAGE, REFUSED, PARTIAL}) == 4
