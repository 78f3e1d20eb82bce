"""The glossary is read strictly, and the one in the repository is whole, short, and in plain words."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.glossary import Term, read_glossary

TERMS = read_glossary((Path(__file__).parents[2] / "content" / "glossary.md").read_text(encoding="utf-8"))
STEPS = {"bottleneck", "partition", "communication", "attention", "batch"}


def test_an_entry_has_a_term_a_topic_and_a_meaning():
    assert read_glossary("# Glossary\n\n## Ring\n*communication* · A pattern\nof sending.\n") == (
        Term("Ring", "communication", "A pattern of sending."),
    )


def test_an_entry_of_another_form_is_refused_by_name():
    with pytest.raises(ValueError, match="'Ring' must read"):
        read_glossary("## Ring\nA pattern.\n")


def test_a_term_defined_twice_is_refused():
    with pytest.raises(ValueError, match="defined twice: ring"):
        read_glossary("## Ring\n*a* · x\n\n## ring\n*a* · y\n")


def test_there_are_about_sixty_terms_over_all_five_steps():
    assert 60 <= len(TERMS) <= 80
    assert {term.topic for term in TERMS} == STEPS


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.name)
def test_a_meaning_is_one_to_three_short_sentences(term):
    assert term.meaning.endswith(".")
    assert 5 <= len(term.meaning.split()) <= 50
    assert term.meaning.count(". ") <= 2
