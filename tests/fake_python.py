"""A stand-in for a Python that has torch: it answers the probe and speaks the benchmark's protocol, without torch.

``install(folder, mode)`` writes a program to name as the interpreter. Its result is the one of tests/core/own_run.py on
a made-up CPU. Modes: "good"; "slow": waits in the third item until it is asked to end; "deaf": the same, and does not
listen; "crash", "killed", "hungry": how it goes wrong after that item; "swollen": holds 100 MiB until it is asked to
end; "leaves": a process of its own outlives it; "refused": it does not begin.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.core.own_run import whole

ITEMS = ["copy", "launch", "product", "attention", "decode step"]
_PROGRAM = """#!{python}
import json, os, signal, subprocess, sys, time

MODE, ITEMS, RESULT = {mode!r}, {items!r}, json.loads({result!r})
arguments = sys.argv[1:]
if arguments[:2] == ["-m", "core.microbench.probe"]:
    cpu = {{"kind": "cpu", "index": 0, "name": "Fake CPU", "memory_bytes": 16 * 10**9, "free_bytes": 8 * 10**9}}
    problem = "torch 2.13.0 was built without CUDA; install a CUDA build, or use --device cpu"
    print("a library greets on standard output")
    print(json.dumps({{"torch": "2.13.0", "choices": [cpu | {{"is_slice": False}}], "problem": problem}}))
    sys.exit()
assert arguments[:2] == ["-m", "core.microbench"], arguments
out = arguments[arguments.index("--out") + 1]
asked = []
if MODE == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
else:
    signal.signal(signal.SIGTERM, lambda number, frame: asked.append(number))


def say(**event):
    print(json.dumps(event), flush=True)


def save(done, stopped):
    part = RESULT | {{"status": "partial" if stopped else "complete", "stopped": stopped}}
    part["measurements"] = RESULT["measurements"][: max(len(RESULT["measurements"]) * done // len(ITEMS), 1)]
    with open(out + ".part", "w") as file:
        json.dump(part, file)
    os.replace(out + ".part", out)


if MODE == "refused":
    say(event="refused", reason="the driver is too old for this torch")
    sys.exit(3)
print("torch warns of something", flush=True)
if MODE == "leaves":
    left = subprocess.Popen(["sleep", "60"], stdout=subprocess.DEVNULL)
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "left"), "w") as file:
        file.write(str(left.pid))
say(event="start", total=len(ITEMS), items=ITEMS)
save(0, "the run had not ended when this file was written")
for done, item in enumerate(ITEMS):
    say(event="item", item=item, done=done, total=len(ITEMS), seconds_left=float(len(ITEMS) - done))
    if done == 1:
        say(event="skipped", item=item, reason="no such unit here")
    if done == 2 and MODE == "swollen":
        held = b"x" * (100 * 2**20)
    until = time.monotonic() + (60 if MODE in ("slow", "deaf", "swollen") and done == 2 else 0.3)
    while time.monotonic() < until and not asked:
        time.sleep(0.02)
    if asked:
        save(done, "cancelled")
        say(event="done", status="partial", stopped="cancelled", out=out)
        sys.exit(4)
    save(done + 1, "the run had not ended when this file was written")
    if done == 2 and MODE == "crash":
        sys.exit("RuntimeError: CUDA error: an illegal memory access was encountered")
    if done == 2 and MODE == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if done == 2 and MODE == "hungry":
        held = b"x" * (200 * 2**20)
        time.sleep(60)
save(len(ITEMS), None)
say(event="done", status="complete", stopped=None, out=out)
"""


def result() -> dict[str, object]:
    """What a whole run of it writes: the made-up machine's result as a CPU's, which the catalog does not have."""
    made = whole()
    made["system"] = made["system"] | {"device": "cpu", "name": "Fake CPU", "capability": None, "cuda": None}
    return made


def install(folder: Path, mode: str = "good") -> str:
    """Write the program and return its path; written again in another mode, it changes under the same path."""
    path = folder / "python"
    text = _PROGRAM.format(python=sys.executable, mode=mode, items=ITEMS, result=json.dumps(result()))
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    part.chmod(0o755)
    part.replace(path)
    return str(path)
