"""Small tools of the fold: tables that are never changed, and a moment in the session's own time."""

from __future__ import annotations

import pytest

from core.mock.moment import Moment, put, seat_of, without
from tests.core.mock.made import at_phase


def test_a_table_is_copied_and_cannot_be_written():
    table = put({}, "a", 1)
    assert put(table, "b", 2) == {"a": 1, "b": 2}
    assert table == {"a": 1}
    assert without(put(table, "b", 2), "a") == {"b": 2}
    assert without(table, "none") == table
    with pytest.raises(TypeError):
        table["c"] = 3  # type: ignore[index]


def test_a_moment_is_marked_in_running_seconds_with_its_phase():
    room = at_phase(2)
    mark = Moment("candidate", room.at + 30, 1).mark(room.state)
    assert (mark.t, mark.phase, mark.twists) == (150, 2, 0)


def test_a_writer_is_a_seat():
    assert seat_of(Moment("candidate", 0, 1)) == "candidate"
    assert seat_of(Moment("rater", 0, 1)) == "rater"
    with pytest.raises(AssertionError):
        seat_of(Moment("observer", 0, 1))
