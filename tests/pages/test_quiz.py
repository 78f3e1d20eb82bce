"""Quiz and check-up: nothing tells the right option before the commit; the check-up ends with the map."""

from __future__ import annotations

import pytest

from core.cards.library import load_cards
from tests.pages.practice import Visit

MCQS = [card for card in load_cards().values() if card.kind == "mcq"]
CARD = next(card for card in MCQS if card.id == "m-bottleneck-gap-cause")


def visit(seed: int = 4) -> Visit:
    return Visit("quiz", {"card": CARD.id, "seed": str(seed)})


def answer(page: Visit, text: str) -> None:
    page.at.radio[0].set_value(text)
    page.press("Commit")


def correct() -> str:
    return next(option.text for option in CARD.model.options if option.correct)


def test_reasons_and_the_key_are_not_in_the_payload_before_the_commit():
    page = visit()
    reasons = [option.why[:40] for option in CARD.model.options]
    assert [reason for reason in reasons if reason in page.payload()] == []
    assert "correct" not in page.payload().lower()
    answer(page, correct())
    assert all(reason in page.payload() for reason in reasons)


def test_a_right_and_a_wrong_pick_are_logged():
    page = visit()
    answer(page, correct())
    assert "**Right**" in page.says()
    assert page.log()[0]["correct"] is True
    other = visit(seed=5)
    answer(other, next(option.text for option in CARD.model.options if not option.correct))
    assert "**Not yet**" in other.says()
    assert other.log()[0].get("correct", False) is False


def test_a_commit_without_a_pick_says_so_and_logs_nothing():
    page = visit()
    page.press("Commit")
    assert "Choose an answer first" in page.says()
    assert page.log() == []


def test_options_keep_their_order_in_a_permalink_and_are_shuffled_between_showings():
    orders = {tuple(visit(seed).at.radio[0].options) for seed in range(1, 6)}
    assert len(orders) > 1
    assert visit(3).at.radio[0].options == visit(3).at.radio[0].options


@pytest.mark.parametrize("topic", ["bottleneck", "kv-cache"])
def test_a_topic_shows_its_own_questions(topic):
    page = Visit("quiz")
    page.at.selectbox(key="mcq.topic").set_value(topic).run()
    assert str(page.at.query_params["card"]).startswith(f"m-{topic}-")


def test_the_check_up_asks_ten_from_different_topics_and_ends_with_the_map():
    page = Visit("quiz")
    page.at.button_group(key="quiz.way").set_value("Five-minute check-up").run()
    page.press("Start the check-up")
    for turn in range(10):
        assert f"{turn + 1} of 10" in page.payload()
        page.press("I do not know")
        page.press("Next" if turn < 9 else "Finish")
    assert "0 of 10 right" in page.says()
    assert "rp-map" in page.payload()
    topics = [attempt["topic"] for attempt in page.log()]
    assert len(topics) == 10
    assert len(set(topics)) >= min(9, len({card.topic for card in load_cards().values()}) - 1)
