"""Failures and checkpoints against printed numbers, against Daly's complete model, and against simulated failures."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core import reliability
from tests.communication import as_printed, rows

HOUR, DAY, YEAR = 3600.0, 86400.0, 365 * 86400.0

# Llama Team 2024, arXiv:2407.21783, table 5: count and printed share of each cause; True where it is a GPU's.
LLAMA_3_CAUSES = [
    (148, 30.1, True),
    (72, 17.2, True),
    (54, 12.9, False),
    (35, 8.4, False),
    (32, 7.6, False),
    (19, 4.5, True),
    (17, 4.1, True),
    (7, 1.7, False),
    (7, 1.7, False),
    (6, 1.4, True),
    (6, 1.4, True),
    (3, 0.7, False),
    (3, 0.7, False),
    *[(2, 0.5, False)] * 5,
]


def share_percent(inputs):
    times = [reliability.mean_time_between_s(inputs["days"] * DAY, inputs[name]) for name in ("cause", "all")]
    return 100 * float(reliability.cause_share(*times))


@rows("mean_gap")
def test_matches_the_printed_gap_between_interruptions(row):
    gap = reliability.mean_time_between_s(row["inputs"]["days"] * DAY, row["inputs"]["all"])
    assert float(gap) / HOUR == as_printed(row)


@rows("cause_share")
def test_matches_the_printed_share_of_a_cause(row):
    assert share_percent(row["inputs"]) == as_printed(row)


@rows("misprinted_share")
def test_a_misprinted_share_is_not_what_its_counts_give(row):
    assert share_percent(row["inputs"]) == pytest.approx(row["computed"], abs=row["half_digit"])
    assert share_percent(row["inputs"]) != as_printed(row)


def test_only_the_first_share_of_llama_3_is_misprinted():
    counts = [count for count, *_ in LLAMA_3_CAUSES]
    assert sum(counts) == 419
    wrong = [count for count, printed, _ in LLAMA_3_CAUSES if abs(100 * count / 419 - printed) > 0.051]
    assert wrong == [148]
    of_gpus = [(count, printed) for count, printed, gpu in LLAMA_3_CAUSES if gpu]
    assert sum(count for count, _ in of_gpus) == 268
    assert sum(printed for _, printed in of_gpus) == pytest.approx(58.7)


@rows("young_interval")
def test_matches_young(row):
    inputs = row["inputs"]
    interval = reliability.young_interval_s(inputs["checkpoint_s"], inputs["mtbf_h"] * HOUR)
    assert float(interval) / 60 == as_printed(row)


@rows("daly_interval")
def test_matches_the_intervals_in_daly_s_captions(row):
    inputs = row["inputs"]
    interval = reliability.daly_interval_s(inputs["checkpoint_s"], inputs["mtbf_h"] * HOUR)
    assert float(interval) / 60 == as_printed(row)


def test_a_gpu_of_the_llama_3_run_failed_every_six_years():
    # 54 days of 16,384 GPUs over 419 interruptions: 5.8 GPU-years each.
    gap = float(reliability.mean_time_between_s(54 * DAY, 419))
    assert 16384 * gap / YEAR == pytest.approx(5.785, abs=0.001)
    assert float(reliability.cluster_mtbf_s(16384 * gap, 16384)) == pytest.approx(gap)
    assert reliability.cluster_mtbf_s(6 * YEAR, [1, 2, 4]).tolist() == [6 * YEAR, 3 * YEAR, 1.5 * YEAR]


def test_failures_and_survival_by_hand():
    assert float(reliability.expected_failures(30 * DAY, 3 * HOUR)) == pytest.approx(240)
    assert float(reliability.survival(3 * HOUR, 3 * HOUR)) == pytest.approx(1 / math.e)
    assert float(reliability.survival(0, 3 * HOUR)) == 1


def test_two_independent_halves_survive_together_as_often_as_the_whole():
    half = float(reliability.survival(2 * HOUR, 6 * HOUR))
    assert float(reliability.survival(2 * HOUR, 3 * HOUR)) == pytest.approx(half**2)


def test_curing_a_cause_leaves_the_rates_of_the_others():
    assert float(reliability.mtbf_without_s(3 * HOUR, 0.75)) == pytest.approx(12 * HOUR)
    with pytest.raises(ValueError, match="removed_share"):
        reliability.mtbf_without_s(3 * HOUR, 1.0)


def test_a_cause_cannot_make_more_failures_than_there_are():
    with pytest.raises(ValueError, match="must be a share"):
        reliability.cause_share(1 * HOUR, 2 * HOUR)


def test_young_s_interval_has_the_least_waste_and_even_halves():
    stall, mtbf = 60.0, 3 * HOUR
    best = float(reliability.young_interval_s(stall, mtbf))
    around = reliability.waste(stall, best * np.array([0.9, 1.0, 1.1]), mtbf)
    assert around.argmin() == 1
    assert stall / best == pytest.approx(best / (2 * mtbf))
    assert float(around[1]) == pytest.approx(math.sqrt(2 * stall / mtbf))


def test_twice_the_best_interval_wastes_a_quarter_more():
    best = float(reliability.young_interval_s(60, 3 * HOUR))
    once, twice = (float(reliability.waste(60, best * times, 3 * HOUR)) for times in (1, 2))
    assert twice / once == pytest.approx(1.25)


@pytest.mark.parametrize(("stall", "mtbf"), [(60, 3 * HOUR), (300, 6 * HOUR), (300, 900)])
def test_daly_s_interval_has_the_best_exact_goodput(stall, mtbf):
    near = float(reliability.daly_interval_s(stall, mtbf))
    grid = near * np.linspace(0.5, 1.5, 1001)
    best = grid[reliability.exact_goodput(stall, grid, mtbf, 600).argmax()]
    assert near == pytest.approx(best, rel=0.01)


def test_a_checkpoint_longer_than_two_mtbf_is_made_once_an_mtbf():
    assert float(reliability.daly_interval_s(300, 100)) == 100


def test_goodput_by_hand():
    # 20/900 + 900/21600 + 600/10800 = 2.22% + 4.17% + 5.56%
    assert float(reliability.goodput(20, 900, 3 * HOUR, 600)) == pytest.approx(0.880556, abs=1e-6)


def test_first_order_meets_the_exact_model_where_failures_are_rare():
    first, exact = (how(10, 600, 100 * HOUR, 300) for how in (reliability.goodput, reliability.exact_goodput))
    assert float(first) == pytest.approx(float(exact), abs=5e-4)


def test_exact_goodput_is_that_of_simulated_failures():
    random = np.random.default_rng(7)
    stall, interval, mtbf, restart = 60.0, 1200.0, 2 * HOUR, 900.0
    clock, segments = 0.0, 4000
    for _ in range(segments):
        while (failure := random.exponential(mtbf)) < interval + stall:
            clock += failure
            while (again := random.exponential(mtbf)) < restart:  # a restart may fail as well
                clock += again
            clock += restart
        clock += interval + stall
    expected = float(reliability.exact_goodput(stall, interval, mtbf, restart))
    assert segments * interval / clock == pytest.approx(expected, rel=0.02)


def test_one_slow_rank_in_a_hundred_slows_63_percent_of_steps_of_a_hundred():
    # Dean and Barroso 2013, The Tail at Scale: 63% at one in a hundred over a hundred servers.
    assert float(reliability.straggler_chance(0.01, 100)) == pytest.approx(0.63, abs=0.005)
    assert reliability.straggler_chance(0.5, [1, 2]).tolist() == [0.5, 0.75]


def test_stragglers_counted_over_every_combination():
    slow = [bool(bits) for bits in range(2**3)]  # three ranks, each slow half of the time: seven of eight have one
    assert float(reliability.straggler_chance(0.5, 3)) == sum(slow) / len(slow)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: reliability.young_interval_s(0, 1), "checkpoint_s"),
        (lambda: reliability.waste(1, 0, 1), "interval_s"),
        (lambda: reliability.goodput(1, 1, 1, -1), "restart_s"),
        (lambda: reliability.cluster_mtbf_s(1, 1.5), "num_parts"),
        (lambda: reliability.straggler_chance(2, 1), "slow_share"),
    ],
)
def test_refuses_what_cannot_be(call, name):
    with pytest.raises(ValueError, match=name):
        call()
