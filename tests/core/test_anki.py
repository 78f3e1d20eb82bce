"""The Anki deck: the database inside the file, and Anki's own importer on it."""

from __future__ import annotations

import io
import json
import sqlite3
import tempfile
import zipfile
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from anki.collection import Collection, ImportAnkiPackageOptions, ImportAnkiPackageRequest

from core.anki.deck import AnkiNote, package

START = datetime(2026, 3, 2, tzinfo=UTC)
NOTES = [
    AnkiNote(
        "d-kv-cache-growth", "How many GB for 32 requests?", "42.95 GB\nKeys and values: two.", ("kv-cache", "step 5")
    ),
    AnkiNote("m-bottleneck-smi", "What does <100%> in nvidia-smi & co. mean?", "A kernel was resident."),
]


def made(notes=NOTES, at=START, deck_name="Ridgepoint"):
    return package(notes, deck_name=deck_name, at=at)


def rows(content, query):
    with closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(zipfile.ZipFile(io.BytesIO(content)).read("collection.anki2"))
        return database.execute(query).fetchall()


def test_the_file_is_a_zip_of_a_database_and_a_list_of_no_media():
    archive = zipfile.ZipFile(io.BytesIO(made()))
    assert archive.namelist() == ["collection.anki2", "media"]
    assert archive.testzip() is None
    assert json.loads(archive.read("media")) == {}


def test_the_database_is_whole_and_has_a_note_and_a_card_each():
    assert rows(made(), "PRAGMA integrity_check") == [("ok",)]
    assert rows(made(), "SELECT count(*), count(DISTINCT guid), count(DISTINCT id) FROM notes") == [(2, 2, 2)]
    assert rows(made(), "SELECT count(*) FROM cards JOIN notes ON cards.nid = notes.id") == [(2,)]


def test_fields_are_html_and_tags_are_words():
    first, second = rows(made(), "SELECT flds, tags FROM notes ORDER BY id")
    assert first[0].split("\x1f") == ["How many GB for 32 requests?", "42.95 GB<br>Keys and values: two."]
    assert first[1].split() == ["kv-cache", "step-5"]
    assert second[0].startswith("What does &lt;100%&gt; in nvidia-smi &amp; co. mean?")


def test_guids_stay_when_the_text_changes_and_differ_between_cards():
    changed = [AnkiNote(note.guid, f"{note.front} (new)", note.back) for note in NOTES]
    before, after = (rows(made(notes), "SELECT guid FROM notes ORDER BY id") for notes in (NOTES, changed))
    assert before == after
    assert len(set(before)) == 2


def test_decks_and_kinds_of_note_keep_their_numbers():
    for column in ("decks", "models"):
        (one,), (other,) = (rows(made(at=at), f"SELECT {column} FROM col")[0] for at in (START, START + timedelta(9)))
        assert json.loads(one).keys() == json.loads(other).keys()


def test_equal_notes_give_equal_files():
    assert made() == made()


def test_no_file_is_left_behind(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("notes", "words"),
    [
        ([], "choose at least one card"),
        ([NOTES[0], NOTES[0]], "'d-kv-cache-growth' is empty or was given twice"),
        ([AnkiNote("", "a", "b")], "guid='' is empty"),
        ([AnkiNote("d", " ", "b")], "front of 'd' has 0 characters"),
        ([AnkiNote("d", "a", "x" * 20_001)], "back of 'd' has 20,001 characters"),
        ((AnkiNote(f"d-{n}", "a", "b") for n in range(10_001)), "more than 10,000"),
    ],
)
def test_what_cannot_be_a_deck_is_refused(notes, words):
    with pytest.raises(ValueError, match=words):
        made(notes)


@contextmanager
def anki(folder: Path):
    """An empty collection of Anki itself, and a function that imports a file into it."""
    collection = Collection(str(folder / "collection.anki2"))

    def import_file(content: bytes):
        (folder / "deck.apkg").write_bytes(content)
        request = ImportAnkiPackageRequest(
            package_path=str(folder / "deck.apkg"), options=ImportAnkiPackageOptions(with_scheduling=False)
        )
        return collection.import_anki_package(request).log

    try:
        yield collection, import_file
    finally:
        collection.close()


def fields(collection):
    return sorted(tuple(collection.get_note(note).fields) for note in collection.find_notes(""))


def test_anki_imports_the_deck(tmp_path):
    with anki(tmp_path) as (collection, import_file):
        log = import_file(made(deck_name="Ridgepoint::Drills"))
        assert (len(log.new), len(log.conflicting), len(log.empty_first_field)) == (2, 0, 0)
        assert fields(collection)[0] == ("How many GB for 32 requests?", "42.95 GB<br>Keys and values: two.")
        assert {deck.name for deck in collection.decks.all_names_and_ids()} >= {"Ridgepoint::Drills"}
        card = collection.get_card(collection.find_cards("tag:step-5")[0])
        assert card.question().endswith("How many GB for 32 requests?")
        assert card.answer().endswith("<hr id=answer>42.95 GB<br>Keys and values: two.")
        assert collection.fix_integrity() == ("Database rebuilt and optimized.", True)


def test_anki_updates_its_notes_from_a_newer_file_and_adds_none_twice(tmp_path):
    newer = [
        AnkiNote("d-kv-cache-growth", "How many GB for 64 requests?", "85.9 GB"),
        NOTES[1],
        AnkiNote("d-c", "c", "d"),
    ]
    with anki(tmp_path) as (collection, import_file):
        import_file(made())
        assert len(import_file(made()).new) == 0
        assert len(import_file(made(newer, START + timedelta(days=1))).new) == 1
        assert len(fields(collection)) == 3
        assert ("How many GB for 64 requests?", "85.9 GB") in fields(collection)
        import_file(made())  # an older file changes nothing back
        assert ("How many GB for 64 requests?", "85.9 GB") in fields(collection)


def test_anki_shows_hostile_text_as_text(tmp_path):
    text = "<script>alert(1)</script> [sound:x.mp3] [latex]\\input{x}[/latex] {{Back}} \x1f\x00 end"
    with anki(tmp_path) as (collection, import_file):
        import_file(made([AnkiNote("d-x", text, text, ('a "b"\tc', " "))]))
        card = collection.get_card(collection.find_cards("")[0])
        assert "<script>" not in card.question()
        assert "&#91;sound:x.mp3]" in card.question()
        assert card.question_av_tags() == []
        assert "<img" not in card.question()  # no LaTeX was run
        assert "{{Back}}" in card.question()
        assert card.note().tags == ["a-b-c", "untagged"]
