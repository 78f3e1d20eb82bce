"""Everything at once, rank by rank."""

from __future__ import annotations

import pytest

from core.trace.reading import read_trace
from core.trace.report import report
from tests.trace.build import ADD, MATMUL, as_bytes, gpu, read, recording


def test_there_is_one_entry_for_each_rank_and_gpu():
    trace = read_trace([(f"{rank}.json", as_bytes(recording(rank), rank, 3)) for rank in (0, 2)])
    found = report(trace)
    assert found.ranks == (0, 2)
    assert [(gpu.rank, gpu.device) for gpu in found.gpus] == [(0, 0), (2, 0)]
    assert len(found.launches) == len(found.kernels) == len(found.collectives) == 2
    assert found.notes == trace.notes
    assert "2 of the job's 3 ranks" in found.notes[0]


def test_work_shares_are_of_compute_alone():
    found = report(read(gpu(0, 30, MATMUL), gpu(40, 10, ADD), gpu(60, 50, "Memset (Device)")))
    assert found.work_share("matrix products") == pytest.approx(0.75)
    assert found.work_share("attention") == 0
    assert report(read(gpu(60, 50, "Memset (Device)"))).work_share("matrix products") == 0
