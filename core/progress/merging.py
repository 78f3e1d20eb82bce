"""Two copies of progress into one: in any order, any number of times, with the same result.

Log entries are one set by id; ids are random, so two entries with the same id are the same attempt (of the same card,
at the same time) unless somebody edited a file. Then the one whose text sorts last stays, whichever copy comes first.
Resets are entries too, so what was reset stays hidden when an older copy is merged in.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from core.progress.document import (
    MAX_ATTEMPTS,
    MAX_NOTES,
    MAX_OPEN_ANSWERS,
    MAX_RESETS,
    Entry,
    Note,
    Progress,
    Settings,
    active_attempts,
    in_order,
)
from core.progress.reading import ProgressError

LIMITS = {
    "attempts": MAX_ATTEMPTS,
    "notes": MAX_NOTES,
    "open_answers": MAX_OPEN_ANSWERS,
    "resets": MAX_RESETS,
    "undos": MAX_RESETS,
}


@dataclass(frozen=True, slots=True)
class Preview:
    """What merging a file into the current progress would bring."""

    attempts: int
    known_attempts: int  # in the file, and here already
    hidden_attempts: int  # of the new ones: made before a reset, so they will not count
    notes: int  # new, or newer than the one here
    open_answers: int
    resets: int
    undos: int
    settings_change: bool
    nothing_new: bool  # merging would change nothing but the time of the last export


def merge(one: Progress, other: Progress) -> Progress:
    """Both in one document. ``merge(a, b) == merge(b, a)``, and merging either in again changes nothing.

    Raises:
        ProgressError: together they exceed a bound of the document.
    """
    merged: dict[str, Any] = {
        "settings": max(one.settings, other.settings, key=_settings_order),
        "attempts": _union(one.attempts, other.attempts),
        "notes": _newest_notes(one.notes, other.notes),
        "open_answers": _union(one.open_answers, other.open_answers),
        "resets": _union(one.resets, other.resets),
        "undos": _union(one.undos, other.undos),
        "exported_at": max(filter(None, (one.exported_at, other.exported_at)), default=None),
    }
    for name, limit in LIMITS.items():
        if len(merged[name]) > limit:
            raise ProgressError(
                f"Together these hold {len(merged[name]):,} {name.replace('_', ' ')}; there is room for {limit:,}.",
                "Keep them as two files.",
            )
    return Progress(**merged, **_extras(one, other))


def preview(current: Progress, incoming: Progress) -> Preview:
    """Counts of what ``merge(current, incoming)`` would add or change.

    Raises:
        ProgressError: they cannot be merged.
    """
    merged = merge(current, incoming)
    here = {attempt.id for attempt in current.attempts}
    new = {attempt.id for attempt in incoming.attempts} - here
    count = {attempt.id for attempt in active_attempts(merged)}
    return Preview(
        attempts=len(new),
        known_attempts=len(incoming.attempts) - len(new),
        hidden_attempts=len(new - count),
        notes=sum(current.notes.get(card_id) != note for card_id, note in merged.notes.items()),
        open_answers=len(merged.open_answers) - len(current.open_answers),
        resets=len(merged.resets) - len(current.resets),
        undos=len(merged.undos) - len(current.undos),
        settings_change=merged.settings != current.settings,
        nothing_new=merged.model_copy(update={"exported_at": current.exported_at}) == current,
    )


def _union(one: Iterable[Entry], other: Iterable[Entry]) -> tuple[Entry, ...]:
    entries = {entry.id: entry for entry in one}
    for entry in other:
        known = entries.get(entry.id)
        entries[entry.id] = entry if known is None or known == entry else max(known, entry, key=_text)
    return in_order(entries.values())


def _newest_notes(one: dict[str, Note], other: dict[str, Note]) -> dict[str, Note]:
    notes = dict(one)
    for card_id, note in other.items():
        notes[card_id] = max(notes.get(card_id, note), note, key=lambda note: (note.at, _text(note)))
    return notes


def _settings_order(settings: Settings) -> tuple[bool, Any, str]:
    """Never changed comes before any change."""
    changed = settings.changed_at
    return changed is not None, changed, _text(settings)


def _extras(one: Progress, other: Progress) -> dict[str, Any]:
    """Fields that this version does not know; where both have one, its text decides."""
    extras = dict(one.model_extra or {})
    for name, value in (other.model_extra or {}).items():
        extras[name] = max(extras.get(name, value), value, key=_json)
    return extras


def _text(part: BaseModel) -> str:
    return _json(part.model_dump(mode="json"))


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
