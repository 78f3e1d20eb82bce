"""The limits leave room for a real session, and refuse what none needs."""

from __future__ import annotations

from core.storage.records import Draft, Limits, NewRoom


def test_an_hour_with_an_event_a_second_fits_four_times():
    assert Limits().events_per_room >= 4 * 3600


def test_a_pad_that_is_saved_every_two_seconds_for_an_hour_fits():
    assert Limits().bytes_per_room >= 1800 * 15_000


def test_a_hundred_kilobytes_at_once_do_not():
    assert Limits().payload_bytes < 100_000


def test_drafts_do_not_share_a_payload():
    assert Draft("candidate", "note").payload is not Draft("candidate", "note").payload


def test_a_link_does_not_stand_in_what_may_end_in_a_log():
    assert "secret" not in repr(NewRoom("aaaaaaaa", {"candidate": "secret"}))
