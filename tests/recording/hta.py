"""Ask HolisticTraceAnalysis about the traces of ``tests/trace/independent.py``; writes tests/data/hta_splits.json.

    python -m venv /tmp/hta
    /tmp/hta/bin/pip install -r requirements.txt holistictraceanalysis==0.5.0
    /tmp/hta/bin/python -m tests.recording.hta

In an environment of its own, because the tool (MIT) brings JupyterLab and with it some 70 packages. Run it again when a
generated trace changes on purpose: each result lies beside the checksum of its trace, and the suite compares them.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import logging
import math
import os
import platform
import tempfile
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.trace.independent import RESULTS, TRACES, Independent, written

ABOUT = (
    "What HolisticTraceAnalysis says of generated and recorded traces, made by tests/recording/hta.py. Seconds. "
    "overlap: share of the communication that compute hides, null without any. Waits are added up over streams."
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=RESULTS)
    out = parser.parse_args().out
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")  # pandas has many for the tool
    # By default it rounds each start up and each end down to whole microseconds, half of a short kernel.
    os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"
    about = {
        "about": ABOUT,
        "tool": f"HolisticTraceAnalysis {version('holistictraceanalysis')}",
        "with": f"pandas {version('pandas')}, numpy {version('numpy')}, Python {platform.python_version()}",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }
    said = {name: analyze(content) for name, content in TRACES.items()}
    out.write_text(written(about, said))
    print(f"{out}: {len(said)} traces")


def analyze(content: bytes) -> Independent:
    """Run the tool on one trace, plain or gzip. It reads from files only."""
    from hta.trace_analysis import TraceAnalysis  # here, so that --help needs no tool

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        path.write_bytes(gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content)
        # All steps; it leaves out the last one unless told otherwise.
        tool: Any = TraceAnalysis(trace_files={0: str(path)}, trace_dir=folder, include_last_profiler_step=True)
        time = tool.get_temporal_breakdown(visualize=False).iloc[0]
        overlap = float(tool.get_comm_comp_overlap(visualize=False).iloc[0]["comp_comm_overlap_pctg"])
        idle = tool.get_idle_time_breakdown(visualize=False)[0].groupby("idle_category")["idle_time"].sum()
        calls = tool.get_cuda_kernel_launch_stats(visualize=False)[0]
    return Independent(
        whole_s=seconds(time["kernel_time(us)"]),
        compute_s=seconds(time["compute_time(us)"]),
        idle_s=seconds(time["idle_time(us)"]),
        non_compute_s=seconds(time["non_compute_time(us)"]),
        overlap=None if math.isnan(overlap) else float(f"{overlap / 100:.6g}"),
        host_wait_s=seconds(idle.get("host_wait", 0.0)),
        other_wait_s=seconds(idle.drop("host_wait", errors="ignore").sum()),
        launch_calls_s=seconds(calls["cpu_duration"].sum()),
        launch_delays_s=seconds(calls["launch_delay"].sum()),
        launches=len(calls),
    )


def seconds(microseconds: float) -> float:
    """As many digits as nanoseconds need, without the noise of a double."""
    return float(f"{float(microseconds) * 1e-6:.12g}")


if __name__ == "__main__":
    main()
