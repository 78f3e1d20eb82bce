"""Reading a bank: what can be read is there, and the rest is named."""

from __future__ import annotations

import pytest

from core.cards.library import MAX_FINDINGS, load_cards, read_bank, read_texts
from core.cards.problems import CardError
from tests.core.cards.made import DRILL, DRILL_AT, FILES, QUIZ, QUIZ_AT, read


def write(root, files):
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def test_a_folder_is_read(tmp_path):
    write(tmp_path, {**FILES, "drills/hardware/notes.txt": "no card", "steps/attention.md": "prose"})
    bank = read_bank(tmp_path)
    assert bank.problems == []
    assert list(bank.cards) == ["d-hardware-read", "q-hardware-bound", "m-hardware-read", "m-hardware-ridge"]
    assert list(bank.topics) == ["hardware"]
    assert bank.places["other"] == ("sources/hardware.yaml", 8)
    assert load_cards(tmp_path) == bank.cards


def test_kinds_are_in_the_order_of_their_ids():
    assert [card.id for card in read().of_kind("mcq")] == ["m-hardware-read", "m-hardware-ridge"]
    assert [card.id for card in read().of_kind("question")] == ["q-hardware-bound"]


def test_an_empty_folder_is_an_empty_bank(tmp_path):
    assert read_bank(tmp_path).cards == {}


def test_one_bad_file_hides_no_other(tmp_path):
    write(tmp_path, {**FILES, DRILL_AT: "nothing"})
    bank = read_bank(tmp_path)
    assert "q-hardware-bound" in bank.cards
    assert [problem.path for problem in bank.problems] == [DRILL_AT]
    with pytest.raises(CardError, match=r"drills/hardware/read\.md:1: begins with YAML front matter"):
        load_cards(tmp_path)


def test_one_bad_block_hides_no_other():
    bank = read({**FILES, QUIZ_AT: QUIZ.replace("level: mid", "level: low")})
    assert "m-hardware-ridge" in bank.cards
    [problem] = bank.problems
    assert (problem.field, QUIZ.split("\n")[problem.line - 1]) == ("level", "level: mid")


@pytest.mark.parametrize(
    "raw", [DRILL.replace("\n", "\r\n").encode(), b"\xef\xbb\xbf" + DRILL.encode(), DRILL.replace("\n", "\r").encode()]
)
def test_line_ends_and_a_byte_order_mark_change_nothing(raw):
    bank = read_texts({DRILL_AT: raw})
    assert bank.problems == []
    assert bank.cards["d-hardware-read"].content_hash == read().cards["d-hardware-read"].content_hash


def test_what_is_not_utf_8_is_named_on_its_line():
    [problem] = read_texts({DRILL_AT: DRILL.encode().replace(b"seconds: 60", b"seconds: \xff")}).problems
    assert "save it as UTF-8" in problem.message
    assert DRILL.split("\n")[problem.line - 1] == "seconds: 60"


def test_findings_of_one_file_are_bounded():
    many = "\n".join(f"field{number}: 1" for number in range(2000))
    bank = read({**FILES, DRILL_AT: DRILL.replace("seconds: 60", many)})
    assert len(bank.problems) == MAX_FINDINGS


def test_a_value_that_is_neither_number_nor_text_is_one_finding():
    [problem] = read({**FILES, DRILL_AT: DRILL.replace("[140, 70]", "[140, [70]]")}).problems
    assert problem.field == "params.size.choices.1"


def test_a_table_is_a_table():
    assert "is a table" in read({"sources/a.yaml": "- a"}).problems[0].message
    assert "input should be a valid" in read({"sources/a.yaml": "a: 1"}).problems[0].message


def test_own_cards_are_marked():
    bank = read_texts({path: text.encode() for path, text in FILES.items()}, own=True)
    assert all(card.own for card in bank.cards.values())
    assert not any(card.own for card in read().cards.values())
