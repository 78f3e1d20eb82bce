"""The tests' own PostgreSQL server: where it is missing, a test fails in words and is not skipped."""

from __future__ import annotations

import os
from pathlib import Path

import psycopg
import pytest

from tests import databases


def test_without_its_programs_the_tests_fail_in_words(monkeypatch):
    monkeypatch.delenv("POSTGRES", raising=False)
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr(Path, "glob", lambda self, pattern: iter(()))
    with pytest.raises(AssertionError, match="apt-get install postgresql"), databases.postgresql():
        pass


def test_a_folder_of_ones_own_goes_first(monkeypatch, tmp_path):
    for name in ("initdb", "postgres"):
        (tmp_path / name).write_text("")
    monkeypatch.setenv("POSTGRES", str(tmp_path))
    assert databases.programs() == tmp_path


def test_the_server_never_runs_as_root(postgresql_server):
    with psycopg.connect(postgresql_server) as connection:
        (folder,) = connection.execute("SHOW data_directory").fetchone() or ("",)
    owner = Path(folder).stat().st_uid
    assert owner != 0
    assert owner == os.geteuid() or os.geteuid() == 0
