"""Closed forms against the tables that print their results."""

import numpy as np
import pytest

from core.flops import utilization
from core.scaling import megatron_flops_per_iteration, palm_flops_per_token, training_flops, training_time_s
from core.units import PFLOP, TFLOP
from tests.published_flops import holds, rows

DAY_S = 86_400
HOUR_S = 3_600


@rows("training_time")
def test_matches_megatrons_days_of_training(row):
    holds(training_time_s(**row["inputs"], recompute=True) / DAY_S, row)


# The same table with equation 3 in the place of 8 T P: the attention and the logits that 8 T P leaves out.
@pytest.mark.parametrize(
    ("gpus", "tflops", "shape", "days"),
    [(384, 144, (96, 12288), 90), (640, 138, (105, 20480), 169), (1536, 141, (96, 12288), 23)],
)
def test_equation_3_gives_the_days_to_the_digit_of_the_speed(gpus, tflops, shape, days):
    layers, hidden = shape
    work = megatron_flops_per_iteration(
        3e11 // 2048, seq_len=2048, num_layers=layers, hidden_size=hidden, vocab_size=51_200
    )
    half_of_a_tflop = 0.5 / tflops
    assert work / (gpus * tflops * TFLOP) / DAY_S == pytest.approx(days, rel=half_of_a_tflop + 0.5 / days)


@rows("megatron_iteration")
def test_matches_the_speed_that_step_times_give(row):
    inputs = dict(row["inputs"])
    gpu_seconds = inputs.pop("num_gpus") * inputs.pop("step_s")
    holds(megatron_flops_per_iteration(**inputs) / gpu_seconds / TFLOP, row)


@rows("step_utilization")
def test_matches_korthikantis_utilization(row):
    inputs = dict(row["inputs"])
    roof = inputs.pop("num_gpus") * inputs.pop("step_s") * inputs.pop("peak_flops_per_s")
    holds(100 * megatron_flops_per_iteration(**inputs) / roof, row)


# The attention products made again, as a share of the model's FLOPs.
@rows("recompute_overhead")
def test_matches_korthikantis_price_of_selective_recomputation(row):
    again, model = (megatron_flops_per_iteration(1, **row["inputs"], recompute=kind) for kind in ("selective", "none"))
    holds(100 * (again / model - 1), row)


@rows("faster")
def test_times_stand_in_the_inverse_ratio_of_speeds(row):
    speeds = [row["inputs"]["slower_flops_per_s"], row["inputs"]["flops_per_s"]]
    slow, fast = training_time_s(529.6e9, 3e11, num_gpus=1120, flops_per_s=speeds, recompute=True)
    holds(100 * (slow / fast - 1), row)


@rows("all_gpus")
def test_a_run_of_known_length_gives_the_speed_of_all_gpus(row):
    params, tokens = 1e12, 4.5e11
    seconds = training_time_s(params, tokens, **row["inputs"], recompute=True)
    holds(8 * params * tokens / seconds / PFLOP, row)


@rows("palm_flops")
def test_matches_palms_flops_of_a_token(row):
    holds(palm_flops_per_token(**row["inputs"]), row)


@rows("palm_mfu")
def test_matches_palms_table_of_utilization(row):
    inputs = dict(row["inputs"])
    speed, gpus, peak = (inputs.pop(name) for name in ("tokens_per_s", "num_gpus", "peak_flops_per_s"))
    with_attention = inputs.pop("attention")
    per_token = palm_flops_per_token(**inputs) if with_attention else training_flops(inputs["num_params"], 1)
    holds(100 * utilization(speed, per_token, num_gpus=gpus, peak_flops_per_s=peak), row)


@rows("training_flops")
def test_matches_published_compute(row):
    holds(training_flops(**row["inputs"]), row)


# Rae et al. 2021 print 5.76e23 for Gopher, which is not 6 N D: their count has attention and the embedding.
def test_gophers_own_compute_is_above_6nd():
    assert 5.76e23 / training_flops(280e9, 300e9) == pytest.approx(1.143, abs=0.0005)


@rows("implied_mfu")
def test_gpu_hours_imply_a_utilization(row):
    inputs = dict(row["inputs"])
    seconds, peak = inputs.pop("gpu_hours") * HOUR_S, inputs.pop("peak_flops_per_s")
    tokens_per_s = inputs["tokens"] / seconds
    per_token = training_flops(inputs["num_params"], 1)
    holds(100 * utilization(tokens_per_s, per_token, num_gpus=1, peak_flops_per_s=peak), row)


def test_mixing_the_two_conventions_is_an_error_of_a_third():
    with_it, without = (
        training_time_s(1e12, 4.5e11, num_gpus=3072, flops_per_s=163e12, recompute=again) for again in (True, False)
    )
    assert with_it / without == pytest.approx(4 / 3)


def test_full_recomputation_is_one_more_forward_pass_of_the_layers():
    shape = {"seq_len": 2048, "num_layers": 96, "hidden_size": 12288, "vocab_size": 51_200}
    full, none = (megatron_flops_per_iteration(1, **shape, recompute=again) for again in ("full", "none"))
    logits = 2 * 2048 * 12288 * 51_200
    assert full - none == pytest.approx(none / 3 - logits, rel=1e-12)


def test_gpus_can_be_the_axis():
    days = training_time_s(
        1e12, [[1e11], [4.5e11]], num_gpus=np.array([512, 1024, 3072]), flops_per_s=163e12, recompute=True
    )
    assert days.shape == (2, 3)
    assert days[0, 0] / days[0, 1] == pytest.approx(2)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"num_params": 0}, "num_params=0 must be greater than 0"),
        ({"tokens": float("nan")}, "tokens=nan must be a finite number"),
        ({"num_gpus": 2.5}, "num_gpus=2.5 must be a whole number"),
        ({"flops_per_s": -1}, "flops_per_s=-1 must be greater than 0"),
    ],
)
def test_a_bad_input_is_refused_in_words(changed, message):
    inputs = {"num_params": 1e9, "tokens": 1e9, "num_gpus": 8, "flops_per_s": 1e14, "recompute": True}
    with pytest.raises(ValueError, match=message):
        training_time_s(**(inputs | changed))
