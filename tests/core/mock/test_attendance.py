"""Presence: a seat is here while its own tab is, and an absent interviewer stops the clock."""

from __future__ import annotations

from core.mock.attendance import attendance
from core.storage.records import Seen
from tests.core.mock.made import at_phase, opened


def test_a_seat_turns_grey_after_ten_seconds():
    room = at_phase(1)
    tabs = [Seen("interviewer", "tab-interviewer", room.at), Seen("candidate", "tab-candidate", room.at - 9)]
    assert attendance(room.state, tabs, room.at).here == {"interviewer", "candidate"}
    assert attendance(room.state, tabs, room.at + 2).here == {"interviewer"}
    assert attendance(room.state, tabs, room.at + 20).here == frozenset()


def test_a_second_tab_on_the_same_link_does_not_hold_the_seat():
    room = at_phase(1)
    room.at += 100
    tabs = [Seen("candidate", "other-tab", room.at), Seen("candidate", "tab-candidate", room.at - 50)]
    assert "candidate" not in attendance(room.state, tabs, room.at).here


def test_observers_are_counted_and_not_named():
    room = at_phase(1)
    tabs = [Seen("observer", "a", room.at), Seen("observer", "b", room.at - 3), Seen("observer", "c", room.at - 30)]
    assert attendance(room.state, tabs, room.at).watching == 2


def test_the_clock_is_to_be_paused_after_a_minute_without_the_leader():
    room = at_phase(1)
    tabs = [Seen("interviewer", "tab-interviewer", room.at)]
    assert not attendance(room.state, tabs, room.at + 59).leader_away
    assert attendance(room.state, tabs, room.at + 60).leader_away
    room.does("server", "paused", reason="away")
    assert not attendance(room.state, tabs, room.at + 90).leader_away


def test_before_the_start_nobody_is_missed():
    room = opened()
    assert not attendance(room.state, [], room.at + 1000).leader_away
