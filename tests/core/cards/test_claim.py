"""Claims: three verdicts, a condition where one is due, and a place for each finding."""

from __future__ import annotations

import pytest

from core.cards.claim import ClaimCard
from core.cards.library import read_texts
from core.cards.validate import check_one

HEAD = "---\nschema: claim/1\ntopic: serving\nstep: 5\n---\n\n"
BLOCK = """```claim
id: c-serving-ports
level: mid
claim: Ports are always fast enough.
verdict: {verdict}
because: They move bytes at their own rate.
say: A port has a rate.
sources: [known]
```
"""
SOURCES = b"known: {title: Ports, year: 2000, url: 'https://example.org/ports', kind: book, supports: Rates}\n"


def bank_of(block: str, *, head: str = HEAD, place: str = "claims/serving.md", own: bool = False):
    return read_texts({place: (head + block).encode(), "sources/known.yaml": SOURCES}, own=own)


def problems(block: str, **options) -> list[str]:
    bank = bank_of(block, **options)
    found = list(bank.problems)
    for card in bank.cards.values():
        found += check_one(card, bank)
    return [str(problem) for problem in found]


@pytest.mark.parametrize("verdict", ["true", "false"])
def test_true_and_false_are_words_and_not_truth_values(verdict: str):
    block = BLOCK.format(verdict=verdict)
    assert problems(block) == []
    (card,) = bank_of(block).cards.values()
    assert isinstance(card, ClaimCard)
    assert card.model.verdict == verdict
    assert (card.kind, card.topic, card.step, card.title) == ("claim", "serving", 5, "Ports are always fast enough.")


def test_a_condition_stands_with_true_if_and_only_there():
    conditional = BLOCK.format(verdict="true_if")
    assert any("'when'" in problem for problem in problems(conditional))
    assert problems(conditional.replace("say:", "when: nothing waits.\nsay:")) == []
    assert any("'when'" in problem for problem in problems(BLOCK.format(verdict="true\nwhen: nothing waits.")))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("verdict: false", "verdict: maybe", "claims/serving.md:11: verdict"),
        ("id: c-serving-ports", "id: c-hardware-ports", "begins with c-serving-"),
        ("id: c-serving-ports", "id: m-serving-ports", "id"),
        ("[known]", "[unknown]", "claims/serving.md:14: sources"),
        ("A port has a rate.", "See [this](https://example.org).", "is a link"),
        ("A port has a rate.", "Its rate is {{ rate }}.", "no numbers are drawn here"),
        ("say: A port has a rate.\n", "", "say: is missing"),
        ("[known]\n```\n", "[known]\n", "not closed"),
        ("```claim", "```mcq", "holds no block"),
    ],
)
def test_a_fault_is_named_with_its_place(old: str, new: str, words: str):
    block = BLOCK.format(verdict="false")
    assert old in block
    assert any(words in problem for problem in problems(block.replace(old, new)))


def test_a_file_of_claims_lies_under_its_topic():
    assert any("claims/serving.md" in line for line in problems(BLOCK.format(verdict="true"), place="claims/other.md"))


def test_own_claims_may_lie_in_any_file():
    assert problems(BLOCK.format(verdict="true"), place="claims/mine.md", own=True) == []


def test_the_answer_changes_with_the_verdict_and_not_with_the_reason():
    def hashes(block: str) -> tuple[str, str]:
        (card,) = bank_of(block).cards.values()
        return card.content_hash, card.answer_hash

    first = hashes(BLOCK.format(verdict="true"))
    reworded = hashes(BLOCK.format(verdict="true").replace("own rate", "rate"))
    turned = hashes(BLOCK.format(verdict="false"))
    assert first[1] == reworded[1] != turned[1]
    assert len({first[0], reworded[0], turned[0]}) == 3
