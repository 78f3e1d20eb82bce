"""How the validator counts variants. Its findings are tested in test_planted_faults.py."""

from __future__ import annotations

import pytest

from core.cards import check_numbers
from core.cards.validate import check_card
from tests.core.cards.made import DRILL, QUESTION, drill, question, read

BANK = read()


def test_equal_variants_are_worked_once(monkeypatch):
    worked = []
    real = check_numbers.with_values
    monkeypatch.setattr(
        check_numbers, "with_values", lambda card, values, seed: worked.append(seed) or real(card, values, seed)
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
