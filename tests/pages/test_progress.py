"""Progress: the map, calibration in words, and files that lose nothing."""

from __future__ import annotations

import json

import pytest

from core.progress.document import Progress
from core.progress.reading import read, to_json
from tests.pages.practice import Visit
from tests.pages.stand_in import Browser
from tests.pages.test_review import DRILLS, log_of


def visit(progress: Progress | None = None) -> Visit:
    return Visit("progress", browser=Browser(to_json(progress)) if progress else Browser())


def test_an_empty_profile_has_a_map_and_says_what_will_stand_here():
    page = visit()
    assert "rp-map" in page.payload()
    assert "Nothing yet" in page.says()


def test_weakest_cards_are_links_and_history_is_listed():
    page = visit(log_of(DRILLS[:4], days_ago=2))
    assert "The last 4 of 4 answers" in page.payload()
    assert "Drill: " in page.payload()


def test_the_plot_appears_from_thirty_answers_on_with_words():
    progress = log_of(DRILLS[:40], days_ago=2)
    sure = tuple(attempt.model_copy(update={"confidence": 70}) for attempt in progress.attempts)
    page = visit(progress.model_copy(update={"attempts": sure}))
    assert "When you say 70% you are right 100% of the time (40 of 40)" in page.says()
    assert "Confidence against share right" in page.payload()


def test_the_plan_is_kept():
    page = visit()
    page.at.number_input(key="plan.new_per_day").set_value(3)
    page.press("Save the plan")
    assert read(page.browser.text).settings.new_per_day == 3


def test_starting_over_needs_a_yes_and_can_be_taken_back():
    page = visit(log_of(DRILLS[:4], days_ago=2))
    page.at.checkbox(key="progress.reset_sure").check().run()
    page.press("Start over")
    assert "Nothing yet" in page.says()
    assert len(page.log()) == 4
    page.press("Undo: everything")
    assert "The last 4 of 4 answers" in page.payload()


def test_starting_one_topic_over_leaves_the_others():
    page = visit(log_of([DRILLS[0], DRILLS[-1]], days_ago=2))
    page.at.selectbox(key="progress.reset_topic").select(DRILLS[0].topic).run()
    page.at.checkbox(key="progress.reset_sure").check().run()
    page.press("Start over")
    assert "The last 1 of 1 answers" in page.payload()
    assert read(page.browser.text).resets[0].topic == DRILLS[0].topic


def upload(page: Visit, data: bytes) -> None:
    page.at.file_uploader(key="progress.import").upload("progress.json", data, "application/json").run()


def test_an_import_is_previewed_then_merged_and_a_second_time_changes_nothing():
    page = visit(log_of(DRILLS[:2], days_ago=2))
    incoming = to_json(log_of(DRILLS[2:5], days_ago=3)).encode()
    upload(page, incoming)
    assert "3 new answers (0 already here)" in page.says()
    assert len(page.log()) == 2
    page.press("Merge into my progress")
    assert len(page.log()) == 5
    upload(page, incoming)
    assert "changes nothing" in page.says()


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"\xff\xfe", b"[]", json.dumps({"format": "progress/2"}).encode(), b'{"format": "anki"}'],
)
def test_corrupt_foreign_and_newer_files_are_refused_in_words_and_nothing_is_lost(data):
    page = visit(log_of(DRILLS[:2], days_ago=2))
    upload(page, data)
    assert page.at.error
    assert len(page.log()) == 2
    assert "Merge into my progress" not in page.labels()
