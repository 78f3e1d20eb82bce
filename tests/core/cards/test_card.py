"""A card as it was read: its parts, its lines, its hashes."""

from __future__ import annotations

import time

import pytest

from core.cards.card import headed, numbered, short_hash, split_sections, wrong_and_right
from tests.core.cards.made import DRILL, QUESTION, drill, mcq, question


def test_who_it_is():
    assert (drill().kind, drill().id, drill().topic, drill().step) == ("drill", "d-hardware-read", "hardware", 1)
    assert (question().kind, question().title) == ("question", "What bounds this step?")
    assert (mcq().kind, mcq().topic, mcq().title) == ("mcq", "hardware", "What bounds a read")


def test_steps_and_mistakes():
    assert drill().steps == ["It reaches {{ hbm*share/100 | 4g }} GB/s.", "Bytes over that rate: {{ answer | 4g }} ms."]
    assert question().mistakes == [
        ("It is compute-bound.", "The bytes alone take {{ read_ms }} ms."),
        ("Add tensor cores.", "They would wait."),
    ]


@pytest.mark.parametrize(
    ("field", "words", "text"),
    [
        ("id", "", "id: q-hardware-bound"),
        ("params.bw.unit", "", "  bw: {choices"),
        ("rubric.limit.levels.3", "", '      3: "Names it'),
        ("rubric.limit.3", "{{ read_ms }}", '      3: "Names it'),
        ("hints.2.text", "", "  - {cost: 1, text"),
        ("twists.faster.set", "", "  - {id: faster"),
        ("## Strong answer", "", "## Strong answer"),
        ("## Common mistakes", "{{ read_ms }}", '  right: "The bytes'),
        ("## Nowhere", "", "---"),
    ],
)
def test_lines(field, words, text):
    line = question().line_of(field, words)
    assert QUESTION.split("\n")[line - 1].startswith(text)


def test_a_heading_that_the_front_matter_holds_is_not_the_section():
    text = DRILL.replace("title: Time to read some bytes", "title: |\n  Time\n  ## Prompt")
    assert drill(text).line_of("## Prompt") == text.split("\n").index("## Prompt") + 1


def test_an_edit_makes_another_edition_and_only_other_numbers_another_answer():
    edited, moved = (
        drill(DRILL.replace("A floor says", "A floor tells")),
        drill(DRILL.replace("[140, 70]", "[140, 80]")),
    )
    assert edited.content_hash != drill().content_hash
    assert edited.answer_hash == drill().answer_hash
    assert moved.answer_hash != drill().answer_hash


def test_a_hash_keeps_parts_apart():
    assert short_hash("ab", "c") != short_hash("a", "bc")
    assert len(short_hash("")) == 12


def test_sections():
    body = "above\n## One\n\ntext\n```\n## not one\n```\n## Two  \n## One\nagain"
    assert headed(body) == [("", "above"), ("One", "text\n```\n## not one\n```"), ("Two", ""), ("One", "again")]
    assert list(split_sections(body)) == ["One", "Two"]
    assert split_sections(body)["One"].startswith("text")


def test_numbered_items_are_one_line_each():
    assert numbered("intro\n1. one\n   more\n2. two\n10. ten") == ["one more", "two", "ten"]


def test_a_wrong_without_a_right_is_left_out():
    assert wrong_and_right("- wrong: a\n- wrong: b\n  right: c\n  d") == [("b", "c d")]


@pytest.mark.parametrize(
    "text", ["- wrong: a" + "\n" * 150_000, "- wrong: a\n" * 15_000, "## a" + " " * 150_000 + "b", "{{" * 90_000]
)
def test_no_text_takes_long(text):
    begun = time.process_time()
    split_sections(text), wrong_and_right(text), numbered(text)
    assert time.process_time() - begun < 1
