"""The same trace through HolisticTraceAnalysis (Meta, MIT), as numbers to compare with."""

from __future__ import annotations

import gzip
import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True)
class Independent:
    """What the tool says of one rank, in seconds."""

    whole_s: float
    compute_s: float
    idle_s: float
    non_compute_s: float
    overlap: float  # share of the communication that compute hides; NaN without communication
    host_wait_s: float  # on all streams, each on its own
    other_wait_s: float
    launch_calls_s: float  # sums over launches
    launch_delays_s: float
    launches: int


@contextmanager
def quiet() -> Iterator[None]:
    """Without the tool's log, and without the warnings that pandas has for it."""
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")
        # By default it rounds each start up and each end down to whole microseconds, half of a short kernel.
        patch.setitem(os.environ, "HTA_DISABLE_NS_ROUNDING", "1")
        logging.disable(logging.CRITICAL)
        try:
            yield
        finally:
            logging.disable(logging.NOTSET)


def analyze(content: bytes, folder: Path) -> Independent:
    """Run the tool on one trace, plain or gzip. It reads from files only."""
    path = folder / "trace.json"
    path.write_bytes(gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content)
    with quiet():
        from hta.trace_analysis import TraceAnalysis

        # All steps; it leaves out the last one unless told otherwise.
        tool: Any = TraceAnalysis(trace_files={0: str(path)}, trace_dir=str(folder), include_last_profiler_step=True)
        time = tool.get_temporal_breakdown(visualize=False).iloc[0]
        overlap = tool.get_comm_comp_overlap(visualize=False).iloc[0]["comp_comm_overlap_pctg"] / 100
        idle = tool.get_idle_time_breakdown(visualize=False)[0].groupby("idle_category")["idle_time"].sum()
        calls = tool.get_cuda_kernel_launch_stats(visualize=False)[0]
    return Independent(
        whole_s=float(time["kernel_time(us)"]) * 1e-6,
        compute_s=float(time["compute_time(us)"]) * 1e-6,
        idle_s=float(time["idle_time(us)"]) * 1e-6,
        non_compute_s=float(time["non_compute_time(us)"]) * 1e-6,
        overlap=float(overlap),
        host_wait_s=float(idle.get("host_wait", 0.0)) * 1e-6,
        other_wait_s=float(idle.drop("host_wait", errors="ignore").sum()) * 1e-6,
        launch_calls_s=float(calls["cpu_duration"].sum()) * 1e-6,
        launch_delays_s=float(calls["launch_delay"].sum()) * 1e-6,
        launches=len(calls),
    )
