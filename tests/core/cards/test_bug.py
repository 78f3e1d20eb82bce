"""Bugs: lines are found by their text, and a card that does not fit its programs is named with its fault."""

from __future__ import annotations

import pytest

from core.cards.bug import BugCard, changes, number_of, statements, touched
from core.cards.library import read_texts
from core.cards.validate import check_one

FAULTY = '''import math


def area(radius):
    """The area of a disc."""
    # of any size
    squared = radius * 2

    return math.pi * squared
'''
FIXED = FAULTY.replace("radius * 2", "radius**2")
SHOW = "def demonstrate(code):\n    return str(code.area(3))\n"
CARD = """---
id: b-serving-disc
schema: bug/1
title: A disc
topic: serving
step: 5
level: mid
sources: [known]
stem: The area of a disc.
faults:
  - line: squared = radius * 2
    what: That is the diameter.
    effect: The area is too small.
innocent:
  - line: import math
    why: It is needed.
  - line: return math.pi
    why: This is the formula.
---
"""
SOURCES = b"known: {title: Discs, year: 2000, url: 'https://example.org/discs', kind: book, supports: Areas}\n"
PLACE = "bugs/disc"


def files(card: str = CARD, faulty: str = FAULTY, fixed: str = FIXED, place: str = PLACE) -> dict[str, bytes]:
    texts = {"card.md": card, "faulty.py": faulty, "fixed.py": fixed, "demonstrate.py": SHOW}
    return {f"{place}/{name}": text.encode() for name, text in texts.items()} | {"sources/known.yaml": SOURCES}


def read(**changed: str) -> BugCard:
    bank = read_texts(files(**changed))
    assert bank.problems == []
    (card,) = bank.cards.values()
    assert isinstance(card, BugCard)
    return card


def problems(**changed: str) -> list[str]:
    bank = read_texts(files(**changed))
    found = list(bank.problems)
    for card in bank.cards.values():
        found += check_one(card, bank)
    return [str(problem) for problem in found]


def test_a_card_that_fits_its_programs_has_no_finding():
    assert problems() == []
    card = read()
    assert card.fault_lines == {7}
    assert (card.kind, card.topic, card.step, card.title) == ("bug", "serving", 5, "A disc")


def test_a_line_is_named_by_text_that_stands_on_it_alone():
    assert number_of(FAULTY, "radius * 2") == 7
    with pytest.raises(ValueError, match="no line"):
        number_of(FAULTY, "radius ** 3")
    with pytest.raises(ValueError, match="lines 7, 9"):
        number_of(FAULTY, "squared")


def test_only_lines_that_do_something_may_be_chosen():
    assert statements(FAULTY) == {
        1: "import math",
        4: "def area(radius):",
        7: "squared = radius * 2",
        9: "return math.pi * squared",
    }


def test_changes_show_both_programs_whole():
    shown = changes(FAULTY, FIXED).splitlines()
    assert "-    squared = radius * 2" in shown
    assert "+    squared = radius**2" in shown
    assert [row[1:] for row in shown if row[0] != "+"] == FAULTY.splitlines()
    assert [row[1:] for row in shown if row[0] != "-"] == FIXED.splitlines()


def test_a_line_counts_as_touched_beside_an_insertion():
    assert touched("a\nb\nc\n", "a\nx\nb\nc\n") == {1, 2}
    assert touched("a\nb\nc\n", "a\nx\nc\n") == {2}
    assert touched("a\nb\n", "a\nb\n") == set()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"fixed": FAULTY}, "bugs/disc/card.md:11: faults.0: 'squared = radius * 2' is at fault"),
        ({"faulty": FAULTY.replace("* 2", "* 3")}, "stands on no line"),
        ({"card": CARD.replace("line: import math", "line: '# of any size'")}, "is a comment or a docstring"),
        ({"card": CARD.replace("line: import math", "line: squared = radius")}, "is named by faults.0 already"),
        ({"card": CARD.replace("line: return math.pi", "line: def area")}, ""),
        ({"fixed": FIXED.replace("import math", "from math import pi")}, "called innocent"),
        ({"fixed": "def area(:\n"}, "fixed.py: is no Python"),
        ({"faulty": FAULTY + "x = 1\n" * 40}, "faulty.py: has at most 40 lines"),
        ({"card": CARD.replace("b-serving-disc", "b-disc")}, "begins with b-serving-"),
        ({"place": "bugs/elsewhere"}, "b-serving-disc lies in bugs/disc/card.md"),
        ({"card": CARD.replace("[known]", "[unknown]")}, "unknown"),
        ({"card": CARD.replace("The area of a disc.", "See https://example.org/x.")}, "is a link"),
        ({"card": CARD.replace("title: A disc", "title: A disc\nlines: [7]")}, "is not a field of this schema"),
        ({"card": CARD.replace("level: mid", "level: hard")}, "level"),
    ],
)
def test_a_fault_is_named_with_its_place(changed: dict[str, str], words: str):
    found = problems(**changed)
    assert (found == []) if not words else any(words in problem for problem in found), found


@pytest.mark.parametrize("name", ["faulty.py", "fixed.py", "demonstrate.py"])
def test_a_missing_program_is_named(name: str):
    given = files()
    del given[f"{PLACE}/{name}"]
    bank = read_texts(given)
    assert bank.cards == {}
    assert [name in str(problem) and "missing" in str(problem) for problem in bank.problems] == [True]


def test_what_somebody_else_wrote_is_no_bug():
    bank = read_texts(files(), own=True)
    assert bank.cards == {}
    assert "programs come with the app only" in str(bank.problems[0])


def test_the_edition_changes_with_any_of_the_programs_and_the_answer_with_the_faulty_one():
    first, mended, other = read(), read(fixed=FIXED + "\n"), read(faulty=FAULTY + "\n\n# end\n")
    assert len({first.content_hash, mended.content_hash, other.content_hash}) == 3
    assert first.answer_hash == mended.answer_hash != other.answer_hash
