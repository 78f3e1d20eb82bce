"""ZeRO against its paper, Megatron's table and DeepSpeed's estimator."""

import numpy as np
import pytest

from core.units import GB, GIB
from core.zero import RECIPES, STAGES, largest_model, zero_memory, zero_peak
from tests.published import as_printed, rows


# Rajbhandari et al. 2020, arXiv:1910.02054, figure 1: 7.5B parameters on 64 GPUs.
@pytest.mark.parametrize(("stage", "published_gb"), [(0, 120.0), (1, 31.4), (2, 16.6), (3, 1.9)])
def test_matches_the_zero_paper_figure_1(stage, published_gb):
    assert zero_memory(7.5e9, 64, stage=stage).total_bytes / GB == pytest.approx(published_gb, abs=0.05)


@rows("zero_memory")
def test_matches_the_zero_paper_table_1(row):
    total = zero_memory(**row["inputs"]).total_bytes / GB
    assert total == as_printed(row)
    if "reason" in row:
        assert np.floor(total) == row["expected"], "cut off, not rounded"


@rows("largest_model")
def test_matches_the_largest_models_of_table_2(row):
    assert largest_model(**row["inputs"]) / 1e9 == as_printed(row)


@rows("zero_factor")
def test_four_and_eight_times_are_limits_for_many_gpus(row):
    whole = zero_memory(1e9, 1, stage=0).total_bytes
    factor = whole / zero_memory(1e9, [8, 64, 10**9], **row["inputs"]).total_bytes
    assert factor[-1] == pytest.approx(row["expected"], rel=1e-6)
    if row["inputs"]["stage"] == 1:
        assert factor[:2] == pytest.approx([2.9, 3.8], abs=0.05)


@rows("zero_memory_fp32_grads")
def test_matches_the_model_states_of_korthikanti_figure_1(row):
    assert zero_memory(**row["inputs"], optimizer="adam-fp32-grads").total_bytes / GIB == as_printed(row)


@rows("bytes_per_param")
def test_matches_megatrons_table_of_bytes_a_parameter(row):
    optimizer = row["inputs"]["optimizer"]
    assert zero_memory(1, 1, stage=0, optimizer=optimizer).total_bytes == row["expected"]
    gpus = np.array([1, 2, 8, 64])
    sharded = zero_memory(1, gpus, stage=1, optimizer=optimizer).total_bytes
    assert sharded == pytest.approx(row["kept"] + row["shared"] / gpus)


@rows("deepspeed_gpu")
def test_matches_deepspeeds_gpu_column(row):
    # DeepSpeed counts 18 bytes a parameter and the largest layer's 16-bit weights and gradients, whole.
    peak = zero_peak(
        2851e6, 8, **row["inputs"], optimizer="adam-fp32-grads", unit_params=32e6, live_units=1, bucket_params=1
    )
    layer = 4 * 32e6 if row["inputs"]["stage"] == 3 else 0
    assert (peak.steady.total_bytes + layer) / GIB == as_printed(row)


# DeepSpeed pull request 5099: 2 + 18/N at stage 2 and 18/N at stage 3, for the paper's 2 + 14/N and 16/N.
def test_an_fp32_gradient_copy_gives_deepspeeds_newer_multipliers():
    assert zero_memory(7.5e9, 64, stage=2, optimizer="adam-fp32-grad-copy").total_bytes / GB == pytest.approx(
        17.11, abs=0.005
    )
    # Its stage 3 drops the 16-bit gradient again, which leaves fp32 gradients alone.
    assert zero_memory(7.5e9, 64, stage=3, optimizer="adam-fp32-grads").total_bytes / GB == pytest.approx(
        2.11, abs=0.005
    )


# accelerate's table shows 564 GB for Llama 3 70B, a maximum over phases; the states coexist at the step.
def test_states_of_a_70b_model_add_up():
    totals = [zero_memory(70553706496, 1, stage=0, optimizer=o).total_bytes / GB for o in ("adam", "adam-fp32-grads")]
    assert totals == pytest.approx([1129, 1270], abs=0.5)


# hf-vram-calc 1.0.9 takes 4 bytes and 30% a parameter of Llama 3 8B, 77.78 GiB, for the 16 bytes of mixed precision.
def test_states_of_an_8b_model_are_120_gib():
    assert zero_memory(8030261248, 1, stage=0).total_bytes / GIB == pytest.approx(119.7, abs=0.05)


# Megatron-LM issue 525: GPT-2 large, 18 bytes a parameter.
def test_states_of_gpt2_large_are_13_gib():
    assert zero_memory(774e6, 1, stage=0, optimizer="adam-fp32-grads").total_bytes / GIB == pytest.approx(
        13.0, abs=0.05
    )


@pytest.mark.parametrize(
    ("optimizer", "bytes_per_param"),
    [
        ("adam", 16),
        ("adam-fp32-grads", 18),
        ("adam-8bit", 10.03125),
        ("adam-8bit-bf16", 6.03125),
        ("adam-bf16", 8),
        ("adam-fp32", 16),
        ("sgd-momentum", 12),
    ],
)
def test_each_recipe_costs_what_its_parts_do(optimizer, bytes_per_param):
    assert RECIPES[optimizer].total_bytes == bytes_per_param
    assert zero_memory(1, 64, stage=0, optimizer=optimizer).total_bytes == bytes_per_param
    assert zero_memory(1, 64, stage=3, optimizer=optimizer).total_bytes == pytest.approx(bytes_per_param / 64)


