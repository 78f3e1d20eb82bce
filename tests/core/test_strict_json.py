"""JSON that people hand in: numbers that are none, other versions, and problems in words."""

import json
from typing import Annotated

import pytest
from pydantic import BaseModel, Field, ValidationError

from core.strict_json import NoNumberError, in_words, other_format, parse, place_of


@pytest.mark.parametrize("text", ['{"a": NaN}', "[Infinity]", "[-Infinity]", "[1e999]", "[-1e999]"])
def test_what_is_no_number_is_refused_in_a_sentence(text):
    json.loads(text)  # which Python's own reader takes
    with pytest.raises(NoNumberError, match=r"^This file holds .+, which is no number\.$"):
        parse(text)


def test_other_text_is_read_as_json_reads_it():
    text = '{"a": [1, 2.5, null, "NaN"], "b": 1e-300}'
    assert parse(text) == json.loads(text)
    with pytest.raises(json.JSONDecodeError):
        parse("{")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"format": "ours/3"}, ("ours/3", "newer")),
        ({"format": "ours/1"}, ("ours/1", "older")),
        ({"format": "ours/" + "9" * 5000}, ("ours/" + "9" * 25, "newer")),
        ({"format": "ours/x"}, ("'ours/x'", None)),
        ({"format": "theirs/3"}, ("'theirs/3'", None)),
        ({"format": 7}, ("7", None)),
        ({}, (None, None)),
        ([], (None, None)),
    ],
)
def test_another_format_is_a_version_of_ours_or_a_stranger(data, said):
    assert other_format(data, "ours/2") == said


class Row(BaseModel, extra="forbid"):
    rating: Annotated[int, Field(ge=1, le=4)]


class Document(BaseModel, extra="forbid"):
    rows: list[Row]


def problems(rows) -> str:
    with pytest.raises(ValidationError) as refused:
        Document.model_validate({"rows": rows})
    return in_words(refused.value)


def test_problems_have_their_place_value_and_rule():
    assert problems([{"rating": 2}, {"rating": 9}]) == "rows[1].rating is 9: must be at most 4."
    assert problems([{"rating": 0}]) == "rows[0].rating is 0: must be at least 1."
    assert problems([{"rating": "x" * 999}]).startswith("rows[0].rating is 'xxx")
    assert len(problems([{"rating": "x" * 999}])) < 200
    assert problems([{"rating": 9}] * 5).endswith("; and 2 more.")
    assert place_of(()) == ""
