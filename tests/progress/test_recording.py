"""What pages do to the document: commits, notes, settings, resets."""

from __future__ import annotations

from datetime import datetime

import pytest
from pydantic import ValidationError

from core.progress import recording
from core.progress.document import Note, OpenAnswer, Progress, active_attempts
from core.progress.merging import merge
from core.progress.reading import ProgressError, read, to_json
from core.progress.recording import (
    answered,
    change_settings,
    keep_open_answer,
    log,
    mark_exported,
    new_id,
    predicted,
    reset,
    undo,
    write_note,
)
from tests.progress.made import START, attempt, card, day, progress


def commit(kind="drill", **fields):
    values = {"attempt_id": "x", "at": START, "mode": "review", "milliseconds": 60_000}
    return answered(card(kind=kind), **values | fields)


def test_a_right_drill_is_rated_and_scheduled():
    made = commit(answer="42 GB", number=42.0, truth=42.95, rtol=0.03, unit="GB", confidence=70, correct=True)
    assert (made.rating, made.counts_for_schedule, made.within_2x) == ("good", True, True)
    assert (made.card_id, made.topic, made.content_hash, made.answer_hash) == (
        "d-kv-cache-growth",
        "kv-cache",
        "c1",
        "h1",
    )


def test_a_near_miss_is_hard_and_a_factor_of_two_is_a_miss():
    assert commit(number=105.0, truth=100.0, rtol=0.03, correct=False).rating == "hard"
    made = commit(number=50.0, truth=100.0, rtol=0.03, correct=False)
    assert (made.rating, made.within_2x) == ("again", True)


def test_not_knowing_is_a_miss_even_if_the_grader_was_asked():
    made = commit(dont_know=True, correct=True)
    assert (made.rating, made.correct) == ("again", False)


def test_an_estimate_is_kept_but_not_scheduled():
    made = commit(mode="estimator", number=60.0, truth=100.0, rtol=0.03, correct=True)
    assert (made.counts_for_schedule, made.within_2x) == (False, True)


def test_an_open_question_is_rated_by_its_own_marks_and_without_marks_not_at_all():
    assert commit("question", scores={"define": 3, "bound": 4}).rating == "easy"
    unmarked = commit("question")
    assert (unmarked.rating, unmarked.counts_for_schedule, unmarked.correct) == (None, False, None)


@pytest.mark.parametrize("number", [1e300, float("inf"), float("-inf"), float("nan")])
def test_a_wild_answer_is_kept_as_text(number):
    made = commit(answer="∞", number=number, truth=100.0, rtol=0.03, correct=False)
    assert (made.answer, made.number, made.rating, made.within_2x) == ("∞", None, "again", False)
    assert read(to_json(progress(made))).attempts == (made,)


@pytest.mark.parametrize("text", ["x" * 10_000, "<script>alert(1)</script>", "\ud800 half", "a\x00b"])
def test_whatever_is_typed_can_be_kept(text):
    made = commit(answer=text, correct=False)
    assert read(to_json(progress(made)).encode()).attempts == (made,)


@pytest.mark.parametrize(("given", "kept"), [(-5, 0), (1.9, 1), (1e12, 86_400_000)])
def test_odd_clocks_are_bounded(given, kept):
    assert commit(milliseconds=given, correct=True).milliseconds == kept


def test_a_prediction_is_never_scheduled():
    made = predicted("kv-first", "kv-cache", attempt_id="p", at=START, correct=False, number=14.0, truth=42.95)
    assert (made.kind, made.counts_for_schedule, made.rating, made.within_2x) == ("prediction", False, None, False)


@pytest.mark.parametrize(("number", "truth", "within"), [(50, 100, True), (None, 100, None), (100, None, None)])
def test_without_a_number_or_a_truth_nothing_is_compared(number, truth, within):
    assert commit(number=number, truth=truth, correct=False).within_2x is within


