"""A variant's numbers as the shared scenario."""

from __future__ import annotations

import pytest

from core.cards.draw import draw
from core.cards.scene import scenario_of
from core.scenario import ScenarioError
from core.scenario_link import default_scenario
from tests.core.cards.made import DRILL, drill

SCENE = "scene: {accelerator: gpu, serving: {batch: 8}}"


def scene(text: str):
    return scenario_of(draw(drill(DRILL.replace(SCENE, text)), 0))


def test_numbers_words_and_expressions():
    found = scene(
        "scene: {accelerator: gpu, serving: {batch: 8, weight_dtype: fp8}, training: {seq_len: 'size*1024/1e9'}}"
    )
    assert found.accelerator.id == "h100-sxm"
    assert found.serving.batch == 8
    assert found.serving.weight_dtype == "fp8"
    assert found.training.seq_len == 140 * 1024


def test_the_accelerator_may_be_fixed_and_brings_its_links():
    found = scene("scene: {accelerator: h200-sxm}")
    assert found.accelerator.id == "h200-sxm"
    assert found.model == default_scenario().model


def test_the_drawn_accelerator_is_taken():
    seeds = {draw(drill(), seed).values["gpu"]: seed for seed in range(40)}
    assert {name: scenario_of(draw(drill(), seed)).accelerator.id for name, seed in seeds.items()} == {
        name: name for name in ("h100-sxm", "h200-sxm")
    }


def test_a_card_without_a_scene_has_none():
    assert scene("") is None


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("scene: {serving: {bach: 8}}", ScenarioError, "no such field"),
        ("scene: {serving: {batch: -1}}", ScenarioError, "-1"),
        ("scene: {serving: {batch: sise}}", ScenarioError, "sise"),
        ("scene: {model: nobody/nothing}", KeyError, "nobody/nothing"),
        ("scene: {accelerator: h300}", KeyError, "h300"),
    ],
)
def test_what_is_no_scene_is_an_error(text, error, says):
    with pytest.raises(error, match=says):
        scene(text)
