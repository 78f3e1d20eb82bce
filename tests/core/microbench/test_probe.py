"""What a Python can measure, asked in a process of its own: found, or said why not."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

from core.microbench import probe
from core.microbench.probe import look
from tests import fake_python


def test_devices_are_read_from_the_other_process(tmp_path):
    found = look(fake_python.install(tmp_path))
    assert found.torch == "2.13.0"
    assert [(choice.kind, choice.name) for choice in found.choices] == [("cpu", "Fake CPU")]
    assert found.gpus == ()
    assert "without CUDA" in found.problem


def test_this_python_says_whether_it_has_torch():
    found = look(sys.executable)
    if find_spec("torch") is None:
        assert (found.torch, found.choices) == (None, ())
        assert "torch is not installed here" in found.problem
    else:
        assert found.torch
        assert found.choices[-1].kind == "cpu"


def test_asking_does_not_load_torch_here(tmp_path):
    code = (
        f"import sys; from core.microbench.probe import look; look({sys.executable!r}); print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=probe.ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_an_interpreter_that_is_not_there_or_says_nothing_is_told_in_words(tmp_path):
    assert look("/nowhere/python").problem == "/nowhere/python cannot be started: No such file or directory"
    mute = tmp_path / "mute"
    mute.write_text("#!/bin/sh\necho broken >&2\nexit 1\n")
    mute.chmod(0o755)
    assert look(str(mute)).problem == f"{mute} cannot say what it can measure: broken"
    silent = tmp_path / "silent"
    silent.write_text("#!/bin/sh\n")
    silent.chmod(0o755)
    assert "ended with 0 and said nothing" in look(str(silent)).problem


def test_one_that_hangs_is_given_up(tmp_path):
    slow = tmp_path / "slow"
    slow.write_text(f"#!{sys.executable}\nimport time; time.sleep(30)\n")
    slow.chmod(0o755)
    assert "did not say within 0 s" in look(str(slow), seconds=0.3).problem
