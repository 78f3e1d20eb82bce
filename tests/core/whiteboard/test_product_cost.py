"""What tokens cost, held to printed numbers, to sums worked by hand, and to simulated groups and replicas."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from core.hardware import load_accelerators
from core.whiteboard import product_cost as board

H100 = load_accelerators()["h100-sxm"]
HOUR, DAY = 3600.0, 86400.0


def test_cost_of_a_token_by_hand():
    # 4 GPUs at 3 USD an hour: 12 USD for 2,500 x 3,600 = 9 million tokens.
    assert board.cost_per_token(2500, 4, 3 / HOUR) * 1e6 == pytest.approx(12 / 9)
    assert board.cost_per_token(2500, 4, 3 / HOUR, 0.5) * 1e6 == pytest.approx(24 / 9)
    assert board.cost_at_load(1.2e-6, 0.4) == pytest.approx(3e-6)


def test_deepseek_v3_at_its_own_rent():
    # DeepSeek-AI 2024, arXiv:2412.19437, table 1: 2.664 million H800 hours of pretraining at 2 USD are 5.328 million
    # USD. With 37B active parameters and 14.8T tokens the same bill stands at 34.6% of an H100's dense BF16 peak.
    mfu = 6 * 37e9 * 14.8e12 / (2.664e6 * HOUR * H100.peak_flops_per_s("bf16"))
    assert mfu == pytest.approx(0.346, abs=0.001)
    assert board.training_bill(37e9, 14.8e12, mfu, 2 / HOUR, H100) == pytest.approx(5.328e6)


def test_deepseek_s_day_of_serving():
    # DeepSeek-V3/R1 Inference System Overview, 2025: 226.75 nodes of eight on average, 2 USD an hour for a GPU, 87,072
    # USD a day, 168 billion output tokens: 0.518 USD for a million of them, all input counted in.
    gpus = 226.75 * 8
    assert gpus * 2 * 24 == 87_072
    assert board.cost_per_token(168e9 / DAY, gpus, 2 / HOUR) * 1e6 == pytest.approx(87_072 / 168e3)
    # Paid at its peak of 278 nodes around the clock, the day's load would have been 82%.
    at_peak = board.cost_at_load(board.cost_per_token(168e9 / DAY, gpus, 2 / HOUR), 226.75 / 278)
    assert at_peak * 1e6 == pytest.approx(278 * 8 * 48 / 168e3)


def test_training_bill_by_hand():
    # 8.4e23 FLOP at 395.76 TFLOP/s are 589,584 hours.
    assert board.training_bill(70e9, 2e12, 0.4, 2.5 / HOUR, H100) == pytest.approx(589_584 * 2.5, rel=1e-5)


def test_a_cascade_pays_the_student_for_every_request():
    assert board.cascade_cost(0.1, 1.0, 0.8) == pytest.approx(0.3)
    assert board.cascade_cost(0.1, 1.0, 0.0) == pytest.approx(1.1)
    assert board.cascade_latency_s(0.2, 1.0, 0.75) == pytest.approx(0.45)


def test_at_the_least_share_a_cascade_costs_as_much_as_the_large_model():
    share = board.least_accepted_share(0.5, 10)
    assert share == 0.05
    assert board.cascade_cost(0.5, 10, share) == pytest.approx(10)


def test_added_errors_counted_over_a_thousand_requests():
    kept, wrong, wrong_anyway = 800, 32, 16
    assert board.added_errors(kept / 1000, wrong / kept, wrong_anyway / kept) == pytest.approx(16 / 1000)


def test_a_cache_and_a_one_off_cost_by_hand():
    assert board.cache_cost(1.0, 0.3) == pytest.approx(0.7)
    assert board.tokens_to_repay(50_000, 0.8e-6) == pytest.approx(62.5e9)


@pytest.mark.parametrize(("peak", "capacity", "use", "count"), [(90, 8, 0.7, 17), (90, 5, 0.6, 30), (40, 8, 0.7, 8)])
def test_replicas_are_rounded_up(peak, capacity, use, count):
    assert board.replicas(peak, capacity, use) == count


def test_two_independent_services_are_rarely_down_together():
    assert board.downtime_s(0.995, 0.99, 30 * DAY) / 60 == pytest.approx(2.16)
    assert board.downtime_s(0.995, 0.0, 30 * DAY) / 60 == pytest.approx(216)
    # Treynor et al. 2017: 99.99% leaves 4.32 minutes of a 30-day month.
    assert board.downtime_s(0.9999, 0.0, 30 * DAY) / 60 == pytest.approx(4.32)


def test_padding_by_hand():
    assert board.padding_share(700, 1024) == pytest.approx(0.316406, abs=1e-6)
    assert board.padding_share(1024, 1024) == 0
    with pytest.raises(ValueError, match="share"):
        board.padding_share(1025, 1024)


def test_sixteen_is_two_times_the_squared_sum_of_both_deviations():
    normal = NormalDist()
    exact = 2 * (normal.inv_cdf(0.975) + normal.inv_cdf(0.80)) ** 2
    assert exact == pytest.approx(15.7, abs=0.01)
    assert board.samples_per_arm(0.8, 0.02) == pytest.approx(16 * 0.16 / 0.0004)


def test_so_many_samples_see_the_drop_eight_times_of_ten():
    random = np.random.default_rng(3)
    samples = int(board.samples_per_arm(0.8, 0.05))
    before, after = (random.binomial(samples, rate, 4000) / samples for rate in (0.825, 0.775))
    deviation = np.sqrt((before * (1 - before) + after * (1 - after)) / samples)
    assert np.mean(before - after > 1.96 * deviation) == pytest.approx(0.8, abs=0.03)


def test_reading_speed():
    # Brysbaert 2019, doi:10.1016/j.jml.2019.104047: 238 words a minute; at 4/3 tokens a word 5.3 tokens a second.
    assert board.reading_tokens_per_s(238 / 60, 4 / 3) == pytest.approx(5.29, abs=0.005)


def test_what_is_left_for_the_first_token():
    assert board.first_token_budget_s(0.5, 0.06, 0.015, 0.025) == pytest.approx(0.4)


REPLICA = {
    "prefill_s": 0.1,
    "output_tokens": 300.0,
    "weight_bytes": 140e9,
    "kv_bytes_per_request": 0.5e9,
    "bandwidth_bytes_per_s": 8e12,
}


def test_a_request_takes_its_prefill_and_its_part_of_each_step():
    # (140 + 32) GB / 8 TB/s = 21.5 ms a step; 0.1 + 300 x 21.5/64 ms
    assert board.request_s(**REPLICA, batch=64) == pytest.approx(0.1 + 0.1007813)


def test_prefills_stretch_the_time_per_token():
    # 64/300 of a prefill of 100 ms between two steps: 21.3 ms more
    assert board.token_s(**REPLICA, batch=64) == pytest.approx(0.0215 + 0.0213333, rel=1e-5)


def test_at_full_load_the_batch_leaves_at_the_rate_at_which_requests_are_worked():
    # Little's law: batch = requests a second x (output tokens x time per token)
    rate = 1 / board.request_s(**REPLICA, batch=64)
    assert rate * 300 * board.token_s(**REPLICA, batch=64) == pytest.approx(64)


def test_the_largest_batch_keeps_the_target_and_one_more_does_not():
    most = board.batch_within(0.05, **REPLICA, usable_bytes=288e9)
    assert board.token_s(**REPLICA, batch=most) <= 0.05 < board.token_s(**REPLICA, batch=most + 1)
    assert board.batch_within(1.0, **REPLICA, usable_bytes=288e9) == math.floor(148 / 0.5)
    assert board.batch_within(0.017, **REPLICA, usable_bytes=288e9) == 0


def test_a_larger_batch_needs_fewer_replicas_for_the_same_peak():
    # At a batch of 16: 148 GB / 8 TB/s = 18.5 ms, 0.1 + 300 x 18.5/16 ms = 0.4469 s; 60 a second at 70% are 38.3.
    assert board.replicas_at_batch(60, 0.7, **REPLICA, batch=16) == 39
    # Within 50 ms: 32.5 / (0.0625 + 0.3333) = 82.1; 0.1 + 300 x (140/82 + 0.5)/8000 = 0.1828 s; 15.7.
    assert board.batch_within(0.05, **REPLICA, usable_bytes=288e9) == 82
    assert board.replicas_within(60, 0.7, 0.05, **REPLICA, usable_bytes=288e9) == 16


def test_replicas_for_a_target_that_the_weights_alone_break_are_refused():
    with pytest.raises(ValueError, match="batch"):
        board.replicas_within(60, 0.7, 0.017, **REPLICA, usable_bytes=288e9)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: board.cost_at_load(1, 0), "utilization"),
        (lambda: board.replicas(1, 1, 70), "utilization"),
        (lambda: board.samples_per_arm(80, 0.02), "rate"),
        (lambda: board.tokens_to_repay(1, 0), "saving_per_token"),
    ],
)
def test_refuses_what_cannot_be(call, name):
    with pytest.raises(ValueError, match=name):
        call()
