"""Checkpoints, failures and the loader on the whiteboard, held to printed numbers and to sums worked by hand."""

from __future__ import annotations

import math

import pytest

from core.whiteboard import reliability_data as board

HOUR, DAY, YEAR = 3600.0, 86400.0, 365 * 86400.0
LLAMA_3_GAP = 54 * DAY / 419  # Llama Team 2024, arXiv:2407.21783, section 3.3.4


def test_a_checkpoint_has_weights_and_optimizer_but_no_gradients():
    # Rajbhandari et al. 2020, arXiv:1910.02054, section 3.1: 2 bytes of weights and K = 12 of optimizer states.
    assert board.checkpoint_bytes(70e9) == 980e9
    assert board.checkpoint_bytes(405e9) == 5670e9


def test_writes_share_storage_and_copies_run_side_by_side():
    assert board.checkpoint_write_s(70e9, 20e9) == pytest.approx(49)
    # 980 GB over 64 GPUs are 15.3 GB each; at 25 GB/s 0.6125 s
    assert board.snapshot_stall_s(70e9, 64, 25e9) == pytest.approx(0.6125)


def test_llama_3_s_storage_takes_a_checkpoint_in_seconds():
    # The same report, section 3.3.1: 2 TB/s sustained. 5.67 TB in 2.8 s.
    assert board.checkpoint_write_s(405e9, 2e12) == pytest.approx(2.835)


def test_sixteen_thousand_gpus_of_five_years_fail_every_few_hours():
    assert board.cluster_mtbf_s(5 * YEAR, 16384) / HOUR == pytest.approx(2.67334, abs=1e-5)
    assert board.mean_gap_s(54 * DAY, 419) / HOUR == pytest.approx(3.1, abs=0.05)
    assert board.interruptions(54 * DAY, LLAMA_3_GAP) == pytest.approx(419)
    assert board.mtbf_without_s(2 * HOUR, 0.5) == pytest.approx(4 * HOUR)


def test_intervals_as_daly_prints_them():
    # Daly 2006, figure 4: 57 min for 5 min and 6 h; Young's formula gives 60.
    assert board.daly_interval_s(300, 6 * HOUR) / 60 == pytest.approx(57, abs=0.5)
    assert board.young_interval_s(300, 6 * HOUR) / 60 == pytest.approx(60)


def test_waste_and_goodput_by_hand():
    # 60/1200 + 1200/21600 = 5% + 5.56%
    assert board.waste(60, 1200, 3 * HOUR) == pytest.approx(0.05 + 1 / 18)
    # and 10 min of 180: another 5.56%
    assert board.goodput(60, 1200, 3 * HOUR, 600) == pytest.approx(0.95 - 2 / 18)
    assert board.exact_goodput(1e-9, 1, 1e9, 1e-9) == pytest.approx(1)


def test_llama_3_kept_nine_tenths_and_so_lost_under_nineteen_minutes_an_interruption():
    # "higher than 90% effective training time" at 3.1 h between interruptions
    assert board.interruption_budget_s(LLAMA_3_GAP, 0.9) / 60 == pytest.approx(18.56, abs=0.01)


def test_the_budget_is_what_goodput_loses():
    budget = board.interruption_budget_s(3 * HOUR, board.goodput(0, 900, 3 * HOUR, 600))
    assert budget == pytest.approx(900 / 2 + 600)


def test_survival_and_stragglers():
    assert board.survival(6 * HOUR, 3 * HOUR) == pytest.approx(math.exp(-2))
    assert board.straggler_chance(0.01, 100) == pytest.approx(0.63, abs=0.005)  # The Tail at Scale


def test_a_background_write_makes_the_last_complete_checkpoint_older():
    # 0.6/120 + (60 + 30 + 600)/10800 = 0.5% + 6.39%
    assert board.background_goodput(0.6, 30, 120, 3 * HOUR, 600) == pytest.approx(1 - 0.005 - 690 / 10800)
    assert board.interval_for_storage_s(30, 0.25) == 120


def test_spares_by_hand():
    # One break in 4 h, 48 h away: 12 nodes on average; 12 + 2.326 x 3.464 = 20.06
    assert board.spare_nodes(4 * HOUR, 1.0, 48 * HOUR) == 21
    assert board.spare_nodes(2 * HOUR, 0.5, 48 * HOUR) == 21
    assert board.spare_nodes(4 * HOUR, 0.0, 48 * HOUR) == 0


def test_spares_run_out_in_one_hundredth_of_the_time():
    # The Poisson count itself: with 12 away on average, 21 are enough 99% of the time and 19 are not.
    chance = [math.exp(-12) * 12**away / math.factorial(away) for away in range(22)]
    assert sum(chance[:22]) > 0.99 > sum(chance[:20])


@pytest.mark.parametrize(("rate", "each", "workers"), [(800, 0.040, 32), (200, 0.025, 5), (100, 0.0401, 5), (1, 1, 1)])
def test_workers_are_rate_times_time_rounded_up(rate, each, workers):
    assert board.loader_workers(rate, each) == workers


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: board.interval_for_storage_s(1, 0), "storage_share"),
        (lambda: board.interruption_budget_s(1, 90), "goodput"),
        (lambda: board.spare_nodes(1, 78, 1), "hardware_share"),
        (lambda: board.snapshot_stall_s(1e9, 0, 1e9), "num_gpus"),
    ],
)
def test_refuses_what_cannot_be(call, name):
    with pytest.raises(ValueError, match=name):
        call()
