"""The document: what it holds, what it refuses, and what a reset hides."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from pydantic import ValidationError

from core.progress.document import (
    MAX_NUMBER,
    Attempt,
    Note,
    Progress,
    Reset,
    Settings,
    Undo,
    active_attempts,
    standing_resets,
    to_utc,
    utc_text,
)
from tests.progress.made import START, attempt, day, progress


def test_the_defaults_are_those_of_the_load_simulation():
    assert (Settings().new_per_day, Settings().retention, Settings().cap) == (10, 0.9, 30)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("at", datetime(2026, 3, 2)),  # naive
        ("at", datetime(1970, 1, 1, tzinfo=UTC)),
        ("number", float("nan")),
        ("number", float("inf")),
        ("truth", 1e300),
        ("milliseconds", -1),
        ("milliseconds", 10**12),
        ("milliseconds", 1.5),
        ("rating", "great"),
        ("mode", "exam"),
        ("kind", "essay"),
        ("confidence", 101),
        ("confidence", "70"),
        ("seed", -1),
        ("seed", 2**53),
        ("scores", {"define": 5}),
        ("card_id", ""),
        ("answer", "x" * 1_001),
        ("correct", "yes"),
    ],
)
def test_an_attempt_refuses_what_cannot_be(field, value):
    with pytest.raises(ValidationError, match=field):
        attempt(**{field: value})


@pytest.mark.parametrize(("field", "value"), [("retention", 1.0), ("retention", 0.5), ("cap", 0), ("new_per_day", -1)])
def test_settings_have_bounds(field, value):
    with pytest.raises(ValidationError, match=field):
        Settings(**{field: value})


def test_numbers_of_the_largest_clusters_fit():
    assert attempt(truth=4e25, number=3.8e25).truth < MAX_NUMBER  # FLOP of a large training run


def test_a_scheduled_attempt_must_be_rated():
    with pytest.raises(ValidationError, match="no rating"):
        attempt(rating=None)


def test_times_become_utc_with_milliseconds():
    there = datetime(2026, 3, 2, 1, 2, 3, 456_789, tzinfo=timezone(timedelta(hours=-8)))
    assert utc_text(to_utc(there)) == "2026-03-02T09:02:03.456Z"
    assert attempt(at=there).at == datetime(2026, 3, 2, 9, 2, 3, 456_000, tzinfo=UTC)


def test_lists_are_kept_in_order_of_time_then_id():
    late, early, twin = attempt(1, day(1)), attempt(2, day(0)), attempt(0, day(1))
    assert progress(late, early, twin).attempts == (early, twin, late)


def test_an_id_may_appear_only_once():
    with pytest.raises(ValidationError, match="'a00003' more than once"):
        progress(attempt(3), attempt(3, day(1)))


def test_fields_of_a_later_hand_are_kept():
    assert Attempt.model_validate_json(attempt(mood="calm").model_dump_json()).mood == "calm"


def test_nothing_can_be_changed_in_place():
    with pytest.raises(ValidationError, match="frozen"):
        progress().settings = Settings()


def test_a_note_has_a_bound():
    assert Note(at=START, text="x" * 20_000)
    with pytest.raises(ValidationError, match="at most 20000"):
        Note(at=START, text="x" * 20_001)


LOG = (attempt(0), attempt(1, day(1), topic="serving"), attempt(2, day(3)), attempt(3, day(3), topic="serving"))


@pytest.mark.parametrize(
    ("resets", "ids"),
    [
        ((), ["a00000", "a00001", "a00002", "a00003"]),
        ((Reset(id="r", at=day(2), topic="serving"),), ["a00000", "a00002", "a00003"]),
        ((Reset(id="r", at=day(2)),), ["a00002", "a00003"]),
        ((Reset(id="r", at=day(2)), Reset(id="s", at=day(3), topic="serving")), ["a00002"]),
        ((Reset(id="r", at=day(3), topic="serving"), Reset(id="s", at=day(1), topic="serving")), ["a00000", "a00002"]),
        ((Reset(id="r", at=day(9), topic="hardware"),), ["a00000", "a00001", "a00002", "a00003"]),
    ],
)
def test_a_reset_hides_what_came_before_it(resets, ids):
    assert [kept.id for kept in active_attempts(progress(*LOG, resets=resets))] == ids


def test_a_reset_can_be_taken_back():
    hidden = progress(*LOG, resets=(Reset(id="r", at=day(9)),))
    assert active_attempts(hidden) == ()
    back = hidden.model_copy(update={"undos": (Undo(id="u", at=day(10), reset_id="r"),)})
    assert active_attempts(back) == hidden.attempts
    assert standing_resets(back) == ()


def test_taking_the_last_reset_back_leaves_the_one_before_it():
    resets = (Reset(id="r", at=day(0), topic="kv-cache"), Reset(id="s", at=day(9), topic="kv-cache"))
    back = progress(*LOG, resets=resets, undos=(Undo(id="u", at=day(10), reset_id="s"),))
    assert [kept.id for kept in active_attempts(back)] == ["a00001", "a00002", "a00003"]


def test_an_empty_document_is_valid():
    assert Progress().attempts == ()
