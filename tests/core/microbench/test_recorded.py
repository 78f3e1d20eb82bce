"""Results that ship with the app: each can be read, and what is asked for by a wrong name is refused."""

from __future__ import annotations

import shutil

import pytest

from core.microbench.recorded import FOLDER, names, recorded, title
from core.own_profile import profile_of


def test_at_least_one_is_shipped():
    assert names()


@pytest.mark.parametrize("name", names())
def test_each_is_whole_and_makes_a_profile(name):
    result = recorded(name)
    assert result.status == "complete"
    assert result.measurements
    assert profile_of(result.model_dump()).is_own
    assert result.system.name in title(result)
    assert f"{result.date:%Y-%m-%d}" in title(result)


@pytest.mark.parametrize("name", names())
def test_no_recorded_command_names_a_folder_of_the_machine_that_made_it(name):
    assert "/" not in recorded(name).run.command.replace("core/", "").replace("meta-llama/", "").replace("Qwen/", "")


def test_whatever_lies_in_the_folder_is_listed(tmp_path):
    assert names(tmp_path) == ()
    shutil.copy(FOLDER / f"{names()[0]}.json", tmp_path / "another.json")
    assert names(tmp_path) == ("another",)
    assert recorded("another", tmp_path) == recorded(names()[0])


def test_a_name_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match=r"no result is recorded as '\.\./x'"):
        recorded("../x")


def test_the_title_says_partial_and_how_many_ranks():
    result = recorded(names()[0])
    part = result.model_copy(update={"status": "partial", "stopped": "cancelled"})
    assert title(part).endswith(", partial")
    many = result.model_copy(update={"run": result.run.model_copy(update={"ranks": 2, "set": "collectives"})})
    assert "collectives set over 2, " in title(many)
