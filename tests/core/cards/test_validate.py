"""What the validator reads and how it counts. Its findings are tested in test_planted_faults.py."""

from __future__ import annotations

import pytest

from core.cards import validate
from core.cards.validate import check_card, check_mcq, mcq_texts, texts
from tests.core.cards.made import DRILL, QUESTION, drill, mcq, question, read

BANK = read()


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
    assert set(mcq_texts(mcq())) == {
        "title",
        "stem",
        *(f"options.{at}.{key}" for at in range(3) for key in ("text", "why")),
    }


def test_good_cards_have_no_finding():
    assert check_card(drill(), BANK, seeds=20) == check_card(question(), BANK, seeds=20) == check_mcq(mcq(), BANK) == []


def test_equal_variants_are_worked_once(monkeypatch):
    worked = []
    real = validate.with_values
    monkeypatch.setattr(
        validate, "with_values", lambda card, values, seed: worked.append(seed) or real(card, values, seed)
    )
    check_card(drill(), BANK, seeds=200)
    assert len(worked) == 2 * 5 * 2  # sizes, shares, accelerators


def test_a_fault_of_one_variant_only_is_found_and_told_once():
    # 70 GB at 50% on an H200 and at 70% on an H100 take 29.17 and 29.85 ms; the others are elsewhere.
    rare = DRILL.replace('expr: "size/hbm*1000"', 'expr: "29.1"')
    found = check_card(drill(rare), BANK, seeds=200)
    assert [problem.field for problem in found] == ["partial.0.expr"]
    assert "size 70" in found[0].message
    assert check_card(drill(rare), BANK, seeds=1) == []


def test_a_text_that_only_some_variants_cannot_fill_is_found():
    text = DRILL.replace("no kernel can beat", "no kernel beats: {{ 1/(size - 70) }}")
    [found] = check_card(drill(text), BANK, seeds=50)
    assert (found.field, text.split("\n")[found.line - 1]) == (
        "## Why it matters",
        "A floor says what no kernel beats: {{ 1/(size - 70) }}.",
    )


def test_a_twist_that_only_some_variants_cannot_take_is_found():
    text = QUESTION.replace('set: {bw: "2*bw"}', 'set: {bw: "bw - 3350"}').replace("bw: 3350}", "bw: 4800}")
    text = text.replace("41.791", "29.1667").replace("83.582", "58.3333")
    [found] = check_card(question(text), BANK, seeds=50)
    assert found.field == "twists.faster.set"
    assert "bw 3350" in found.message


@pytest.mark.parametrize("seeds", [0, -3])
def test_the_authors_own_numbers_are_always_checked(seeds):
    assert [p.field for p in check_card(drill(DRILL.replace('1000"', '1001"', 1)), BANK, seeds=seeds)] == [
        "answer.check"
    ]
