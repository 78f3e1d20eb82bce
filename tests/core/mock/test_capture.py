"""One line of evidence, as it is typed while somebody talks."""

from __future__ import annotations

import pytest

from core.mock.capture import captured
from tests.core.mock.made import ITEMS, opened


@pytest.mark.parametrize(
    ("typed", "text", "sign", "item"),
    [
        ("+ derived 8N over 6N #arithmetic", "derived 8N over 6N", "+", "arithmetic"),
        ("-no unit #define", "no unit", "-", "define"),
        ("? hesitated", "hesitated", "?", ""),
        ("said decode is compute-bound", "said decode is compute-bound", "?", ""),
        ("#plan ordered by price", "ordered by price", "?", "plan"),
        ("asked for 8 GPUs #8 #charm", "asked for 8 GPUs #8 #charm", "?", ""),
        ("-3 points were missing", "-3 points were missing", "?", ""),
        ("– sank #plan #causes", "sank #plan", "-", "causes"),
        ("C#plan", "C#plan", "?", ""),
        ("  +  ", "", "+", ""),
        ("", "", "?", ""),
    ],
)
def test_sign_and_item_are_taken_from_the_line(typed, text, sign, item):
    assert captured(typed, ITEMS) == {"text": text, "sign": sign, "item": item}


def test_it_gives_the_fields_of_an_event():
    room = opened()
    room.does("interviewer", "evidence", **captured("+ asked first #define", room.state.plan.items))
    (line,) = room.state.ratings["interviewer"].evidence
    assert (line.text, line.sign, line.item) == ("asked first", "+", "define")
