"""Attention and kernels on the whiteboard, against the FlashAttention papers and sums worked by hand."""

import math

import numpy as np
import pytest

from core.hardware import load_accelerators
from core.scaling import megatron_flops_per_iteration
from core.units import GB, MB
from core.whiteboard import attention_kernels as board

H100 = load_accelerators()["h100-sxm"]


def test_scores_of_8192_tokens_are_0_134_gb_a_head():
    assert board.score_matrix_bytes(8192) == 2**27
    assert board.score_matrix_bytes(65536) / GB == pytest.approx(8.590, abs=5e-4)
    assert board.score_matrix_bytes(8192, 64) / GB == pytest.approx(8.590, abs=5e-4)


def test_an_unfused_pass_crosses_memory_four_times_and_eleven_with_its_backward():
    # arXiv:2205.14135, algorithms 0 and 3
    scores, vectors = 2 * 8192**2, 2 * 8192 * 128
    assert board.unfused_forward_bytes(8192, 128) == 4 * scores + 4 * vectors
    assert board.unfused_training_bytes(8192, 128, 2) == 2 * (11 * scores + 12 * vectors)
    assert board.scores_held_bytes(8192) == 2 * scores


def test_keys_and_values_pass_by_every_tile_of_queries():
    # 64 tiles of 128 rows: Q, O once, K and V 64 times, 2 MiB each
    assert board.tiled_bound_bytes(8192, 128, 128) == 2**21 * (2 + 2 * 64)
    assert board.tiled_bound_bytes(8192, 128, 8192) == 4 * 2**21  # one tile rereads nothing


def test_the_floor_holds_each_operand_once_and_a_statistic_a_row():
    assert board.tiled_floor_bytes(8192, 128) / MB == pytest.approx(8.389 + 0.0328, abs=1e-3)
    assert board.statistic_bytes(8192, 64) == 4 * 8192 * 64
    assert board.tiled_floor_bytes(4096, 64, 4) < board.tiled_bound_bytes(4096, 64, 64, 4)


def test_tiling_saves_at_least_twice_its_rows_over_the_width_in_the_limit():
    assert board.least_traffic_ratio(8192, 128, 128) == pytest.approx(2.0)
    assert board.least_traffic_ratio(10**7, 64, 128) == pytest.approx(2 * 128 / 64, rel=1e-3)


def test_a_tile_of_128_rows_takes_96_kib():
    assert board.tile_bytes(128, 128, 128) == 96 * 1024


def test_attention_makes_four_flops_a_pair_and_element():
    # arXiv:2307.08691, section 4.1: 4 s^2 d heads, half with a causal mask
    assert board.attention_flops(2048, 16, 128) == 4 * 2048**2 * 128 * 16
    assert board.attention_flops(2048, 16, 128, 2, 1) == 4 * 2048**2 * 128 * 16


def test_the_share_is_half_of_megatrons_without_the_mask():
    # 72 b s l h^2 (1 + s/(6h) + V/(12 l h)): attention over matrices is s/(6h)
    def flops(seq_len):
        args = {"num_layers": 1, "hidden_size": 4096, "recompute": "none"}
        return float(megatron_flops_per_iteration(1, seq_len=seq_len, vocab_size=1, **args)) / seq_len

    attention_of_one_token = flops(2) - flops(1)
    share = 1000 * attention_of_one_token / (flops(1) - attention_of_one_token)
    assert board.attention_share(1000, 4096) == pytest.approx(share / 2, rel=1e-4)


def test_attention_catches_up_at_twelve_widths():
    assert board.crossing_tokens(8192) == pytest.approx(98304)
    assert board.attention_share(98304, 8192) == pytest.approx(1.0)


def test_the_rescale_makes_a_sum_of_exponentials_right():
    seen, new = np.array([2.0, 1.5, -1.0]), 5.0
    before = np.exp(seen - seen.max()).sum()
    whole = np.exp(np.append(seen, new) - new).sum()
    assert before * board.rescale(seen.max(), new) + 1 == pytest.approx(whole)
    assert board.rescale(2, 5) == pytest.approx(math.exp(-3))


def test_backward_counts_two_and_a_half_forwards():
    # arXiv:2307.08691, section 4.1
    assert board.tiled_training_flops(2.0) == pytest.approx(7.0)
    assert board.unfused_training_flops(2.0) == pytest.approx(6.0)


def test_floors_take_the_slower_of_bytes_and_flops():
    assert board.moved_floor_s(3.35e9, H100) == pytest.approx(1e-3)
    assert board.kernel_floor_s(989.4e9, 1.0, H100) == pytest.approx(1e-3)
    assert board.kernel_floor_s(1.0, 3.35e9, H100) == pytest.approx(1e-3)


def test_a_graph_gains_nothing_where_the_gpu_is_busy():
    assert board.graph_gain(800, 5e-6, 2.5e-3, 20e-6) == pytest.approx(4.0 / 2.52)
    assert board.graph_gain(100, 5e-6, 2.5e-3, 20e-6) < 1


def test_fusion_gains_amdahls_share():
    assert board.fusion_gain(0.4, 2) == pytest.approx(1.25)
    assert board.fusion_gain(0.4, 1e12) == pytest.approx(1 / 0.6)
