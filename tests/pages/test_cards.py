"""Cards: the list with its filters, and an open question from prompt to marks."""

from __future__ import annotations

import pytest

from core.cards.draw import draw
from core.cards.library import load_cards
from tests.pages.practice import Visit

QUESTIONS = [card for card in load_cards().values() if card.kind == "question"]
CARD = next(card for card in QUESTIONS if card.id == "q-bottleneck-mfu-35-hfu-62")


def visit(seed: int = 0, card=CARD) -> Visit:
    return Visit("cards", {"card": card.id, "seed": str(seed)})


def answered(page: Visit, text: str = "My answer") -> Visit:
    page.at.text_area[0].set_value(text)
    page.press("Compare with")
    return page


def test_rubric_strong_answer_and_mistakes_are_not_in_the_payload_before_an_answer():
    page, variant = visit(), draw(CARD, 0)
    secrets = [
        variant.fill(CARD.sections["Strong answer"])[:60],
        *(variant.fill(item.levels[4])[:40] for item in CARD.model.rubric),
        *(variant.fill(wrong)[:40] for wrong, _ in CARD.mistakes),
        *(variant.fill(twist.expect)[:40] for twist in CARD.model.twists),
        *(variant.fill(hint.text)[:40] for hint in CARD.model.hints),
        *(variant.fill(reply.give)[:30] for reply in CARD.model.clarify if len(reply.give) > 12),
    ]
    assert [secret for secret in secrets if secret in page.payload()] == []
    answered(page)
    assert [secret for secret in secrets[: 1 + len(CARD.model.rubric)] if secret not in page.payload()] == []
    assert page.at.query_params["card"] == CARD.id


def test_hints_come_one_by_one_with_their_cost():
    page, variant = visit(), draw(CARD, 0)
    page.press("Take the next hint")
    assert variant.fill(CARD.model.hints[0].text) in page.says()
    assert variant.fill(CARD.model.hints[1].text) not in page.says()


def test_an_empty_answer_is_asked_for_and_skip_goes_on():
    page = visit()
    page.press("Compare with")
    assert "Write a line first" in page.says()
    page.press("Skip to the strong")
    assert "A strong answer" in page.says()


def test_marks_are_kept_once_with_a_rating():
    page = answered(visit())
    page.press("Keep my marks")
    assert "Mark every line" in page.says()
    for radio in page.at.radio:
        radio.set_value(3)
    page.press("Keep my marks")
    assert "Kept: 3 of 4" in page.says()
    (attempt,) = page.log()
    assert attempt["rating"] == "good"
    assert set(attempt["scores"].values()) == {3}


def test_what_was_written_is_shown_as_text_and_kept():
    page = answered(visit(), "<script>alert(1)</script> **bold** $x$")
    assert "<script>alert(1)</script> **bold** $x$" in [text.value for text in page.at.text]
    assert "<script>" in page.browser.text


def test_a_twist_recomputes():
    page = answered(visit())
    page.press("I have an answer")
    assert "before" in page.payload()
    assert "after" in page.payload()


@pytest.mark.parametrize("card", QUESTIONS, ids=lambda card: card.id)
def test_every_question_opens_and_shows_all_of_it(card):
    page = answered(visit(seed=11, card=card))
    for twist in card.model.twists:
        page.press("I have an answer")
        assert twist.id
    assert "{{" not in page.says()
    assert not page.at.exception


def test_filters_narrow_the_list_and_an_empty_result_says_so():
    page = Visit("cards")
    everything = len(load_cards())
    assert f"{everything} of {everything} cards" in page.says()
    page.at.button_group(key="cards.kinds").set_value(["question"]).run()
    assert f"{len(QUESTIONS)} of {everything} cards" in page.says()
    page.at.text_input(key="cards.words").set_value("zzzz").run()
    assert "No card matches" in page.says()


def test_a_note_is_kept_as_text():
    page = visit()
    page.at.text_area(key=f"notes.{CARD.id}").set_value("<b>mine</b>").run()
    page.press("Save the note")
    assert "<b>mine</b>" in page.browser.text
    again = Visit("cards", {"card": CARD.id, "seed": "0"}, page.browser)
    assert again.at.text_area(key=f"notes.{CARD.id}").value == "<b>mine</b>"


def test_the_report_names_card_edition_and_seed():
    page = visit(seed=8)
    (code,) = page.at.code
    assert CARD.id in code.value
    assert f"Edition: {CARD.content_hash}, seed 8" in code.value