def test_committing_twice_counts_once():
    once = log(Progress(), attempt(0))
    assert log(once, attempt(0)) is once
    assert log(once, attempt(1, day(-1))).attempts == (attempt(1, day(-1)), attempt(0))


def test_a_full_log_is_said_in_words_and_kept(monkeypatch):
    monkeypatch.setitem(recording.LIMITS, "attempts", 1)
    full = log(Progress(), attempt(0))
    with pytest.raises(ProgressError, match="room for 1 attempts, and all of it is taken"):
        log(full, attempt(1))
    assert log(full, attempt(0)) is full


def test_open_answers_are_kept_once():
    answer = OpenAnswer(id="o", at=START, card_id="q-a", topic="serving", text="First I measure.")
    kept = keep_open_answer(keep_open_answer(Progress(), answer), answer)
    assert kept.open_answers == (answer,)


def test_the_last_note_stands_and_an_empty_one_takes_it_away():
    noted = write_note(write_note(Progress(), "d-a", "first", day(0)), "d-a", "second", day(1))
    assert noted.notes["d-a"].text == "second"
    assert write_note(noted, "d-a", "second", day(2)) is noted
    assert write_note(noted, "d-a", "", day(2)).notes["d-a"].text == ""


def test_a_clock_that_was_set_back_loses_no_note_no_setting_and_no_answer():
    noted = write_note(write_note(Progress(), "d-a", "first", day(9)), "d-a", "second", day(0))
    assert noted.notes["d-a"].text == "second"
    assert merge(noted, write_note(Progress(), "d-a", "first", day(9))).notes["d-a"].text == "second"

    before = change_settings(Progress(), day(9), cap=12)
    assert merge(before, change_settings(before, day(0), cap=20)).settings.cap == 20

    started_over = reset(progress(attempt(0)), day(9))
    again = log(started_over, attempt(1, day(1)))
    assert [entry.id for entry in active_attempts(again)] == [attempt(1).id]
    assert read(to_json(again)) == again


def test_starting_over_hides_also_what_a_clock_that_ran_ahead_has_dated_later():
    assert active_attempts(reset(progress(attempt(0, day(9))), day(0))) == ()


def test_starting_over_twice_is_one_reset_that_one_undo_takes_back():
    done = progress(attempt(0))
    once = reset(done, day(1))
    assert reset(once, day(1)) is once
    assert reset(Progress(), day(1)) == Progress()


def test_the_last_moment_that_the_document_takes_is_not_passed():
    last = datetime.fromisoformat("2199-12-31T23:59:59.999Z")
    noted = Progress(notes={"d-a": Note(at=last, text="first")})
    assert read(to_json(write_note(noted, "d-a", "second", day(0)))).notes["d-a"].text == "second"


def test_a_note_too_long_is_refused_in_words():
    with pytest.raises(ProgressError, match="20,001 characters"):
        write_note(Progress(), "d-a", "x" * 20_001, START)


def test_settings_change_with_their_time_and_within_bounds():
    changed = change_settings(Progress(), START, cap=12)
    assert (changed.settings.cap, changed.settings.changed_at, changed.settings.new_per_day) == (12, START, 10)
    with pytest.raises(ValidationError, match="cap"):
        change_settings(Progress(), START, cap=0)


def test_a_reset_hides_and_its_undo_shows_again():
    done = progress(attempt(0))
    hidden = reset(done, day(1), topic="kv-cache")
    assert active_attempts(hidden) == ()
    back = undo(hidden, hidden.resets[0].id, day(2))
    assert active_attempts(back) == done.attempts
    assert undo(back, hidden.resets[0].id, day(3)) is back
    assert read(to_json(back)) == back


def test_undoing_what_was_never_reset_is_an_error():
    with pytest.raises(ValueError, match="reset_id='x' is not known"):
        undo(Progress(), "x", START)


def test_an_export_is_remembered():
    assert mark_exported(Progress(), day(3)).exported_at == day(3)


def test_ids_do_not_repeat():
    assert len({new_id() for _ in range(1_000)}) == 1_000
