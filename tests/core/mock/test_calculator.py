"""The calculator says what core says for the same scenario, and answers what cannot be in words."""

from __future__ import annotations

import pytest

from core.cards.card import Card
from core.cards.draw import DrawError, draw, twisted
from core.display import show_bytes, show_percent, show_seconds
from core.hardware import load_accelerators
from core.inference import estimate as serve
from core.kv_cache import kv_bytes
from core.mock.calculator import (
    SERVING,
    TRAINING,
    scenario_from,
    serving_results,
    shown_values,
    training_results,
    twist_values,
    values_of,
)
from core.mock.events import SlidersMoved
from core.model_spec import load_models
from core.scenario import ScenarioError, field_values
from core.scenario_link import default_scenario
from core.training import estimate as train
from tests.core.mock.made import CARD, bank

GPT3 = "openai/gpt-3-175b"


def tile(results, label: str):
    return next(tile for tile in results.tiles if tile.label.startswith(label))


def test_without_values_it_stands_where_the_app_starts_and_gives_no_sharding_away():
    start = field_values(default_scenario())
    assert field_values(scenario_from({})) == start | {"zero_stage": 0, "recompute": "none"}


def test_its_values_are_an_event_and_come_back_as_the_same_scenario():
    values = values_of(scenario_from({"model": GPT3, "batch": 7.0, "zero_stage": 1.0}))
    assert SlidersMoved(values=values).values == values
    assert scenario_from(values) == scenario_from({"model": GPT3, "batch": 7.0, "zero_stage": 1.0})
    assert set(values) == {"model", "accelerator", *TRAINING, *SERVING}


def test_another_accelerator_brings_its_own_links():
    assert scenario_from({"accelerator": "gb200"}).scale_up.id != default_scenario().scale_up.id


def test_training_shows_what_the_report_says():
    scenario = scenario_from({"data_parallel": 128.0, "seq_len": 8192.0})
    report, results = train(scenario.training), training_results(scenario)
    assert tile(results, "step time").value == show_seconds(report.step_s)
    assert tile(results, "MFU").value == show_percent(report.mfu)
    assert tile(results, "memory").value == show_bytes(float(report.memory.peak_bytes.max()))
    assert tile(results, "GPUs").value == "128"


def test_a_request_s_cache_is_the_kv_formula_s():
    # Llama 3.1 70B: 2 x 80 layers x 8 heads x 128 x 2 B = 327,680 B a token; an eighth of it on each of 8 GPUs.
    scenario = scenario_from({"context_len": 32_768.0})
    each = 327_680 * 32_768 / 8
    assert float(kv_bytes(scenario.model, 32_768, tensor_parallel=8)) == each
    assert tile(serving_results(scenario), "one request").value == show_bytes(each)
    assert tile(serving_results(scenario), "largest batch").value == f"{serve(scenario.serving).max_batch:,}"


def test_what_does_not_fit_says_so_and_has_no_latency():
    results = serving_results(scenario_from({"serving_tensor_parallel": 1.0}))
    assert len(results.problems) == 1
    assert not any("estimate" in tile.label for tile in results.tiles)


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"model": "no/such-model"}, "catalog"),
        ({"accelerator": "h9000"}, "catalog"),
        ({"model": True}, "catalog"),
        ({"batch": 0.5}, "whole number"),
        ({"batch": "many"}, "whole number"),
        ({"serving_tensor_parallel": 3.0}, "divide"),
        ({"weight_dtype": "<script>"}, "one of"),
    ],
)
def test_values_that_cannot_be_are_refused_in_words(values, word):
    with pytest.raises(ScenarioError, match=word):
        scenario_from(values)
    assert shown_values(values).items() >= values.items()  # the control still shows what was set


def test_another_model_shows_degrees_that_it_can_take():
    shown = shown_values({"model": "openai-community/gpt2"})  # 12 heads
    assert 12 % int(shown["serving_tensor_parallel"]) == 0
    scenario_from(shown)


@pytest.mark.parametrize("model", load_models())
def test_every_model_of_the_catalog_has_results(model):
    scenario = scenario_from({"model": model})
    assert training_results(scenario).tiles
    assert serving_results(scenario).tiles


@pytest.mark.parametrize("accelerator", load_accelerators())
def test_every_accelerator_has_results_or_a_sentence(accelerator):
    scenario = scenario_from({"accelerator": accelerator})
    for results in (training_results(scenario), serving_results(scenario)):
        assert results.tiles or results.problems


def test_fields_that_are_not_the_calculator_s_are_passed_over():
    assert scenario_from({"colour": "red"}) == scenario_from({})


def after(card_id: str, twist_id: str):
    card = bank().cards[card_id]
    assert isinstance(card, Card)
    twist = next(twist for twist in card.model.twists if twist.id == twist_id)
    return twisted(draw(card, 0), twist.set)


def test_a_twist_moves_the_control_of_the_parameter_that_it_sets_and_no_other():
    assert twist_values(after(CARD, "long-context"), "long-context") == {"seq_len": 32_768.0}
    assert twist_values(after(CARD, "padding"), "padding") == {}


def test_controls_that_follow_from_what_a_twist_sets_move_along():
    """An eighth of the tokens is one short micro-batch."""
    moved = twist_values(after("q-communication-overlap", "few-tokens"), "few-tokens")
    assert moved == {"data_parallel": 512.0, "micro_batch_size": 1.0, "seq_len": 512.0}


# What follows from a twist's own parameters: 512 tokens are one micro-batch.
FOLLOWS = {("q-communication-overlap", "few-tokens"): {1.0}}


def test_no_twist_of_the_bank_moves_a_control_to_a_number_that_the_card_computes():
    moved = 0
    for card in bank().of_kind("question"):
        for twist in card.model.twists:
            try:
                variant = twisted(draw(card, 0), twist.set)
            except DrawError:
                continue
            values = twist_values(variant, twist.id)
            moved += bool(values)
            given = {float(value) for value in variant.values.values() if not isinstance(value, str)}
            given |= FOLLOWS.get((card.id, twist.id), set())
            assert [value for value in values.values() if isinstance(value, float) and value not in given] == []
    assert moved > 3
