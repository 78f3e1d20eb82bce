"""What a card file may hold: bounds, and a schema for editors. Planted faults are in test_planted_faults.py."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from core.cards.models import MAX_STEPS, CompetencyEntry, Drill, Parameter, Scene, Source, TopicEntry


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"unit": "GB"}, "one of the two"),
        ({"unit": "GB", "choices": [1], "range": [1, 2]}, "one of the two"),
        ({"unit": "GB", "choices": []}, "at least 1"),
        ({"unit": "GB", "choices": [1.0] * 100_000}, "at most 200"),
        ({"unit": "GB", "choices": [float("nan")]}, "finite"),
        ({"unit": "GB", "choices": [10**400]}, "valid number"),
        ({"unit": "GB", "choices": ["many"]}, "are numbers, not 'many'"),
        ({"unit": "accelerator", "choices": [1]}, "ids of the catalog"),
        ({"unit": "GB", "range": [2, 1]}, "a range rises"),
        ({"unit": "GB", "range": [1, 1]}, "a range rises"),
        ({"unit": "GB", "range": [0, 1], "step": 1 / (2 * MAX_STEPS)}, "10,000 steps"),
        ({"unit": "GB", "range": [-1.7e308, 1.7e308]}, "10,000 steps"),
        ({"unit": "GB", "range": [0, 1], "step": 0}, "greater than 0"),
        ({"unit": "GB", "range": [0, float("inf")]}, "finite"),
        ({"unit": "GB" * 30, "choices": [1]}, "at most 40"),
    ],
)
def test_a_parameter_that_cannot_be_drawn_is_refused(values, says):
    with pytest.raises(ValidationError, match=says):
        Parameter.model_validate(values)


def test_a_number_of_a_scene_stays_a_number_and_a_yes_a_yes():
    scene = Scene.model_validate({"training": {"data_parallel": 1, "recompute": "full", "tp": True, "pp": "2*p"}})
    assert scene.training == {"data_parallel": 1.0, "recompute": "full", "tp": True, "pp": "2*p"}
    assert type(scene.training["data_parallel"]) is float


def test_fields_of_each_kind_are_known():
    assert {"id", "schema", "params", "answer", "golden"} <= Drill.model_json_schema()["properties"].keys()


@pytest.mark.parametrize(
    "url", ["http://example.org", "javascript:alert(1)", "https://", "https://a b", "https://example.org/" + "a" * 300]
)
def test_a_source_has_an_address_that_can_be_opened(url):
    with pytest.raises(ValidationError):
        Source(title="A", url=url, year=2020, kind="paper", supports="b")


def test_topics_and_ladders():
    TopicEntry(title="A", about="b", steps=(1,), page="bottleneck", modules=())
    with pytest.raises(ValidationError):
        TopicEntry(title="A", about="b", steps=(1,), page="steps/bottleneck", modules=())
    with pytest.raises(ValidationError):
        CompetencyEntry.model_validate({"title": "A", "levels": {5: "x"}, "expected": {"mid": 2}})
