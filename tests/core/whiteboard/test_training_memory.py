"""Training memory on the whiteboard, against papers, Megatron's table and sums worked by hand."""

import pytest

from core.units import GB
from core.whiteboard import training_memory as board


# Rajbhandari et al. 2020, arXiv:1910.02054, figure 1: 7.5B parameters on 64 GPUs.
@pytest.mark.parametrize(("stage", "published_gb"), [(0, 120.0), (1, 31.4), (2, 16.6), (3, 1.9)])
def test_states_by_stage_are_those_of_the_zero_paper(stage, published_gb):
    assert board.zero_states_bytes(7.5e9, 64, stage) / GB == pytest.approx(published_gb, abs=0.05)


def test_four_times_is_what_stage_1_saves_on_endless_gpus_only():
    assert board.zero_saving(8, 1) == pytest.approx(16 / 5.5)
    assert board.zero_saving(1e9, 1) == pytest.approx(4)
    assert board.zero_saving(1e9, 2) == pytest.approx(8)


def test_a_70b_needs_28_gpus_to_leave_40_gb_of_states_on_each():
    assert board.min_data_parallel(70e9, 40e9) == 28  # 1120 / 40, no remainder
    assert board.min_data_parallel(70e9, 39.9e9) == 29
    assert board.zero_states_bytes(70e9, 28, 3) <= 40e9 < board.zero_states_bytes(70e9, 27, 3)


def test_fp32_gradients_make_18_bytes_as_in_megatrons_table():
    assert board.fp32_gradient_states_bytes(1.0, 1) == 18


def test_lighter_optimizers_keep_fewer_bytes():
    # 2 + 2 + 4 and two moments of one byte, each block of 256 with an FP32 scale; or one FP32 momentum
    assert board.eight_bit_adam_states_bytes(1.0, 1) == pytest.approx(10.03125)
    assert board.one_momentum_states_bytes(1.0, 1) == 12


def test_scores_are_70_percent_of_what_a_gpt_3_layer_keeps():
    # Korthikanti et al. 2022, arXiv:2205.05198, section 5: a = 96, s = 2048, h = 12288
    kept = board.kept_layer_bytes(2048, 1, 12288, 96)
    assert 1 - board.selective_layer_bytes(2048, 1, 12288, 1) / kept == pytest.approx(0.70, abs=0.005)
    assert kept == 2048 * 12288 * (34 + 80)


def test_without_sequence_parallelism_a_third_of_a_layer_stays_whole():
    # ten of the 34 bytes: norms, inputs and dropout masks outside the split matrices
    assert board.selective_layer_bytes(1024, 1, 4096, 8, 0) == 1024 * 4096 * (10 + 24 / 8)
    assert board.selective_layer_bytes(1024, 1, 4096, 8, 1) == 1024 * 4096 * 34 / 8


def test_checkpoints_of_a_100b_are_about_60_gb():
    # Rajbhandari et al. 2020, section 3.2: 100B parameters, batch 32, 1K tokens, one activation a layer
    assert board.full_recompute_bytes(1024, 32, 8192, 125) / GB == pytest.approx(60, rel=0.15)
    assert board.full_recompute_bytes(1024, 32, 8192, 125, 8) == board.full_recompute_bytes(1024, 4, 8192, 125)


def test_logits_of_a_long_sequence_are_17_gb():
    assert board.logits_tensor_bytes(32768, 1, 128256) == 32768 * 128256 * 4


def test_accumulation_fills_the_global_batch_or_refuses():
    assert board.accumulation_steps(1024, 2, 64) == 8
    with pytest.raises(ValueError, match="no multiple of 96"):
        board.accumulation_steps(1000, 2, 48)


def test_adapters_of_rank_16_beside_320_matrices_are_84m_parameters():
    assert board.lora_states_bytes(16, 8192, 320) / 16 == 83_886_080


def test_double_quantization_adds_an_eighth_of_a_bit():
    # Dettmers et al. 2023, arXiv:2305.14314, section 3: 8/64 + 32/(64 x 256) = 0.127 bits a parameter
    assert 8 * board.qlora_base_bytes(1, 64, 256) - 4 == pytest.approx(0.127, abs=5e-4)
    # and about 3 GB less for 65B than one FP32 scale a block of 64, 4.5 bits
    plain = 65e9 * (4 + 32 / 64) / 8
    assert (plain - board.qlora_base_bytes(65e9, 64, 256)) / GB == pytest.approx(3.0, abs=0.05)


def test_stage_3_holds_two_layers_of_weights_and_one_of_gradients():
    assert board.gathered_layers_bytes(70e9, 64, 80) == pytest.approx((2 * 2 + 2) * 70e9 / 80)


def test_layers_without_scores_add_up():
    assert board.selective_model_bytes(32768, 1, 8192, 80, 8) == pytest.approx(34 * 32768 * 8192 / 8 * 80)


def test_stage_3_moves_three_halves_of_data_parallelism():
    # section 7.2.2: 3 psi elements against 2 psi; here in bytes over a ring of 64
    assert board.zero3_traffic_floor_s(1e9, 64, 1.0) == pytest.approx(3 * 2e9 * 63 / 64)


def test_tensor_parallelism_beside_zero_1_splits_all_and_shards_twelve():
    assert board.tensor_zero1_states_bytes(70e9, 8, 8) / GB == pytest.approx(8.75 * 5.5)
