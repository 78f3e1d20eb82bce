"""The table of answers and the page on weak points."""

from __future__ import annotations

import csv
import io

import pytest

from core.progress.document import Note, Progress
from core.progress.exports import COLUMNS, needs_export, reviews_csv, weak_points_markdown
from tests.progress.made import attempt, card, day, progress

BANK = [card(f"d-kv-cache-{n}") for n in range(3)] + [card("d-serving-0", "serving")]


def rows(*attempts):
    return list(csv.DictReader(io.StringIO(reviews_csv(progress(*attempts)), newline="")))


def test_every_attempt_is_a_row_with_its_values():
    (row,) = rows(attempt(3, number=-42.9, confidence=None))
    assert row["at"] == "2026-03-02T08:00:00.000Z"
    assert (row["card_id"], row["answer"], row["truth"], row["confidence"]) == (
        "d-kv-cache-growth",
        "42.9 GB",
        "42.95",
        "",
    )
    assert float(row["number"]) == -42.9  # a number stays one
    assert list(row) == list(COLUMNS)


def test_rows_are_oldest_first():
    assert [row["id"] for row in rows(attempt(1, day(1)), attempt(2, day(0)))] == ["a00002", "a00001"]


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+1",
        "-2+3",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\n=1",
        "＝1+1",
        "＋1",
        "－1",
        "＠A1",
        "\x00=1+1",
        '=HYPERLINK("x")',
    ],
)
@pytest.mark.parametrize("field", ["answer", "unit", "option", "card_id", "topic", "content_hash", "id"])
def test_no_text_starts_a_formula(text, field):
    (row,) = rows(attempt(0, **{field: text}))
    assert row[field].startswith("'")


@pytest.mark.parametrize("text", ['a "quoted" word', "one,two", "two\nlines", "1.34 GB", "<script>", "d-kv-cache"])
def test_other_text_is_written_as_it_is(text):
    assert rows(attempt(0, answer=text))[0]["answer"] == text


def test_the_page_names_what_is_weak():
    done = progress(
        attempt(0, day(0), card_id="d-kv-cache-0", rating="again", correct=False, confidence=90, number=9.0),
        *(attempt(n, day(0), card_id="d-kv-cache-1", confidence=90, correct=False, number=9.0) for n in range(1, 6)),
        attempt(9, day(7), card_id="d-kv-cache-2", rating="easy"),
        notes={"d-kv-cache-0": Note(at=day(1), text="keys *and* values\n# two")},
    )
    page = weak_points_markdown(done, BANK, {"d-kv-cache-0": "Growth | of <b>KV</b>"}, day(8))
    assert page.startswith("# Weak points on 2026-03-10\n")
    assert "| serving | 0% | 0 of 1 | 0 |" in page
    assert r"- Growth \| of \<b\>KV\</b\> (kv\-cache): missed last time" in page
    assert r"  - Note: keys \*and\* values \# two" in page
    assert "When you say 90% you are right 0% of the time (0 of 6)." in page
    assert r"kv\-cache: 73 points overconfident over 7 answers." in page  # (6 x 90 + 70 - 100) / 7
    assert "Half of your numbers are within a factor of 4.77 of the truth." in page  # 42.95 / 9
    assert "d\\-serving" not in page  # never answered, so not forgotten


def test_the_page_of_a_fresh_profile_says_so():
    page = weak_points_markdown(Progress(), BANK, {}, day(0))
    assert "No card was answered yet." in page
    assert "No answer with a stated confidence yet." in page


@pytest.mark.parametrize(
    ("attempts", "exported", "days", "due"),
    [
        ([], None, 100, False),
        ([0], None, 7, False),
        ([0], None, 8, True),
        ([0], 1, 100, False),  # nothing new since
        ([0, 2], 1, 8, False),
        ([0, 2], 1, 9, True),
    ],
)
def test_an_export_is_asked_for_after_seven_days_with_something_new(attempts, exported, days, due):
    done = progress(
        *(attempt(n, day(at)) for n, at in enumerate(attempts)),
        exported_at=None if exported is None else day(exported),
    )
    assert needs_export(done, day(days)) is due
