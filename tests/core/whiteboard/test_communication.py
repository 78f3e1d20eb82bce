"""Communication on the whiteboard, against published figures and sums worked by hand."""

import pytest

from core.hardware import load_accelerators
from core.units import GB, MB
from core.units import MICROSECOND as US
from core.whiteboard import communication as board

H100 = load_accelerators()["h100-sxm"]
B200 = load_accelerators()["b200-sxm"]


@pytest.mark.parametrize(("ranks", "share"), [(1, 0.0), (2, 1.0), (8, 1.75), (512, 1.99609375)])
def test_a_ring_sends_less_than_twice_the_tensor_however_many_ranks(ranks, share):
    assert board.ring_sent_share(ranks) == pytest.approx(share)
    assert board.ring_sent_bytes(2 * GB, ranks) == pytest.approx(2 * GB * share)


def test_gradients_of_70b_take_5_6_seconds_through_one_port_each():
    # 140 GB twice over 50 GB/s is 5.6 s, less the last share of 1/n
    assert board.ring_floor_s(140 * GB, 4096, 50 * GB) == pytest.approx(5.6, rel=1e-3)


def test_a_ring_waits_for_every_message_and_sends_every_chunk():
    # 126 messages of 5 us, and 15.75 MB over 50 GB/s
    assert board.ring_time_s(8 * MB, 64, 5 * US, 50 * GB) == pytest.approx(630e-6 + 315e-6)
    assert board.ring_wait_s(64, 5 * US) == pytest.approx(630e-6)


def test_at_the_crossover_half_of_the_time_is_waiting():
    size = board.crossover_bytes(512, 3 * US, 25 * GB)
    assert size == pytest.approx(512 * 75e3)
    assert board.ring_time_s(size, 512, 3 * US, 25 * GB) == pytest.approx(2 * board.ring_wait_s(512, 3 * US))


def test_a_tree_climbs_its_levels_twice():
    assert board.tree_messages(512) == 18
    assert board.tree_messages(500) == 18  # a level that is not full is a level
    assert board.tree_step_ratio(512) == pytest.approx(1022 / 18)
    assert board.tree_wait_s(512, 5 * US) == pytest.approx(90e-6)


@pytest.mark.parametrize(("stage", "passes"), [(0, 2), (1, 2), (2, 2), (3, 3)])
def test_only_the_third_stage_of_zero_sends_more(stage, passes):
    # Rajbhandari et al. 2020, section 7: 2 Psi, and 3 Psi with stage 3; two bytes each
    assert board.data_parallel_bytes(7e9, 4096, stage) == pytest.approx(passes * 14e9, rel=1e-3)


def test_what_the_backward_pass_cannot_hide_is_exposed():
    assert board.exposed_s(0.240, 0.150, 0.5) == pytest.approx(0.165)
    assert board.exposed_s(0.1, 0.150, 0.8) == 0.0


def test_bus_bandwidth_is_that_of_the_nccl_tests_page():
    # nccl-tests, doc/PERFORMANCE.md: times 2 (n - 1)/n
    assert board.bus_bytes_per_s(200 * GB, 8) == pytest.approx(350 * GB)
    assert board.bus_bytes_per_s(200 * GB, 2) == pytest.approx(200 * GB)


def test_a_port_carries_its_part_of_the_node():
    assert board.hierarchical_port_bytes(16 * GB, 8, 32) == pytest.approx(2 * GB * 2 * 31 / 32)
    # eight GPUs' ports together carry what one port would for a node that reduces to one GPU
    assert 8 * board.hierarchical_port_bytes(16 * GB, 8, 32) == pytest.approx(board.ring_sent_bytes(16 * GB, 32))


def test_an_h100_needs_2475_tokens_to_hide_its_data_parallelism():
    # How to Scale Your Model, chapter GPUs: 990e12 / 400e9 = 2475 across nodes, 990e12 / 450e9 = 2200 inside one
    assert board.hiding_tokens(H100, 50 * GB, 8) == pytest.approx(2475, rel=1e-3)
    assert board.break_even_tokens(H100, 1.0, 450 * GB) == pytest.approx(2200, rel=1e-3)


def test_ports_faster_than_the_scale_up_link_wait_for_it():
    assert board.ring_entry_bytes_per_s(H100, 100 * GB, 8) == pytest.approx(450 * GB)
    assert board.ring_entry_bytes_per_s(B200, 100 * GB, 8) == pytest.approx(800 * GB)
    assert board.ring_entry_bytes_per_s(H100, 500 * GB, 1) == pytest.approx(500 * GB)


def test_accumulation_spreads_one_reduction():
    assert board.sync_s_per_sample(0.4, 4, 2) == pytest.approx(0.05)


def test_at_the_break_even_zero3_sends_as_long_as_it_computes():
    tokens = board.break_even_tokens(H100, 0.5, 320 * GB)
    sends = board.zero3_traffic_s(13e9, 1e9, 320 * GB)  # so many ranks that (n - 1)/n is 1
    assert board.compute_s(13e9, tokens, 0.5, H100) == pytest.approx(sends)
    # and plain data parallelism's reduction as long as the backward pass
    reduces = board.data_parallel_bytes(13e9, 1e9, 0) / (320 * GB)
    assert board.backward_s(13e9, tokens, 0.5, H100) == pytest.approx(reduces)


def test_one_unit_for_the_whole_model_hides_little():
    args = {"num_params": 13e9, "ranks": 64, "bytes_per_s": 320 * GB}
    sends = board.zero3_traffic_s(**args)
    assert sends == pytest.approx(6 * 13e9 * 63 / 64 / 320e9)
    assert board.zero3_edges_s(**args, units=1) == pytest.approx(sends * 2 / 3)
    assert board.zero3_edges_s(**args, units=40) == pytest.approx(sends / 60)


def test_an_overlapped_step_is_the_longer_of_both_and_its_edges():
    def step(tokens, lent):
        return board.overlapped_step_s(13e9, tokens, 0.5, 64, 320 * GB, 40, lent, H100)

    sends = board.zero3_traffic_s(13e9, 64, 320 * GB)
    edges = sends / 60
    work = board.compute_s(13e9, 8192, 0.5, H100)
    assert step(8192, 0.0) == pytest.approx(work + edges)
    assert step(8192, 16 / 132) == pytest.approx(work + edges + 16 / 132 * (sends - edges))
    assert step(512, 0.0) == pytest.approx(sends)  # bound by the links: nothing is faster than they are


def test_mfu_at_the_peak_is_one():
    assert board.mfu_of_step(7e9, 4096, board.compute_s(7e9, 4096, 1.0, H100), H100) == pytest.approx(1.0)
    assert board.mfu_of_step(7e9, 4096, board.compute_s(7e9, 4096, 0.4, H100), H100) == pytest.approx(0.4)


def test_one_late_in_a_hundred_delays_63_of_100_steps():
    # Dean and Barroso 2013
    assert board.late_step_share(100, 0.01) == pytest.approx(0.634, abs=5e-4)