def test_mixed_precision_does_not_shrink_adams_states():
    assert RECIPES["adam"].total_bytes == RECIPES["adam-fp32"].total_bytes


def test_params_by_gpus_gives_a_grid():
    memory = zero_memory(np.array([[1e9], [7e9], [70e9]]), np.array([1, 8, 64, 512]), stage=2)
    assert memory.total_bytes.shape == memory.weight_bytes.shape == memory.optimizer_bytes.shape == (3, 4)
    assert memory.total_bytes[1, 2] == zero_memory(7e9, 64, stage=2).total_bytes


def test_stages_can_be_the_axis():
    over_stages = zero_memory(7.5e9, 64, stage=np.array(STAGES)).total_bytes
    assert list(over_stages) == [zero_memory(7.5e9, 64, stage=stage).total_bytes for stage in STAGES]


def test_dense_parameters_and_experts_add_up_with_their_own_data_parallelism():
    # Megatron-Bridge 3744: experts are shared by world / (expert TP x EP x PP), not by the dense data parallelism.
    both = zero_memory(10e9, 64, stage=1) + zero_memory(90e9, 8, stage=1)
    assert both.optimizer_bytes == 12 * 10e9 / 64 + 12 * 90e9 / 8


def test_offload_leaves_only_16_bit_weights():
    memory = zero_memory(7e9, 8, stage=[2, 3], offload="optimizer")
    assert list(memory.total_bytes) == [2 * 7e9, 2 * 7e9 / 8]
    assert zero_memory(7e9, 8, stage=3, offload="optimizer+parameters").total_bytes == 0
    assert largest_model(80e9, 8, stage=3, offload="optimizer+parameters") == np.inf


def test_below_stage_2_offload_keeps_whole_gradients_on_the_gpu():
    memory = zero_memory(7e9, 8, stage=1, offload="optimizer")
    assert (memory.gradient_bytes, memory.optimizer_bytes) == (2 * 7e9, 0)


def test_the_largest_model_fills_the_memory_exactly():
    params = largest_model(80 * GIB, [1, 8, 64], stage=[[1], [2], [3]])
    assert zero_memory(params, [1, 8, 64], stage=[[1], [2], [3]]).total_bytes == pytest.approx(80 * GIB)
    assert largest_model([-1e9, 0.0], 8, stage=1) == pytest.approx([0, 0])


# Megatron-LM issue 6314: stage 2 can peak above stage 1, for it reduces an unsharded bucket.
def test_stage_2_is_lower_than_stage_1_when_steady_and_can_peak_above_it():
    peak = zero_peak(2e9, 2, stage=[1, 2], unit_params=1e8, optimizer="adam-fp32-grads", bucket_params=1.5e9)
    assert peak.steady.total_bytes[1] < peak.steady.total_bytes[0]
    assert peak.backward_bytes[1] > peak.backward_bytes[0]


# DeepSpeed issue 4527: 6.8B on 4 GPUs, everything offloaded. The estimator's 0.49 is the largest module alone;
# the cache of live parameters, by default 1e9 of them, comes on top.
def test_stage_3_with_everything_offloaded_still_gathers():
    everything = {"stage": 3, "offload": "optimizer+parameters", "optimizer": "adam-fp32-grads"}
    live = zero_peak(6.8e9, 4, **everything, unit_params=1e9, live_units=1)
    assert live.steady.total_bytes == 0
    assert live.gathered_weight_bytes == 2e9
    states = zero_memory(6.8e9, 4, stage=3, optimizer="adam-fp32-grads").total_bytes
    assert (states + 4 * 131e6) / GIB == pytest.approx(29.0, abs=0.05)


def test_the_step_needs_fp32_gradients_unless_they_are_kept():
    assert zero_peak(7e9, 8, stage=1, unit_params=1e8).step_bytes == 4 * 7e9 / 8
    assert zero_peak(7e9, 8, stage=1, unit_params=1e8, optimizer="adam-fp32-grads").step_bytes == 0


def test_one_gpu_has_nothing_to_gather():
    alone = zero_peak(7e9, 1, stage=[0, 1, 2, 3], unit_params=1e8)
    assert not np.any(alone.gathered_weight_bytes)
    assert not np.any(alone.gradient_bucket_bytes)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"num_params": 0}, "num_params=0 must be greater than 0"),
        ({"num_params": float("nan")}, "num_params=nan must be a finite number"),
        ({"num_params": "many"}, "num_params='many' is not a number"),
        ({"data_parallel": [8, -2]}, "data_parallel=-2 must be a whole number, 1 or more"),
        ({"data_parallel": 2.5}, "data_parallel=2.5 must be a whole number"),
        ({"stage": [0, 4]}, "stage=4 must be a whole number from 0 to 3"),
        ({"optimizer": "lion"}, "optimizer='lion' is not known; choose one of"),
        ({"offload": "disk"}, "offload='disk' is not known"),
    ],
)
def test_a_bad_input_is_refused_in_words(changed, message):
    with pytest.raises(ValueError, match=message.replace("+", r"\+")):
        zero_memory(**({"num_params": 7e9, "data_parallel": 8, "stage": 1} | changed))
