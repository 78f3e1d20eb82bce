"""A document to text and back, and every refusal in words."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.progress import reading
from core.progress.document import Note, OpenAnswer, Progress, Reset, Settings, Undo
from core.progress.reading import ProgressError, read, to_json
from tests.progress.made import START, attempt, day, progress

FULL = progress(
    attempt(0, answer="42,9 Гб 🙂 \x00 <script>"),
    attempt(1, day(1), kind="mcq", option="b", number=None, truth=None, seed=None),
    attempt(2, day(2), kind="question", scores={"define": 3}, correct=None, confidence=None),
    settings=Settings(changed_at=START, cap=20, interview_date=day(30).date()),
    notes={"d-kv-cache-growth": Note(at=START, text="keys and values: two")},
    open_answers=(OpenAnswer(id="o", at=START, card_id="q-kv-cache-mla", topic="kv-cache", text="Latent first."),),
    resets=(Reset(id="r", at=START, topic="serving"),),
    undos=(Undo(id="u", at=day(1), reset_id="r"),),
    exported_at=day(2),
)


def file(**changes):
    """The JSON of a document with one attempt, fields of the attempt replaced."""
    document = json.loads(to_json(progress(attempt(0))))
    document["attempts"][0] |= changes
    return json.dumps(document)


def test_what_is_written_is_read():
    assert read(to_json(FULL)) == FULL
    assert read(to_json(FULL).encode()) == FULL
    assert read("\ufeff" + to_json(FULL)) == FULL
    assert read(to_json(Progress())) == Progress()


def test_the_same_document_gives_the_same_text():
    assert to_json(read(to_json(FULL))) == to_json(FULL)
    shuffled = progress(*FULL.attempts[::-1], **{name: value for name, value in FULL if name != "attempts"})
    assert to_json(shuffled) == to_json(FULL)


def test_the_order_of_fields_in_the_file_does_not_matter():
    backwards = json.dumps(dict(reversed(json.loads(to_json(FULL)).items())), indent=2)
    assert to_json(read(backwards)) == to_json(FULL)


def test_chosen_settings_are_written_even_at_their_defaults():
    assert json.loads(to_json(Progress()))["settings"]["cap"] == 30


def test_fields_at_their_default_take_no_room():
    assert "hints_used" not in to_json(progress(attempt(0)))
    assert len(to_json(progress(*(attempt(n) for n in range(100))))) < 100 * 400  # characters


def test_unknown_fields_of_the_same_version_are_kept():
    document = json.loads(to_json(FULL))
    document["scorecards"] = [{"room": "abc", "marks": [1, 2.5, None]}]
    document["attempts"][0]["device"] = "phone"
    document["settings"]["theme"] = "dark"
    assert json.loads(to_json(read(json.dumps(document)))) == document


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("  \n", "empty"),
        ("front,back\n1,2", "not JSON: it starts with 'front,back"),
        ("{'format': 'progress/1'}", "not JSON"),
        (to_json(FULL)[:-200], "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "not exported here: it does not say"),
        ("7", "not exported here"),
        ("{}", "not exported here"),
        ('{"format": "ridgepoint-scenario/1"}', "its format is 'ridgepoint-scenario/1'"),
        ('{"format": 1}', "its format is 1"),
        ('{"format": "progress/x"}', "its format is 'progress/x'"),
        ('{"format": "progress/2"}', "Update the app"),
        ('{"format": "progress/' + "9" * 5_000 + '"}', "Update the app"),
        ('{"format": "progress/0"}', "newer export"),
        ('{"format": "progress/1", "later": NaN}', "holds NaN"),
        ('{"format": "progress/1", "later": -Infinity}', "holds -Infinity"),
        ('{"format": "progress/1", "later": 1e999}', "holds 1e999"),
        ('{"format": "progress/1", "later": "\\ud800"}', "cannot be kept: unexpected end of hex"),
        ('{"format": "progress/1", "later": ' + "[" * 300 + "]" * 300 + "}", "cannot be kept: recursion limit"),
        ('{"format": "progress/1", "attempts": {}}', "attempts should be a valid"),
        ('{"format": "progress/1", "settings": {"interview_date": 5}}', "settings.interview_date is 5"),
        ('{"format": "progress/1", "settings": {"cap": "30"}}', "settings.cap is '30'"),
        ('{"format": "progress/1", "notes": {"x": {"at": 1700000000, "text": ""}}}', "notes.x.at is 1700000000"),
        (file(number=1e300), "attempts[0].number is 1e+300: must be at most 1e+30"),
        (file(milliseconds=-5), "attempts[0].milliseconds is -5: must be at least 0"),
        (file(rating="great"), "attempts[0].rating is 'great'"),
        (file(at="2026-03-02T08:00:00"), "attempts[0].at is '2026-03-02T08:00:00'"),
        (file(at="0001-01-01T00:00:00Z"), "must lie in the years 2000 to 2199"),
        (file(at="soon"), "attempts[0].at is 'soon'"),
        (file(rating=None), "counts for the schedule but has no rating"),
        (file(seed=2**70), "attempts[0].seed"),
        (file(scores={"define": "4"}), "attempts[0].scores.define is '4'"),
        (file(answer="x" * 2_000), "attempts[0].answer"),
        (file(seed=-1, confidence=200, hints_used=-2, milliseconds=-1), "and 1 more."),
    ],
)
def test_bad_text_is_refused_in_words(text, words):
    with pytest.raises(ProgressError) as refusal:
        read(text)
    assert words in str(refusal.value)
    assert refusal.value.way_out.endswith(".")
    assert len(str(refusal.value)) < 600  # a message, not a copy of the file


def test_a_repeated_id_is_refused_with_its_name():
    document = json.loads(to_json(progress(attempt(0))))
    document["attempts"] *= 2
    with pytest.raises(ProgressError, match="attempts holds the id 'a00000' more than once"):
        read(json.dumps(document))


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(ProgressError, match="not UTF-8"):
        read(b"PK\x03\x04\xff\xfe")


@pytest.mark.parametrize("make", [lambda text: text, str.encode])
def test_50_megabytes_are_refused_before_they_are_parsed(make):
    start = time.process_time()
    with pytest.raises(ProgressError, match=r"50,000,001 characters; progress has at most 50,000,000"):
        read(make("[" + " " * 50_000_000))
    assert time.process_time() - start < 0.5


@pytest.mark.parametrize("part", ["[],", "1,"])
def test_a_file_of_millions_of_small_values_is_refused_before_it_fills_memory(part, monkeypatch):
    monkeypatch.setattr(reading, "json", None)  # parsing would fail on this
    with pytest.raises(ProgressError, match="more values than ten years"):
        read('{"format": "progress/1", "x": [' + part * 4_500_000 + "0]}")


def attempt_to_read(text):
    """The document, or the refusal; any other exception is a bug."""
    try:
        return read(text), None
    except ProgressError as refusal:
        return None, refusal


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=200) | json_values.map(json.dumps) | st.binary(max_size=200))
def test_reading_anything_gives_a_document_or_a_sentence(text):
    kept, refusal = attempt_to_read(text)
    assert kept is not None or (refusal.what and refusal.way_out)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_one_value_changed_by_hand_is_refused_or_kept(data):
    document = json.loads(to_json(FULL))
    part = data.draw(st.sampled_from([document, document["settings"], *document["attempts"], *document["resets"]]))
    name = data.draw(st.sampled_from(sorted(part)))
    part[name] = data.draw(json_values)
    kept, refusal = attempt_to_read(json.dumps(document))
    if kept is None:
        assert len(str(refusal)) < 600
    else:
        assert read(to_json(kept).encode()) == kept  # nothing in it that a file cannot hold
