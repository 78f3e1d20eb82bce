"""Spot the bug: nothing of the answer is sent before the commit; then the fault, both runs and the cure."""

from __future__ import annotations

import pytest

from core.cards.bug import BugCard, number_of, statements
from core.cards.demonstration import demonstrated
from core.cards.library import load_cards
from core.progress.sitting import sit_down
from tests.pages.practice import Visit
from views._ui.sitting_view import Running, key_of

BUGS = {card.id: card for card in load_cards().values() if isinstance(card, BugCard)}
CARD = BUGS["b-reliability-data-save"]


def visit(card: BugCard = CARD, seed: int = 4) -> Visit:
    return Visit("faults", {"card": card.id, "seed": str(seed)})


def choose(page: Visit, line: int) -> None:
    next(box for box in page.at.selectbox if box.label == "The line at fault").set_value(line)
    page.press("Commit")


def programs(page: Visit) -> list[str]:
    return [element.value for element in page.at.code]


def secrets(card: BugCard) -> list[str]:
    """What only a reader who committed may see, in pieces that stand on one line."""
    runs = demonstrated(card)
    mended = set(statements(card.fixed).values()) - set(statements(card.faulty).values())
    words = [fault.what for fault in card.model.faults] + [fault.effect for fault in card.model.faults]
    words += [line.why for line in card.model.innocent]
    return [*(text[:40] for text in words), *mended, *runs.faulty.splitlines(), *runs.fixed.splitlines()]


@pytest.mark.parametrize("card", BUGS.values(), ids=BUGS)
def test_nothing_of_the_answer_is_in_the_payload_before_the_commit(card: BugCard):
    page = visit(card)
    sent = page.payload()
    assert programs(page) == [card.faulty.rstrip()]
    assert [secret for secret in secrets(card) if secret in sent] == []
    assert "innocent" not in sent.lower()
    page.press("I do not know")
    assert not page.at.exception
    said = page.says() + "\n".join(programs(page))
    assert [secret for secret in secrets(card) if secret not in said] == []


def test_any_line_at_fault_is_right_and_is_logged_as_a_pick():
    for line in sorted(CARD.fault_lines):
        page = visit(seed=line)
        choose(page, line)
        assert "**Right**" in page.says()
        (attempt,) = page.log()
        assert attempt["correct"] is True
        assert (attempt["kind"], attempt["option"]) == ("mcq", str(line))


def test_an_innocent_line_is_wrong_and_is_told_why():
    innocent = CARD.model.innocent[0]
    page = visit()
    choose(page, number_of(CARD.faulty, innocent.line))
    assert "**Not yet**" in page.says()
    assert f"(your choice). {innocent.why}" in page.says()
    assert page.log()[0].get("correct", False) is False


def test_the_cure_is_shown_line_by_line():
    page = visit()
    page.press("I do not know")
    shown = programs(page)
    assert '-    path = folder / "checkpoint.json"' in "\n".join(shown)
    assert "+    os.replace(partial, path)" in "\n".join(shown)
    assert demonstrated(CARD).faulty in shown


def test_a_commit_without_a_line_says_so_and_logs_nothing():
    page = visit()
    page.press("Commit")
    assert "Choose a line first" in page.says()
    assert page.log() == []


def test_only_lines_that_do_something_are_offered():
    box = next(box for box in visit().at.selectbox if box.label == "The line at fault")
    assert box.options == [f"{number}: {line}" for number, line in statements(CARD.faulty).items()]


def test_a_cold_visit_shows_a_program_and_the_next_one_is_another():
    page = Visit("faults")
    first = page.at.query_params["card"]
    assert str(first).startswith("b-")
    page.press("Next program")
    assert page.at.query_params["card"] != first


def test_a_link_to_another_kind_is_answered_in_words():
    page = Visit("faults", {"card": "m-bottleneck-gap-cause"})
    assert "another kind" in page.says()
    assert "Commit" in page.labels()


def test_a_review_asks_programs_and_claims_among_the_rest():
    page = Visit("review")
    asked = [CARD.id, "c-bottleneck-gap"]
    page.at.session_state[key_of("review")] = Running(sit_down(asked), len(asked), repeats=False)
    page.at.run()
    assert programs(page) == [CARD.faulty.rstrip()]
    page.press("I do not know")
    page.press("Next")
    assert "Does it hold?" in [radio.label for radio in page.at.radio]
    page.press("I do not know")
    assert [(attempt["card_id"], attempt["mode"]) for attempt in page.log()] == [(card, "review") for card in asked]
