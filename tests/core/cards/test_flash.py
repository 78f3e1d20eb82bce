"""Flash cards have a front that asks and a back that answers."""

from __future__ import annotations

from core.cards.flash import flash, plain
from tests.core.cards.made import drill, mcq, question


def test_a_drill():
    sides = flash(drill())
    assert sides is not None
    assert sides.front.startswith("Time to read some bytes\n\nA kernel reads 140 GB on a ")
    assert "52.24" not in sides.front
    assert sides.back.split("\n")[0] == "52.24 ms"
    assert "2. Bytes over that rate: 52.24 ms." in sides.back
    assert sides.tags == ("hardware", "mid", "step-1")
    assert "{{" not in sides.front + sides.back


def test_an_mcq_gives_reasons_on_the_back_only():
    sides = flash(mcq())
    assert sides is not None
    assert all(option.text in sides.front and option.why not in sides.front for option in mcq().model.options)
    assert sides.back.startswith("Memory bandwidth\n")
    assert all(option.why in sides.back for option in mcq().model.options)


def test_an_open_question_has_no_back():
    assert flash(question()) is None


def test_marks_go_and_paragraphs_stay():
    assert plain("a **b**\nc `d`\n\ne") == "a b c d\n\ne"
