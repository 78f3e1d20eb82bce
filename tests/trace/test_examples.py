"""The traces that ship: each shows the waste that it was recorded for."""

from __future__ import annotations

import json

from core.trace.examples import examples
from core.trace.reading import read_trace
from core.trace.report import report
from core.trace.verdict import verdict
from tests.trace.build import document, gpu, packed

LARGEST_BYTES = 1_500_000  # of one file in the repository
# What each was recorded to show, and the least share of its time that this takes.
SHOWN = {"decode": ("launch", 0.9), "training": ("communication", 0.35)}


def test_ranks_of_one_recording_belong_together(tmp_path):
    for name, rank in (("decode", None), ("training-rank10", 10), ("training-rank2", 2)):
        about = document([gpu(1, 2)], rank, 11) | {"recorded": {"what": name, "torch": 2}}
        (tmp_path / f"{name}.json.gz").write_bytes(packed(json.dumps(about).encode()))
    found = examples(tmp_path)
    assert list(found) == ["decode", "training"]
    assert [path.name for path in found["training"].paths] == ["training-rank2.json.gz", "training-rank10.json.gz"]
    assert found["training"].recorded == {"what": "training-rank2", "torch": "2"}
    assert [rank.rank for rank in read_trace(found["training"].files()).ranks] == [2, 10]


def test_what_ships_is_complete_small_whole_and_shows_its_waste():
    shipped = examples()
    assert set(shipped) == set(SHOWN)
    for name, example in shipped.items():
        trace = read_trace(example.files())
        measured = report(trace)
        assert not trace.partial, trace.notes
        waste, least = SHOWN[name]
        assert verdict(measured).shares[waste] >= least
        assert all(gpu.steps.size >= 3 for gpu in measured.gpus)
        assert all(path.stat().st_size < LARGEST_BYTES for path in example.paths)
        assert {"what", "date", "gpu", "torch"} <= set(example.recorded)
