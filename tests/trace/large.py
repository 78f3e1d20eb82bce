"""Time and memory of reading one large trace: `python -m tests.trace.large [MB]`, 200 without a number."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from core.units import MB
from tests.trace.build import pieces_of_large_trace

_READ = r"""
import json, re, sys, time
from core.trace.reading import read_trace
from core.trace.report import report
from core.trace.verdict import verdict
told = []
begin = time.perf_counter()
with open(sys.argv[1], "rb") as file:
    verdict(report(read_trace([("large.json", file)], progress=told.append)))
seconds = time.perf_counter() - begin
# Not ru_maxrss: Linux lets a new program inherit that of the process that started it.
peak = int(re.search(r"VmHWM:\s+(\d+) kB", open("/proc/self/status").read())[1]) * 1024
print(json.dumps([seconds, peak, len(told)]))
"""


def measure(num_bytes: int) -> tuple[float, int, int]:
    """Seconds, peak bytes of a fresh process, and how often progress was told, from the file to the verdict."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.json"
        with path.open("wb") as file:
            file.writelines(pieces_of_large_trace(num_bytes))
        command = [sys.executable, "-c", _READ, str(path)]
        root = Path(__file__).resolve().parents[2]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    seconds, peak_bytes, told = json.loads(done.stdout)
    return seconds, peak_bytes, told


if __name__ == "__main__":
    size = int(float(sys.argv[1] if len(sys.argv) > 1 else 200) * MB)
    seconds, peak_bytes, told = measure(size)
    print(f"{size / MB:.0f} MB: {seconds:.1f} s, {peak_bytes / MB:.0f} MB at most, progress told {told} times")
