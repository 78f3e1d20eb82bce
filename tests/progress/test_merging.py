"""Two copies into one: any order, any number of times; resets outlive older copies."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.progress import merging
from core.progress.document import Note, OpenAnswer, Progress, Reset, Settings, Undo, active_attempts
from core.progress.merging import merge, preview
from core.progress.reading import ProgressError, read, to_json
from core.progress.schedule import replay
from tests.progress.made import START, attempt, day, progress

PHONE = progress(attempt(0), attempt(1, day(1)), settings=Settings(changed_at=day(1), cap=20))
LAPTOP = progress(attempt(0), attempt(2, day(2)), settings=Settings(changed_at=day(2), cap=40), exported_at=day(2))


def test_attempts_of_both_are_there_once_and_in_order():
    assert [kept.id for kept in merge(PHONE, LAPTOP).attempts] == ["a00000", "a00001", "a00002"]


def test_the_settings_changed_last_win():
    assert merge(PHONE, LAPTOP).settings.cap == merge(LAPTOP, PHONE).settings.cap == 40
    assert merge(PHONE, progress()).settings.cap == 20  # never changed loses against any change


def test_export_wipe_import_gives_the_same_schedule_and_importing_twice_changes_nothing():
    exported = to_json(merge(PHONE, LAPTOP))
    once = merge(Progress(), read(exported))
    twice = merge(once, read(exported))
    assert to_json(once) == to_json(twice) == exported
    now = day(10)
    assert replay(twice.attempts, twice.settings, now) == replay(read(exported).attempts, once.settings, now)


def test_the_newest_note_of_a_card_wins():
    older = progress(notes={"d-a": Note(at=day(0), text="old"), "d-b": Note(at=day(0), text="only here")})
    newer = progress(notes={"d-a": Note(at=day(1), text="new")})
    assert {card: note.text for card, note in merge(newer, older).notes.items()} == {"d-a": "new", "d-b": "only here"}


def test_a_note_taken_away_does_not_come_back_from_an_older_copy():
    older = progress(notes={"d-a": Note(at=day(0), text="old")})
    newer = progress(notes={"d-a": Note(at=day(1), text="")})
    assert merge(older, newer).notes["d-a"].text == ""


def test_what_was_reset_stays_hidden_when_an_older_copy_is_merged_in():
    reset = PHONE.model_copy(update={"resets": (Reset(id="r", at=day(3)),)})
    assert active_attempts(merge(LAPTOP, reset)) == ()
    back = reset.model_copy(update={"undos": (Undo(id="u", at=day(4), reset_id="r"),)})
    assert len(active_attempts(merge(merge(LAPTOP, reset), back))) == 3


def test_the_same_id_with_other_content_is_decided_the_same_way_from_both_sides():
    one, other = progress(attempt(0, answer="1 GB")), progress(attempt(0, day(1), answer="2 GB"))
    assert merge(one, other) == merge(other, one)
    assert len(merge(one, other).attempts) == 1


def test_unknown_fields_of_both_are_kept():
    merged = merge(Progress(scorecards=[1]), Progress(scorecards=[2], theme="dark"))
    assert merged.model_extra == {"scorecards": [2], "theme": "dark"}


def test_the_preview_counts_what_merging_would_bring():
    incoming = progress(
        attempt(0),
        attempt(5, day(5)),
        attempt(6, day(6), topic="serving"),
        notes={"d-a": Note(at=day(1), text="new"), "d-b": Note(at=day(0), text="old")},
        open_answers=(OpenAnswer(id="o", at=START, card_id="q", topic="serving", text="x"),),
        settings=Settings(changed_at=day(9)),
    )
    current = progress(
        attempt(0),
        notes={"d-b": Note(at=day(1), text="newer here")},
        resets=(Reset(id="r", at=day(7), topic="serving"),),
    )
    seen = preview(current, incoming)
    assert (seen.attempts, seen.known_attempts, seen.hidden_attempts) == (2, 1, 1)
    assert (seen.notes, seen.open_answers, seen.resets, seen.undos) == (1, 1, 0, 0)
    assert seen.settings_change
    assert not seen.nothing_new
    merged = merge(current, incoming)
    assert len(merged.attempts) == len(current.attempts) + seen.attempts


def test_the_preview_of_a_known_file_says_that_nothing_is_new():
    assert preview(LAPTOP, LAPTOP).nothing_new
    assert preview(merge(PHONE, LAPTOP), PHONE).nothing_new


def test_more_than_the_document_holds_is_refused_in_words(monkeypatch):
    monkeypatch.setitem(merging.LIMITS, "attempts", 2)
    with pytest.raises(ProgressError, match="Together these hold 3 attempts; there is room for 2"):
        merge(PHONE, LAPTOP)


ids = st.sampled_from("abcd")
times = st.integers(0, 4).map(day)
texts = st.sampled_from(["", "x", "y"])
attempts = st.builds(
    lambda name, at, answer, topic: attempt(0, at, id=name, answer=answer, topic=topic),
    ids,
    times,
    texts,
    st.sampled_from(["serving", "kv-cache"]),
)


def log_of(entries):
    return st.lists(entries, max_size=4, unique_by=lambda entry: entry.id).map(tuple)


documents = st.builds(
    Progress,
    settings=st.builds(Settings, changed_at=st.none() | times, cap=st.integers(1, 3)),
    attempts=log_of(attempts),
    notes=st.dictionaries(ids, st.builds(Note, at=times, text=texts), max_size=3),
    open_answers=log_of(st.builds(OpenAnswer, id=ids, at=times, card_id=ids, topic=ids, text=texts)),
    resets=log_of(st.builds(Reset, id=ids, at=times, topic=st.none() | st.just("serving"))),
    undos=log_of(st.builds(Undo, id=ids, at=times, reset_id=ids)),
    exported_at=st.none() | times,
    later=st.integers(0, 2),
)


@settings(max_examples=150, deadline=None)
@given(documents, documents, documents)
def test_merge_is_idempotent_commutative_and_associative(a, b, c):
    assert merge(a, a) == a
    assert merge(a, b) == merge(b, a)
    assert merge(merge(a, b), c) == merge(a, merge(b, c))
    assert merge(merge(a, b), b) == merge(a, b)
    assert to_json(merge(a, b)) == to_json(merge(b, a))


@settings(max_examples=100, deadline=None)
@given(documents, documents)
def test_merging_loses_nothing_and_can_be_read_again(a, b):
    merged = merge(a, b)
    assert {entry.id for entry in merged.attempts} == {entry.id for entry in (*a.attempts, *b.attempts)}
    assert set(merged.notes) == set(a.notes) | set(b.notes)
    assert read(to_json(merged)) == merged


@settings(max_examples=100, deadline=None)
@given(documents, documents)
def test_the_preview_agrees_with_the_merge(a, b):
    assert len(merge(a, b).attempts) == len(a.attempts) + preview(a, b).attempts
    if preview(a, b).nothing_new:
        assert active_attempts(merge(a, b)) == active_attempts(a)
        assert merge(a, b).notes == a.notes
