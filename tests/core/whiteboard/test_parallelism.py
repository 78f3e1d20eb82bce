"""Parallelism on the whiteboard, against the Megatron papers and sums worked by hand."""

import pytest

from core.hardware import load_accelerators
from core.pipeline_schedule import pipeline_schedule
from core.units import GB, MB
from core.whiteboard import parallelism as board

H100 = load_accelerators()["h100-sxm"]
A100 = load_accelerators()["a100-sxm-80gb"]


def test_a_bubble_is_the_idle_share_of_a_schedule_played_out():
    assert board.bubble_share(4, 8) == pytest.approx(pipeline_schedule(4, 8).bubble_of_total)
    assert board.bubble_share(8, 32) == pytest.approx(7 / 39)


def test_interleaving_divides_the_bubble_as_in_the_paper():
    # Narayanan et al. 2021, arXiv:2104.04473, figure 4: four stages, eight micro-batches, two chunks
    assert board.interleaved_bubble(4, 8, 2) == pytest.approx(0.1875)
    assert board.interleaved_bubble(4, 8, 1) == pytest.approx(0.375)


@pytest.mark.parametrize(("stages", "share"), [(8, 0.1), (4, 0.05), (16, 0.2), (16, 0.05)])
def test_one_micro_batch_fewer_breaks_the_limit(stages, share):
    least = board.min_micro_batches(stages, share)
    assert board.bubble_share(stages, least) <= share + 1e-12 < board.bubble_share(stages, least - 1)


def test_the_trillion_run_had_six_replicas_and_512_micro_batches():
    # arXiv:2104.04473, table 1: 3,072 GPUs, tensor 8, pipeline 64, batch 3,072
    assert board.replicas(3072, 8, 64) == 6
    assert board.micro_batches_per_replica(3072, 6) == 512


def test_degrees_that_do_not_divide_are_refused():
    with pytest.raises(ValueError, match="no multiple"):
        board.replicas(1000, 8, 16)
    with pytest.raises(ValueError, match="no multiple of a copy's 64 GPUs"):
        board.replicas(1000, 8, 4, 2)
    with pytest.raises(ValueError, match="does not divide"):
        board.micro_batches_per_replica(1000, 6)


def test_tensor_parallelism_sends_two_all_reduces_a_layer():
    # 2 x 2 (8 - 1)/8 x 4096 x 8192 x 2 bytes
    assert board.tensor_layer_bytes(4096, 1, 8192, 8) / MB == pytest.approx(234.88, abs=0.01)
    assert board.tensor_layer_floor_s(4096, 1, 8192, 8, H100) == pytest.approx(234.881e6 / 450e9, rel=1e-5)


def test_without_a_scale_up_link_there_is_no_floor():
    with pytest.raises(ValueError, match="no scale-up link"):
        board.tensor_layer_floor_s(1, 1, 1, 8, H100.edited(scale_up_bytes_per_s=None, scale_up_link=None))


def test_the_boundary_of_a_stage_carries_one_hidden_tensor():
    assert board.hidden_bytes(8192, 1, 8192) == 2**27


def test_a_step_of_tensor_parallelism_is_four_all_reduces_a_layer_and_sequence():
    # 2 x 2 x 2 (8 - 1)/8 tensors of 41.9 MB, 40 layers, 64 sequences
    assert board.tensor_step_bytes(4096, 64, 5120, 40, 8) == pytest.approx(4 * 1.75 * 41_943_040 * 40 * 64)


def test_a_stage_sends_activations_on_and_gradients_back():
    assert board.pipeline_step_bytes(4096, 64, 5120) == 2 * 64 * 41_943_040
    assert board.pipeline_step_bytes(4096, 64, 5120, 8) == 16 * 41_943_040


def test_a_layers_products_follow_megatrons_count():
    # forward is a third of 72 b s h^2 (1 + s / (6h)), attention halved by the mask: 24 b s h^2 (1 + s / (12h))
    flops = 24 * 2048 * 12288**2 * (1 + 2048 / (12 * 12288))
    assert board.layer_forward_floor_s(2048, 1, 12288, 8, A100) == pytest.approx(flops / 8 / 312e12)


def test_a_hop_of_ring_attention_carries_keys_and_values_of_one_chunk():
    assert board.ring_hop_bytes(131072, 8, 8, 128) == 2 * 16384 * 1024 * 2


def test_a_ring_hides_from_peak_over_bandwidth_without_grouped_heads():
    # Liu et al. 2023, arXiv:2310.01889, table 2: A100 on 12.5 GB/s prints 24.5K tokens (312/12.5 is 25.0)
    assert board.ring_hidden_chunk(A100, 12.5e9, 1, 1) == pytest.approx(24.5e3, rel=0.02)
    # the same over NVLink of 300 GB/s: 1.0K tokens
    assert board.ring_hidden_chunk(A100, 300e9, 1, 1) == pytest.approx(1.0e3, rel=0.05)
    grouped = board.ring_hidden_chunk(H100, 50e9, 8192, 1024)
    assert grouped == pytest.approx(989.4e12 / 50e9 / 8)
    assert board.ring_hidden_chunk(H100, 50e9, 8192, 1024, 1) == 2 * grouped


@pytest.mark.parametrize(("gpus", "heads", "copies"), [(16, 8, 2), (8, 8, 1), (4, 8, 1), (16, 2, 8)])
def test_kv_heads_are_copied_once_they_run_out(gpus, heads, copies):
    assert board.kv_copies(gpus, heads) == copies


def test_experts_exchange_every_copy_but_the_one_in_place():
    # 8 copies of 7168 elements of 2 bytes, out and back, 63 of 64 leave
    assert board.expert_exchange_bytes(8, 7168, 64) == pytest.approx(2 * 8 * 7168 * 2 * 63 / 64)


def test_hybrid_sharding_keeps_what_the_group_leaves():
    assert board.hybrid_shard_states_bytes(7e9, 8) / GB == pytest.approx(14)


def test_a_trillion_on_512_gpus_a_copy_keeps_31_gb_of_states():
    assert board.mesh_states_bytes(1008e9, 8, 64, 6, 0) / GB == pytest.approx(31.5)
    assert board.mesh_states_bytes(1008e9, 8, 64, 6, 1) / GB == pytest.approx(1.96875 * 6)


def test_the_first_stage_keeps_all_layers_worth_whatever_the_depth():
    assert board.first_stage_bytes(1.0, 128, 64, 512) == board.first_stage_bytes(1.0, 128, 16, 512) == 128
    # interleaved: 1 + (p - 1) / (p v), arXiv:2205.05198, section 4.2.3
    assert board.first_stage_bytes(1.0, 128, 64, 512, 2) == pytest.approx(128 * (1 + 63 / 128))


def test_gradients_are_reduced_in_two_passes():
    assert board.data_reduce_bytes(1e9, 8) == pytest.approx(2 * 7 / 8 * 2e9)


def test_a_step_is_six_flops_a_parameter_and_token_or_eight():
    assert board.step_compute_floor_s(1e9, 1e6, 10, H100) == pytest.approx(6e15 / 9.894e15)
    assert board.step_compute_floor_s(1e9, 1e6, 10, H100, 1) == pytest.approx(8e15 / 9.894e15)
