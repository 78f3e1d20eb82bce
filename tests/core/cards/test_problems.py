"""Findings as they are printed."""

from __future__ import annotations

from core.cards.problems import MAX_SHOWN, CardError, CardProblem, short


def test_a_finding_names_file_line_and_field():
    assert str(CardProblem("drills/a.md", 7, "golden", "is wrong")) == "drills/a.md:7: golden: is wrong"
    assert str(CardProblem("drills/a.md", 7, "", "is wrong")) == "drills/a.md:7: is wrong"


def test_an_error_has_all_of_them_in_order():
    error = CardError([CardProblem("b", 1, "", "x"), CardProblem("a", 2, "", "y"), CardProblem("a", 1, "", "z")])
    assert str(error) == "a:1: z\na:2: y\nb:1: x"


def test_values_are_cut_and_never_fail():
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert short("ab") == "'ab'"
    assert len(short("a" * 1000)) == MAX_SHOWN
    assert short(10**5000) == "a int too large to print"
    assert short(deep) == "a list too large to print"
    while deep:  # taken apart here: a list so deep is not freed by one call
        deep = deep[0]  # type: ignore[assignment]
