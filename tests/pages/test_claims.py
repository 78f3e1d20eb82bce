"""Critique a claim: nothing of the verdict is sent before the commit; then reason, condition and a better sentence."""

from __future__ import annotations

import pytest

from core.cards.claim import ClaimCard
from core.cards.library import load_cards
from tests.pages.practice import Visit
from views._ui.claim_view import WORDS

CLAIMS = {card.id: card for card in load_cards().values() if isinstance(card, ClaimCard)}
CONDITIONAL = CLAIMS["c-training-memory-zero1"]
FALSE = CLAIMS["c-bottleneck-gap"]
TRUE = CLAIMS["c-training-memory-zero3"]


def visit(card: ClaimCard, seed: int = 4) -> Visit:
    return Visit("claims", {"card": card.id, "seed": str(seed)})


def answer(page: Visit, verdict: str) -> None:
    page.at.radio[0].set_value(verdict)
    page.press("Commit")


def secrets(card: ClaimCard) -> list[str]:
    model = card.model
    return [model.because[:40], model.say[:40], *([model.when[:40]] if model.when else [])]


@pytest.mark.parametrize("card", CLAIMS.values(), ids=CLAIMS)
def test_the_reason_is_sent_after_the_commit_only(card: ClaimCard):
    page = visit(card)
    assert card.model.claim in page.says()
    assert [secret for secret in secrets(card) if secret in page.payload()] == []
    page.press("I do not know")
    assert not page.at.exception
    assert [secret for secret in secrets(card) if secret not in page.says()] == []


def test_before_the_commit_all_verdicts_look_alike():
    shown = [visit(card).at.radio[0] for card in (CONDITIONAL, FALSE, TRUE)]
    assert {tuple(radio.options) for radio in shown} == {tuple(WORDS.values())}
    assert {radio.value for radio in shown} == {None}


@pytest.mark.parametrize("card", [CONDITIONAL, FALSE, TRUE], ids=lambda card: card.model.verdict)
@pytest.mark.parametrize("said", list(WORDS))
def test_a_verdict_is_graded_and_logged_as_a_pick(card: ClaimCard, said: str):
    page = visit(card)
    answer(page, said)
    right = said == card.model.verdict
    assert ("**Right**" if right else "**Not yet**") in page.says()
    (attempt,) = page.log()
    assert (attempt["kind"], attempt["option"], attempt.get("correct", False)) == ("mcq", said, right)


def test_a_condition_is_shown_where_there_is_one():
    page = visit(CONDITIONAL)
    answer(page, "true_if")
    assert f"**True if** {CONDITIONAL.model.when}" in page.says()
    page = visit(TRUE)
    answer(page, "true")
    assert "True if" not in page.says()


def test_a_commit_without_a_verdict_says_so_and_logs_nothing():
    page = visit(FALSE)
    page.press("Commit")
    assert "Choose an answer first" in page.says()
    assert page.log() == []


@pytest.mark.parametrize("topic", ["precision", "kv-cache"])
def test_a_topic_shows_its_own_claims(topic: str):
    page = Visit("claims")
    page.at.selectbox(key="claim.topic").set_value(topic).run()
    assert str(page.at.query_params["card"]).startswith(f"c-{topic}-")


def test_faulty_programs_and_claims_are_found_among_the_cards():
    page = Visit("cards")
    page.at.button_group(key="cards.kinds").set_value(["claim"]).run()
    assert f"{len(CLAIMS)} of " in page.says()
    assert not page.at.exception
