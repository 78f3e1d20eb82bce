"""An .apkg file from plain notes, with ids that stay, so that importing a newer file updates the notes of an older one.

genanki fills the database; the file is put together here, since genanki's own writer leaves a temporary file behind on
each call. Text is escaped: a field of Anki is HTML.
"""

from __future__ import annotations

import io
import itertools
import re
import sqlite3
import zipfile
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from html import escape

import genanki  # type: ignore[import-untyped]

# Chosen once at random, as genanki asks; another number would make a second deck, or a second kind of note.
DECK_ID = 1_712_046_358
MODEL_ID = 1_409_837_265
MAX_NOTES = 10_000
MAX_CHARS = 20_000  # of a side
FIRST_FILE_TIME = (1980, 1, 1, 0, 0, 0)  # a zip needs one; a fixed one gives equal files for equal notes

_CSS = """.card { font-family: system-ui, sans-serif; font-size: 20px; line-height: 1.4; text-align: left; }
.nightMode .card, .card.nightMode { color-scheme: dark; }"""


@dataclass(frozen=True, slots=True)
class AnkiNote:
    """One front and back in plain text. ``guid`` is the card's own id, and never changes while the card lives."""

    guid: str
    front: str
    back: str
    tags: tuple[str, ...] = ()


def package(notes: Iterable[AnkiNote], *, deck_name: str, at: datetime) -> bytes:
    """The bytes of an .apkg file.

    Args:
        notes: each once; their order is the order of new cards.
        deck_name: ``::`` in it makes a subdeck.
        at: when the notes were last changed; Anki updates a note only from a file with a later time.

    Raises:
        ValueError: no notes or too many, a guid twice, an empty or overlong side.
    """
    deck = genanki.Deck(DECK_ID, deck_name)
    for number, note in enumerate(_checked(notes)):
        deck.add_note(
            genanki.Note(
                model=_model(),
                fields=[_html(note.front), _html(note.back)],
                tags=[_tag(tag) for tag in note.tags],
                guid=genanki.guid_for("ridgepoint", note.guid),
                due=number,
            )
        )
    with closing(sqlite3.connect(":memory:")) as database:
        cursor = database.cursor()
        # Ids of rows are milliseconds since 1970, counted on.
        genanki.Package(deck).write_to_db(cursor, at.timestamp(), itertools.count(int(at.timestamp() * 1000)))
        database.commit()
        collection = database.serialize()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (("collection.anki2", collection), ("media", b"{}")):
            archive.writestr(zipfile.ZipInfo(name, FIRST_FILE_TIME), content, zipfile.ZIP_DEFLATED)
    return file.getvalue()


def _checked(notes: Iterable[AnkiNote]) -> list[AnkiNote]:
    checked = list(itertools.islice(notes, MAX_NOTES + 1))
    if not checked:
        raise ValueError("notes is empty; choose at least one card")
    if len(checked) > MAX_NOTES:
        raise ValueError(f"notes holds more than {MAX_NOTES:,} cards; choose fewer topics")
    seen: set[str] = set()
    for note in checked:
        if not note.guid or note.guid in seen:
            raise ValueError(f"guid={note.guid!r} is empty or was given twice; give each note its card's id")
        seen.add(note.guid)
        for side in ("front", "back"):
            length = len(getattr(note, side).strip())
            if not 0 < length <= MAX_CHARS:
                raise ValueError(f"{side} of {note.guid!r} has {length:,} characters; give 1 to {MAX_CHARS:,}")
    return checked


def _model() -> genanki.Model:
    return genanki.Model(
        MODEL_ID,
        "Ridgepoint card",
        fields=[{"name": "Front"}, {"name": "Back"}],
        templates=[{"name": "Card", "qfmt": "{{Front}}", "afmt": "{{FrontSide}}<hr id=answer>{{Back}}"}],
        css=_CSS,
    )


def _html(text: str) -> str:
    """The text as it is, line by line.

    0x1f would end a field in Anki's database, and brackets before these words would play a file or run LaTeX.
    """
    shown = escape(text.replace("\x1f", " ").replace("\x00", ""))
    return "<br>".join(re.sub(r"\[(?=sound:|anki:|latex\]|\$)", "&#91;", shown, flags=re.IGNORECASE).splitlines())


def _tag(tag: str) -> str:
    """Anki's tags are words."""
    return re.sub(r"[\s\"]+", "-", tag.strip()) or "untagged"
