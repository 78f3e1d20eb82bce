"""The command on a CPU: its file, its lines, a cancel, a kill, two ranks over Gloo, and the one script. Needs torch."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

from core.microbench.reading import read
from core.microbench.result import Collective, Copy, Step
from core.microbench.standalone import build
from core.microbench.system import code_sha256

ROOT = Path(__file__).resolve().parents[2]


def started(words: list[str], cwd: Path = ROOT) -> subprocess.Popen[str]:
    return subprocess.Popen(words, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def command(*options: str) -> list[str]:
    return [sys.executable, "-m", "core.microbench", "--device", "cpu", *options]


def events(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def test_a_run_that_meets_its_time_bound_keeps_what_it_has(tmp_path):
    out = tmp_path / "result.json"
    done = started(command("--out", str(out), "--max-seconds", "3", "--summary"))
    lines, errors = done.communicate(timeout=120)
    assert done.returncode == 4, errors
    assert events(lines)[-1] == {
        "event": "done",
        "status": "partial",
        "stopped": "the time bound of 3 s was reached",
        "out": str(out),
    }
    result = read(out.read_bytes())
    assert result.status == "partial"
    assert result.of(Copy)
    assert result.system.device == "cpu"
    assert result.run.code_sha256 == code_sha256()
    assert "copy" in errors


def test_sigterm_leaves_a_valid_file_that_says_so(tmp_path):
    out = tmp_path / "result.json"
    process = started(command("--out", str(out)))
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line)["event"] == "item" and json.loads(line)["done"] == 1:
            break
    process.send_signal(signal.SIGTERM)
    began = time.monotonic()
    process.communicate(timeout=60)
    assert time.monotonic() - began < 20
    assert process.returncode == 4
    result = read(out.read_bytes())
    assert (result.status, result.stopped) == ("partial", "cancelled")
    assert result.measurements


def test_a_killed_run_leaves_a_valid_file_that_says_it_had_not_ended(tmp_path):
    out = tmp_path / "result.json"
    process = started(command("--out", str(out)))
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line)["event"] == "item" and json.loads(line)["done"] == 1:
            break
    process.kill()
    process.communicate(timeout=60)
    result = read(out.read_bytes())
    assert result.status == "partial"
    assert "had not ended" in str(result.stopped)


def test_two_ranks_over_gloo(tmp_path):
    out = tmp_path / "links.json"
    words = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m"]
    words += ["core.microbench", "--set", "collectives", "--device", "cpu", "--out", str(out), "--max-seconds", "60"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    assert events(done.stdout)[-1]["status"] == "complete"
    result = read(out.read_bytes())
    assert result.run.ranks == 2
    assert result.skipped == ()
    assert {entry.op for entry in result.of(Collective)} == {"all_reduce", "all_gather", "reduce_scatter", "all_to_all"}


def test_the_one_script_measures_without_the_repository(tmp_path):
    (tmp_path / "microbench.py").write_text(build())
    out = tmp_path / "result.json"
    words = [sys.executable, "-I", "microbench.py", "--device", "cpu", "--out", str(out), "--max-seconds", "2"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 4, done.stderr
    result = read(out.read_bytes())
    assert result.run.code_sha256 == code_sha256()
    assert result.measurements


def test_a_shape_from_the_catalog(tmp_path):
    out = tmp_path / "result.json"
    done = subprocess.run(
        command("--out", str(out), "--model", "Qwen/Qwen3-1.7B", "--max-seconds", "1"),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 4, done.stderr
    result = read(out.read_bytes())
    assert result.run.models[0].hidden_size == 2048
    assert result.of(Step) == ()
