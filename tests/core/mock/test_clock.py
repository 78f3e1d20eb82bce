"""The clock warns at three quarters, and what a phase takes the later ones lose."""

from __future__ import annotations

import pytest

from core.mock.clock import clock
from tests.core.mock.made import at_phase, opened, whole

MINUTES = [3, 4, 5, 13, 10, 5, 3, 2]


def lengths(room, now: float) -> list[float]:
    return [seconds / 60 for _, seconds in clock(room.state, now).upcoming]


def test_before_the_start_all_is_as_planned():
    now = clock(opened().state, 0)
    assert (now.started, now.running, now.phase, now.left_s) == (False, False, None, 45 * 60)
    assert [seconds / 60 for _, seconds in now.upcoming] == MINUTES


def test_a_phase_warns_at_three_quarters_and_never_blocks():
    room = at_phase(0)
    assert not clock(room.state, room.at + 134).warns
    assert clock(room.state, room.at + 135).warns  # of 180 s
    late = clock(room.state, room.at + 200)
    assert late.warns
    assert late.phase_left_s == -20
    assert late.running


def test_a_phase_that_runs_over_shrinks_the_later_ones_alike():
    room = at_phase(0)
    assert lengths(room, room.at + 180) == pytest.approx(MINUTES[1:])
    share = (45 - 10) / 42  # ten minutes gone, 42 were planned for the rest
    assert lengths(room, room.at + 600) == pytest.approx([minutes * share for minutes in MINUTES[1:]])


def test_a_stretch_is_taken_from_the_later_phases_at_once():
    room = at_phase(0)
    room.does("interviewer", "stretched", seconds=240)
    now = clock(room.state, room.at)
    assert now.phase_s == 420
    assert sum(seconds for _, seconds in now.upcoming) == pytest.approx(45 * 60 - 420)


def test_time_that_was_won_does_not_make_later_phases_longer():
    room = at_phase(3)  # three minutes gone where twelve were planned
    assert clock(room.state, room.at).phase_s == 13 * 60
    assert lengths(room, room.at) == MINUTES[4:]


def test_a_phase_that_begins_late_is_shorter_too():
    room = at_phase(0)
    room.does("interviewer", "phase_started", phase=1, after_s=24 * 60)
    now = clock(room.state, room.at)
    assert now.phase_s / 60 == pytest.approx(4 * 21 / 42)
    assert now.left_s == 21 * 60


def test_when_all_time_is_gone_nothing_is_left_and_nothing_is_negative():
    room = at_phase(7)
    now = clock(room.state, room.at + 10_000)
    assert (now.left_s, now.upcoming) == (0, ())
    early = at_phase(1)
    assert set(lengths(early, early.at + 10_000)) == {0}


def test_a_pause_stands_still():
    room = at_phase(2).does("interviewer", "paused", after_s=30)
    first, later = clock(room.state, room.at), clock(room.state, room.at + 500)
    assert first == later
    assert (first.paused, first.running, first.phase_elapsed_s) == (True, False, 30)


def test_a_finished_session_stands_still():
    room = whole()
    assert clock(room.state, room.at) == clock(room.state, room.at + 500)
    assert clock(room.state, room.at).finished
