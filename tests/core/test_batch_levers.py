"""What lifts the cap: each change tried, formats with their scales, reservations as printed."""

import pytest

from core.batch_levers import formats, half_kv_heads, levers, reservations, wasted_share
from core.kv_cache import kv_bytes
from core.model_spec import load_models
from core.params import count_params
from core.precision import weight_bytes
from core.presets import load_presets
from core.scenario import changed, with_model
from core.scenario_link import default_scenario
from tests.published import as_printed
from tests.published_serving import serving_rows

START = default_scenario()
PRESETS = {name: preset.scenario() for name, preset in load_presets().items()}
GPT3 = PRESETS["gpt3-175b-serving"]


def on(model_id, **values):
    scenario, _ = with_model(START, load_models()[model_id])
    return changed(scenario, **values)


def by_name(scenario):
    return {lever.name.split(" (")[0]: lever for lever in levers(scenario.serving)}


def test_half_the_kv_heads_halve_the_cache_and_their_own_weights():
    whole, half = GPT3.model, half_kv_heads(GPT3.model)
    assert kv_bytes(half, 2048) == kv_bytes(whole, 2048) / 2
    # 96 layers lose 48 heads of 128 from keys and values, with their biases.
    assert count_params(whole).total - count_params(half).total == 96 * 2 * 48 * 128 * (12_288 + 1)


def test_models_without_heads_to_halve():
    assert half_kv_heads(load_models()["deepseek-ai/DeepSeek-V3"]) is None
    assert half_kv_heads(load_models()["google/palm-540b"]) is None  # one head


def test_each_change_alone_on_gpt_3():
    found = by_name(GPT3)
    assert found["as it stands"].max_batch == 27
    assert found["cache in 8 bits"].max_batch == 54
    assert found["half the context"].max_batch == 54
    assert found["half the KV heads, another model"].max_batch > 54  # the weights shrink too
    assert found["twice the GPUs"].max_batch > 3 * 27  # the weights are halved on each
    assert found["weights in 4 bits, with scales"].max_batch > found["weights in 8 bits"].max_batch > 27


# 8 KV heads on 8 GPUs: each holds one, and a half cannot be held.
def test_heads_that_are_copied_bring_nothing_and_the_row_says_why():
    copied = [lever for lever in levers(START.serving) if "each GPU holds as much" in lever.name]
    assert [lever.name.split(" (")[0] for lever in copied] == ["half the KV heads, another model", "twice the GPUs"]
    assert copied[0].max_batch == by_name(START)["as it stands"].max_batch


def test_changes_that_are_made_already_are_not_offered():
    narrow = changed(START, kv_dtype="fp8", weight_dtype="int4-g128", context_len=1)
    names = set(by_name(narrow))
    assert names.isdisjoint({"cache in 8 bits", "weights in 8 bits", "half the context"})


def test_blocks_take_room_where_the_length_does_not_fill_them():
    assert "whole blocks of 16 tokens" not in by_name(START)
    # 17 tokens take 32 slots.
    odd = by_name(changed(START, context_len=17))
    exact, paged = odd["as it stands"], odd["whole blocks of 16 tokens"]
    assert paged.sequence_bytes - exact.sequence_bytes == 15 * 2 * 80 * 128 * 2
    gemma = by_name(on("google/gemma-3-27b-pt", context_len=32_768))
    assert gemma["blocks for every token in every layer"].max_batch < 0.3 * gemma["as it stands"].max_batch


def test_formats_count_their_scales():
    rows = {row.name: row for row in formats(START.serving)}
    bits = {name: row.bits for name, row in rows.items()}
    assert bits["bf16"] == 16
    assert bits["int4-g128"] == bits["mxfp4"] == 4.25
    assert bits["nvfp4"] == 4.5
    assert rows["fp8"].kv_bytes == 4096 * 2 * 80 * 128  # one head a GPU, one byte
    assert rows["int4-g128"].weight_bytes == weight_bytes(START.model, "int4-g128")
    assert rows["bf16"].with_weights == rows["bf16"].with_cache == 351
    assert rows["fp8"].with_cache == 701


@serving_rows("wasted_share")
def test_matches_the_waste_that_the_vllm_paper_measures(row):
    assert 100 * wasted_share(**row["inputs"]) == as_printed(row)


# 600 tokens in 2,048 reserved ones: 70.7% empty (practice drill on reserved length).
def test_a_reservation_for_the_longest_answer_is_mostly_empty():
    assert wasted_share(600, 2048) == pytest.approx(0.707, abs=5e-4)
    *blocks, whole = reservations(START.serving)
    assert [row.tokens - 4096 for row in blocks] == [7.5, 31.5, 127.5]
    assert blocks[0].wasted == pytest.approx(7.5 / 4103.5)
    assert whole.wasted == pytest.approx(1 - 4096 / 131_072)


def test_a_context_beyond_the_models_reserves_no_less_than_itself():
    assert reservations(changed(START, context_len=200_000).serving)[-1].wasted == 0
