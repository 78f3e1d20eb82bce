"""The file is whole and valid at each moment, and says whether the run had ended."""

from __future__ import annotations

import json

import pytest

from core.microbench import record as record_module
from core.microbench.reading import read
from core.microbench.record import UNFINISHED, Record, utc_now, write
from tests.core.microbench.fakes import DOCUMENT


def filled() -> Record:
    parts = {name: DOCUMENT[name] for name in ("run", "system", "measurements", "skipped", "notes")}
    return Record(**json.loads(json.dumps(parts)))


def test_before_its_end_a_file_is_partial_and_says_why(tmp_path):
    write(filled(), tmp_path / "r.json")
    result = read((tmp_path / "r.json").read_bytes())
    assert (result.status, result.stopped) == ("partial", UNFINISHED)


def test_what_is_written_is_what_was_found(tmp_path):
    record = filled()
    record.stopped = None
    write(record, tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text()) == {**DOCUMENT, "status": "complete", "stopped": None}
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]


def test_each_measurement_has_a_line(tmp_path):
    write(filled(), tmp_path / "r.json")
    lines = (tmp_path / "r.json").read_text().splitlines()
    assert sum(line.startswith('{"kind":') for line in lines) == len(DOCUMENT["measurements"])


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    write(filled(), tmp_path / "r.json")
    before = (tmp_path / "r.json").read_bytes()

    def full(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(record_module.os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        write(filled(), tmp_path / "r.json")
    assert (tmp_path / "r.json").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]


def test_what_is_no_number_is_never_written(tmp_path):
    record = filled()
    record.measurements[0]["error"] = float("nan")
    with pytest.raises(ValueError, match="not JSON compliant"):
        write(record, tmp_path / "r.json")
    assert list(tmp_path.iterdir()) == []


def test_a_skipped_point_is_noted_with_its_settings_and_a_reason_of_bounded_length():
    record = Record({}, {})
    record.skip("product fp8", "x" * 1000, {"m": 1})
    record.skip("product int8", "no")
    assert [len(entry["reason"]) for entry in record.skipped] == [500, 2]
    assert record.skipped[0]["settings"] == {"m": 1}
    assert "settings" not in record.skipped[1]


def test_times_of_day_are_utc():
    assert utc_now().endswith("Z")
    assert len(utc_now()) == len("2026-01-31T09:30:00Z")
