"""Multiple choice: wording that leans on an order is refused; what lies elsewhere or has no topic is named."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic import ValidationError

from core.cards.mcq import Mcq
from tests.core.cards.made import mcq


def options(*texts: str) -> dict[str, object]:
    rows = [{"text": text, "why": "So it is.", "correct": not at} for at, text in enumerate(texts)]
    return {"id": "m-a-b", "title": "A", "level": "mid", "stem": "What?", "options": rows, "sources": ["s"]}


@pytest.mark.parametrize(
    "text",
    [
        *("All of the above", "None of these", "both of the above", "Neither of the options"),
        *("Option B", "option b", "Option 2", "Answer C", "The first option", "As in the previous answer"),
    ],
)
def test_wording_that_leans_on_the_order_is_refused(text):
    with pytest.raises(ValidationError, match="shuffled"):
        Mcq.model_validate(options("Right here, this", "Wrong here, that", text))


LIKE_WORDS = [
    *("All of them wait", "An option a team has", "The above-average batch", "The first token", "Answer 5 requests"),
    *("Choice of rank", "The other option"),
]


@pytest.mark.parametrize("text", LIKE_WORDS)
def test_like_words_are_not(text):
    Mcq.model_validate(options("Right here, this", "Wrong here, that", text))


def test_lines_of_an_mcq():
    assert mcq().line_of("options.2.why") - mcq().line_of("id") == 7


def test_every_text_is_read():
    options = {f"options.{at}.{key}" for at in range(3) for key in ("text", "why")}
    assert set(mcq().texts()) == {"title", "stem", *options}


def test_a_question_of_no_topic_or_in_another_file_is_named():
    assert [*mcq().findings(["hardware"])] == []
    assert [rule for _, rule in mcq().findings(["serving"])] == ["'hardware' is no topic; there are serving"]
    [(field, rule)] = replace(mcq(), path="quizzes/serving.md").findings(["hardware"])
    assert (field, rule) == ("id", "a quiz of hardware lies in quizzes/hardware.md")
    assert [*replace(mcq(), path="mine.md", own=True).findings(["hardware"])] == []
