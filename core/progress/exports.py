"""Progress as files for other tools and for reading: a table of all answers, and a page on what is weak."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from core.progress.calibration import by_topic, calibration, error_in_words, estimator_error, in_words, is_overconfident
from core.progress.card_info import CardInfo
from core.progress.document import Attempt, Progress, active_attempts, utc_text
from core.progress.schedule import replay
from core.progress.topic_map import known_share, topic_map, weakest_cards

EXPORT_EVERY = timedelta(days=7)
COLUMNS = (
    "at", "card_id", "kind", "topic", "mode", "seed", "answer", "number", "option", "dont_know", "truth", "rtol",
    "unit", "confidence", "hints_used", "correct", "within_2x", "milliseconds", "rating", "counts_for_schedule",
    "content_hash", "id",
)  # fmt: skip
# A spreadsheet takes a cell that starts so for a formula; wide forms too (OWASP, "CSV Injection").
FORMULA_START = re.compile(r"[\t\r\n]|\s*[=+\-@＝＋－＠]")
MARKDOWN_MARKS = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~])")


def reviews_csv(progress: Progress) -> str:
    """Every attempt in the log, hidden ones included, one a row, oldest first; save it as UTF-8 with a byte order mark.

    Text that a spreadsheet would run as a formula starts with an apostrophe.
    """
    rows = io.StringIO(newline="")
    writer = csv.writer(rows)
    writer.writerow(COLUMNS)
    writer.writerows([_cell(getattr(attempt, name)) for name in COLUMNS] for attempt in progress.attempts)
    return rows.getvalue()


def weak_points_markdown(
    progress: Progress, cards: Sequence[CardInfo], titles: Mapping[str, str], now: datetime, *, count: int = 10
) -> str:
    """What to work on: weakest topics and cards, calibration in words, the learner's own notes on those cards.

    Args:
        progress: everything done so far.
        cards: the bank.
        titles: by card id; a card without one goes by its id.
        now: with the learner's time zone.
        count: of cards to list.
    """
    attempts = active_attempts(progress)
    states = replay(attempts, progress.settings, now)
    drawn = topic_map(cards, states, attempts, now)
    seen = [card for card in cards if card.id in states]
    lines = [f"# Weak points on {now.date().isoformat()}", "", "## Topics, weakest first", ""]
    lines += ["| topic | known now | cards seen | due |", "|---|---|---|---|"]
    for topic in drawn.weakest_topics(len(drawn.topics)):
        cell = drawn.whole[topic]
        lines.append(f"| {_escape(topic)} | {cell.strength:.0%} | {cell.seen} of {cell.cards} | {cell.due} |")
    lines += ["", "## Cards most likely forgotten", ""]
    for card in weakest_cards(seen, states, now, count):
        share = known_share(states[card.id], now)
        how = "missed last time" if states[card.id].last_rating == "again" else f"{share:.0%} likely to be answered"
        lines.append(f"- {_escape(titles.get(card.id, card.id))} ({_escape(card.topic)}): {how}")
        note = progress.notes.get(card.id)
        if note is not None and note.text:
            lines.append(f"  - Note: {_escape(note.text)}")
    lines += [] if seen else ["No card was answered yet."]
    return "\n".join([*lines, "", "## Calibration", "", *_calibration_lines(attempts), ""])


def needs_export(progress: Progress, now: datetime) -> bool:
    """Whether something was done since the last export, or ever, and more than seven days have passed."""
    since = progress.exported_at
    unsaved = [attempt.at for attempt in progress.attempts if since is None or attempt.at > since]
    return bool(unsaved) and now - (since or unsaved[0]) > EXPORT_EVERY


def _calibration_lines(attempts: Sequence[Attempt]) -> list[str]:
    whole = calibration(attempts)
    if whole is None:
        return ["No answer with a stated confidence yet."]
    lines = [f"- {in_words(one)}." for one in whole.bins if not one.is_thin]
    lines.append(
        f"- Brier score {whole.brier:.3f} at {whole.accuracy:.0%} right over {whole.answers:,} answers; always saying "
        f"50% gives 0.250, always stating your own average gives {whole.uncertainty:.3f}."
    )
    lines += [
        f"- {_escape(topic)}: {result.gap_points:.0f} points overconfident over {result.answers:,} answers."
        for topic, result in by_topic(attempts).items()
        if is_overconfident(result)
    ]
    error = estimator_error(attempts)
    if error is not None:
        lines.append(f"- {error_in_words(error)}")
    return lines


def _cell(value: object) -> object:
    """Text made harmless; numbers as they are, since a minus before digits is no formula."""
    if isinstance(value, datetime):
        return utc_text(value)
    if isinstance(value, str):
        text = value.replace("\x00", "")  # which ends a cell for some readers
        return f"'{text}" if FORMULA_START.match(text) else text
    return "" if value is None else value


def _escape(text: str) -> str:
    """On one line, and shown as written."""
    return MARKDOWN_MARKS.sub(r"\\\1", " ".join(text.split()))
