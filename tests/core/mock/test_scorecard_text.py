"""The Markdown copy reads in a repository, and what people wrote stays text."""

from __future__ import annotations

import pytest

from core.mock.scorecard import DISCLAIMER
from core.mock.scorecard_build import scorecard
from core.mock.scorecard_text import clock, escaped, timeline, to_markdown
from tests.core.mock.made import at_phase, bank, opened, pack, scored, whole

JOINER = "\u2060"  # keeps readers of Markdown from turning what is around it; nobody sees it
ROOM = whole(level=2)
CARD = scorecard(ROOM.state, ROOM.log, pack(), bank())


def test_every_part_of_the_specification_has_its_section():
    text = to_markdown(CARD)
    sections = [line[3:] for line in text.split("\n") if line.startswith("## ")]
    assert sections == [
        *("Items", "Overall", "Numbers", "Self-rating against score", "Strengths", "Changes", "Next drills"),
        *("Timeline", "Board", "Second rater", "Private notes", "Feedback of the candidate"),
    ]
    assert f"> {DISCLAIMER}" in text
    item = "Tests the story of recomputation with numbers (Numbers, #arithmetic)"
    reached = "2: Mentions an additional forward pass without working it out"
    _, of_the_second = text.split("## Second rater")
    assert "| Tests the story of recomputation with numbers |" in of_the_second
    assert "| #" not in of_the_second
    assert f"| {item} | {reached} | 1.75 (hints 0.25) | + 32:38 Wrap: interviewer heard" in text
    assert "| HFU ceiling | 47% | 46.67% | +0.7%, right | 80% |" in text
    assert "| Numbers | 1.75 | 2 |" in text
    assert "quantitative" not in text
    assert "- twists: 2, see the timeline" in text
    assert "twist: " in text
    assert "- MFU from tokens per second\n" in text  # a drill by its title, without its file's name
    assert "which alone would read no hire at staff level" in text


def test_the_candidates_copy_has_no_private_section():
    text = to_markdown(scorecard(ROOM.state, ROOM.log, pack(), bank(), audience="candidate"))
    assert "Private notes" not in text
    assert "Second rater" not in text
    assert "nervous" not in text


def test_an_early_card_has_what_there_is():
    room = opened()
    text = to_markdown(scorecard(room.state, room.log, pack(), bank()))
    assert "not observed" in text
    assert "## Overall" not in text
    assert "scores not committed" in text


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("<script>alert(1)</script>", "\\<script\\>alert(1)\\</script\\>"),
        ("[x](http://a)", f"\\[x\\](http{JOINER}://a)"),
        ("see HTTPS://a.example or www.a.example", f"see HTTPS{JOINER}://a.example or www{JOINER}.a.example"),
        ("ada@a.example, @ada", f"ada@{JOINER}a.example, @{JOINER}ada"),
        ("so :smile: and :+1: or :100:", f"so :{JOINER}smile: and :{JOINER}+1: or :{JOINER}100:"),
        ("at 12:30:15, a ratio of 3:1, note: none", "at 12:30:15, a ratio of 3:1, note: none"),
        ("a\x00b \u202ecba \u2067x", "ab cba x"),
        ("a | b", "a \\| b"),
        ("# head", "\\# head"),
        ("1. list", "1\\. list"),
        ("two\n\nlines", "two lines"),
        ("35% - 62% (x)", "35% - 62% (x)"),
        ("`code` *b* _i_ ~s~", "\\`code\\` \\*b\\* \\_i\\_ \\~s\\~"),
    ],
)
def test_marks_of_people_are_made_plain(text, plain):
    assert escaped(text) == plain


def test_evidence_with_marks_does_not_break_the_table():
    room = at_phase(7)
    room.does("interviewer", "evidence", text="said | and\n| more", sign="-", item="plan")
    scored(room)
    row = next(
        line for line in to_markdown(scorecard(room.state, room.log, pack(), bank())).split("\n") if "#plan)" in line
    )
    assert row.replace("\\|", "").count("|") == 5


def test_a_pad_with_a_fence_stays_inside_its_block():
    room = at_phase(2).does("candidate", "pad", text="```\n# not a heading\n````")
    text = to_markdown(scorecard(room.state, room.log, pack(), bank()))
    assert "\n`````\n```\n# not a heading\n````\n`````\n" in text


def test_the_timeline_is_in_order():
    times = [t for t, _ in timeline(CARD)]
    assert times == sorted(times)
    assert clock(75) == "1:15"
    assert clock(3600) == "60:00"
