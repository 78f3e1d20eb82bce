"""Review: the day's queue from the log, a missed card once more, and an absence that does not bury anybody."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from core.cards.library import load_cards
from core.progress.document import Progress
from core.progress.reading import to_json
from core.progress.recording import answered
from tests.pages.practice import Visit
from tests.pages.stand_in import Browser
from views._ui.bank import info

DRILLS = [card for card in load_cards().values() if card.kind == "drill"]


def log_of(cards, *, days_ago: int, correct: bool = True) -> Progress:
    """One answer to each card, some days ago."""
    at = datetime.now(UTC) - timedelta(days=days_ago)
    attempts = [
        answered(
            info(card),
            attempt_id=f"{card.id}.{days_ago}",
            at=at + timedelta(seconds=number),
            mode="review",
            milliseconds=60_000,
            seed=1,
            correct=correct,
        )
        for number, card in enumerate(cards)
    ]
    return Progress(attempts=tuple(attempts))


def test_until_the_browser_has_answered_no_queue_is_shown():
    page = Visit("review")
    page.at.session_state["progress.browser"] = lambda message: []
    page.at.session_state["progress.copy"].ready = False
    page.at.run()
    assert "Reading your progress" in page.says()
    assert "Start" not in page.labels()


def test_a_fresh_profile_gets_ten_new_cards_of_mixed_topics():
    page = Visit("review")
    assert "10 new" in page.says()
    page.press("Start")
    assert "1 of 10" in page.payload()


def test_due_cards_come_back_and_a_right_answer_moves_them():
    browser = Browser(to_json(log_of(DRILLS[:3], days_ago=3)))
    page = Visit("review", browser=browser)
    assert "3 due" in page.says()


def test_a_missed_card_comes_once_more_and_is_logged_once():
    browser = Browser(to_json(log_of(DRILLS[:1], days_ago=3)))
    progress = log_of(DRILLS[:1], days_ago=3)
    browser = Browser(
        to_json(progress.model_copy(update={"settings": progress.settings.model_copy(update={"new_per_day": 0})}))
    )
    page = Visit("review", browser=browser)
    page.press("Start")
    page.press("I do not know")
    page.press("Next")
    assert "Once more" in page.payload()
    page.press("I do not know")
    page.press("Finish")
    assert "0 of 1 right" in page.says()
    assert len(page.log()) == 2  # the old one and one of today


def test_after_200_days_away_the_queue_is_capped_and_catching_up_is_offered():
    browser = Browser(to_json(log_of(DRILLS[:60], days_ago=200)))
    page = Visit("review", browser=browser)
    assert "left for another day" in page.says()
    assert "Catch up over 3 days instead" in page.labels()
    page.press("Catch up")
    assert "You are catching up" in page.says()


def test_not_today_leaves_a_card_out_without_a_log_entry():
    page = Visit("review")
    page.press("Start")
    page.press("Not today")
    assert "of 9" in page.payload()
    page.press("Stop here")
    assert page.log() == []
