"""What of a card the validator reads as text. Its findings are tested in test_planted_faults.py."""

from __future__ import annotations

import pytest

from core.cards.check_text import known_placeholders, marks, placeholder_faults, section_faults, texts
from tests.core.cards.made import DRILL, QUESTION, drill, question


def test_every_text_in_which_numbers_are_put_is_read():
    fields = texts(question())
    assert {
        "## Prompt",
        "rubric.limit.3",
        "rubric.limit.observe",
        "hints.2.text",
        "clarify.1.give",
        "stress.1",
    } <= fields.keys()
    assert {"tradeoffs.0.use_when", "twists.half.say", "twists.half.expect"} <= fields.keys()
    assert {"## Steps", "partial.0.say"} <= texts(drill()).keys()
    shown = QUESTION.split("---\n", 2)[2]
    assert sum(text.count("{{") for name, text in fields.items() if name.startswith("## ")) == shown.count("{{")


def test_good_texts_have_no_finding():
    for card in (drill(), question()):
        assert [*section_faults(card), *placeholder_faults(card)] == []


def test_marks_are_named_with_their_words():
    [found] = marks("title", "see https://example.org now")
    assert (found.field, found.words) == ("title", "https://example.org")
    assert [*marks("title", "plain, 5 USD (or so) [sic]")] == []


@pytest.mark.parametrize("address", ["//example.org/x.png", "https&#58;//example.org/x.png", "<//example.org/x.png>"])
def test_a_picture_that_is_addressed_elsewhere_in_the_text_is_a_finding(address):
    [found] = marks("## Prompt", f"![a][b]\n\n[b]: {address}\n\nHow many bytes?")
    assert (found.words, "is the address of a link" in found.rule) == (f"]: {address}", True)


def test_the_placeholders_of_a_text_with_a_finding_are_not_known():
    assert known_placeholders("{{ a | 3g }} and {{ 2*b }}") == [("a", "3g"), ("2*b", "")]
    assert known_placeholders("{{ a }} and {{ b") == []


def test_only_the_last_step_may_give_the_answer():
    early = DRILL.replace("1. ", "1. {{ answer }} ", 1)
    assert ["only the last step" in fault.rule for fault in section_faults(drill(early))] == [True]
