"""Throughput, time per token, MFU and price against printed numbers."""

import numpy as np
import pytest

from core.serving_metrics import (
    cost_per_million_tokens,
    decode_tokens_per_s,
    expert_exchange_s,
    inference_mfu,
    request_latency_s,
    time_per_token,
)
from core.units import GB, MICROSECOND, MILLISECOND
from tests.published import as_printed
from tests.published_serving import serving_rows


@serving_rows("inference_mfu")
def test_matches_the_mfu_of_pope_table_2(row):
    assert inference_mfu(**row["inputs"]) * 100 == as_printed(row)


@serving_rows("tpot")
def test_matches_the_time_per_token_of_pope(row):
    latency, tokens = row["inputs"]["latency_s"], row["inputs"]["output_tokens"]
    over_all = time_per_token(latency, latency / tokens, tokens).over_all_s
    assert over_all / MILLISECOND == as_printed(row)


@serving_rows("expert_exchange")
def test_matches_the_exchange_time_of_deepseek(row):
    assert expert_exchange_s(**row["inputs"]) / MICROSECOND == as_printed(row)


def two_exchanges_in_every_layer(inputs):
    one = expert_exchange_s(32, 9, 7000, bytes_per_s=inputs["bytes_per_s"])
    return 2 * inputs["layers"] * one


@serving_rows("exchange_tpot")
def test_matches_the_time_per_token_of_deepseek(row):
    assert two_exchanges_in_every_layer(row["inputs"]) / MILLISECOND == as_printed(row)


@serving_rows("exchange_tps")
def test_matches_the_tokens_a_second_of_deepseek(row):
    rate = 1 / two_exchanges_in_every_layer(row["inputs"])
    assert rate == as_printed(row)
    assert np.floor(rate) == row["expected"], "cut off, not rounded"


# 140 GB of weights and 1.342 GB of cache a request, at 2 TB/s: a step is 70 ms without the cache and 70.67 with it.
def test_one_request_and_32_count_the_same_terms():
    weights, cache = 140 * GB, 327_680 * 4096
    assert decode_tokens_per_s(weights, [0, cache], 1, 2e12) == pytest.approx([14.29, 14.15], abs=0.005)
    assert decode_tokens_per_s(weights, [0, cache], 32, 2e12) == pytest.approx([457, 350], abs=0.5)


# configiq issue 8: first token after 1 s, then one every 20 ms, 100 in all.
def test_time_per_token_has_two_definitions():
    tpot = time_per_token(1 + 99 * 0.020, 1, 100)
    assert tpot.after_first_s / MILLISECOND == pytest.approx(20.0)
    assert tpot.over_all_s / MILLISECOND == pytest.approx(29.8)
    assert request_latency_s(1, 0.020, 100) == pytest.approx(2.98)


# Price follows GPU hours: the rent cancels.
@serving_rows("cost_saved")
def test_matches_the_training_cost_that_deepseek_v2_saves(row):
    hours = np.array([row["inputs"]["gpu_hours"], row["inputs"]["gpu_hours_before"]])
    speeds = row["inputs"]["tokens"] / (3600 * hours)
    now, before = cost_per_million_tokens(speeds, num_gpus=1, price_per_gpu_hour=2)
    assert 100 * (1 - now / before) == as_printed(row)


def test_a_million_tokens_cost_gpus_by_the_hour():
    # Four GPUs at 2.50 an hour make 2,345 tokens a second: 10 / 8.44 million.
    assert cost_per_million_tokens(2345, num_gpus=4, price_per_gpu_hour=2.5) == pytest.approx(1.1846, abs=0.00005)
    assert cost_per_million_tokens(2345, num_gpus=4, price_per_gpu_hour=2.5, utilization=0.5) == pytest.approx(
        2 * 1.1846, abs=0.0001
    )


def test_batch_can_be_the_axis():
    rates = decode_tokens_per_s(140 * GB, 1.34 * GB, np.arange(1, 129), 13.4e12)
    assert rates.shape == (128,)
    assert np.all(np.diff(rates) > 0)
    assert np.all(np.diff(rates, 2) < 0), "each further request adds less"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: decode_tokens_per_s(0, 1, 1, 1), "weight_bytes=0 must be greater than 0"),
        (lambda: time_per_token(1, 0.5, 1), "output_tokens=1 must be a whole number, 2 or more"),
        (lambda: time_per_token(1, 2, 10), "first_token_s is longer than latency_s"),
        (lambda: cost_per_million_tokens(0, num_gpus=1, price_per_gpu_hour=1), "tokens_per_s=0 must be greater"),
    ],
)
def test_a_bad_input_is_refused_in_words(call, message):
    with pytest.raises(ValueError, match=message):
        call()
