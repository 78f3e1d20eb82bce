"""Drills: commit first, then the truth; what cannot be read is answered in words and nothing is lost."""

from __future__ import annotations

import pytest

from core.cards.draw import draw, fresh_seed
from core.cards.library import load_cards
from core.cards.text import significant
from tests.pages.practice import Visit

DRILL = "d-serving-decode-tput"


def variant(seed: int = 7):
    return draw(load_cards()[DRILL], seed)


def visit(seed: int = 7) -> Visit:
    return Visit("drills", {"card": DRILL, "seed": str(seed)})


def test_a_cold_visit_shows_a_drill_with_nothing_to_read_first():
    page = Visit("drills")
    assert "Commit" in page.labels()
    assert str(page.at.query_params["card"]).startswith("d-")


def test_a_permalink_brings_the_same_numbers_and_new_numbers_differ():
    first, again = visit(), visit()
    assert variant().fill(variant().card.sections["Prompt"]) in first.says()
    assert first.says() == again.says()
    first.press("New numbers")
    assert first.at.query_params["seed"] != again.at.query_params["seed"]


def test_truth_hidden_steps_and_slips_are_not_in_the_payload_before_the_commit():
    page = visit()
    card, answer = variant().card, significant(variant().answer, 4)
    secrets = [
        answer,
        variant().fill(card.steps[-1])[:40],
        card.sections["Why it matters"][:40],
        *(slip.say[:40] for slip in card.model.partial),
    ]
    sent = page.payload()
    assert [secret for secret in secrets if secret in sent] == []
    page.press("I do not know")
    assert answer in page.payload()


def test_a_right_answer_is_logged_once_with_its_rating():
    page = visit()
    page.at.text_input(key=key_of(page, "typed")).set_value(f"{variant().answer:.1f} tok/s")
    page.at.button_group(key=key_of(page, "confidence")).set_value(90)
    page.press("Commit")
    assert "Right" in page.says()
    (attempt,) = page.log()
    assert attempt["correct"] is True
    assert attempt["confidence"] == 90
    assert attempt["rating"] in ("good", "easy")
    assert attempt["truth"] == pytest.approx(variant().answer)


def test_a_known_slip_is_answered_by_name():
    page = visit()
    slip = variant().card.model.partial[0]
    page.at.text_input(key=key_of(page, "typed")).set_value(f"{variant().value_of(slip.expr):.4f}")
    page.press("Commit")
    assert slip.say in page.says()
    assert page.log()[0]["rating"] == "again"


@pytest.mark.parametrize(
    "typed",
    ["", "1,34", "∞", "12 GB", "abc", "1.2.3", "9" * 10_000, "<script>alert(1)</script>", "1e999", "12 13"],
)
def test_what_is_no_number_of_that_unit_is_answered_in_words_and_nothing_is_logged(typed):
    page = visit()
    page.at.text_input(key=key_of(page, "typed")).set_value(typed)
    page.press("Commit")
    assert ":material/error:" in page.says()
    assert "Commit" in page.labels()
    assert page.log() == []


@pytest.mark.parametrize("typed", ["2,345", "2.3e3", "10^3", "1 tok/s", "1e3 tok/s", "2345 tokens/s"])
def test_usual_ways_to_write_a_number_are_read(typed):
    page = visit()
    page.at.text_input(key=key_of(page, "typed")).set_value(typed)
    page.press("Commit")
    assert len(page.log()) == 1


def test_a_second_showing_has_other_numbers_and_fewer_steps():
    first = visit(seed=1)
    first.press("I do not know")
    second = Visit("drills", {"card": DRILL, "seed": "3"}, first.browser)
    shown = [step for step in variant(3).card.steps if variant(3).fill(step) in second.says()]
    before = [step for step in variant(1).card.steps if variant(1).fill(step) in visit(seed=1).says()]
    assert len(shown) == len(before) - 1


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"card": "d-nothing-here"}, "not in this bank"),
        ({"card": DRILL, "seed": "-1"}, "a seed is a whole number"),
        ({"card": DRILL, "seed": "9" * 40}, "a seed is a whole number"),
        ({"card": "q-bottleneck-mfu-35-hfu-62"}, "another kind"),
    ],
)
def test_a_broken_link_is_answered_in_words_over_a_fresh_drill(query, words):
    page = Visit("drills", query)
    assert not page.at.exception
    assert words in page.says()
    assert "Commit" in page.labels()


def test_a_link_to_another_edition_says_so():
    page = Visit("drills", {"card": DRILL, "seed": "3", "v": "0" * 12})
    assert "revised" in page.says()


@pytest.mark.parametrize(
    "card", [card for card in load_cards().values() if card.kind == "drill"], ids=lambda card: card.id
)
def test_new_numbers_are_other_numbers(card):
    seed = 5
    for turn in range(5):
        following = fresh_seed(card, f"token {turn}", [seed])
        assert draw(card, following).values != draw(card, seed).values
        seed = following


def test_a_sprint_asks_ten_and_sums_up():
    page = Visit("drills")
    page.at.button_group(key="drills.mode").set_value("Ten-minute sprint").run()
    page.press("Start")
    for _ in range(9):
        page.press("I do not know")
        page.press("Next")
    page.press("I do not know")
    page.press("See how it went")
    assert "0 of 10 right, 10 answered" in page.says()
    assert [attempt["mode"] for attempt in page.log()] == ["sprint"] * 10


def test_the_estimator_counts_a_factor_of_two():
    page = visit()
    page.at.button_group(key="drills.mode").set_value("Estimator").run()
    page.at.text_input(key=key_of(page, "typed")).set_value(f"{1.8 * variant().answer:.4f}")
    page.press("Commit")
    assert "Right" in page.says()
    assert not page.log()[0].get("counts_for_schedule", False)


def key_of(page: Visit, name: str) -> str:
    seed, card = page.at.query_params["seed"], load_cards()[page.at.query_params["card"]]
    return f"drills.{card.id}.{card.content_hash}.{seed}.{name}"
