"""Whiteboard sums of hardware against printed numbers and sums worked by hand."""

import pytest

from core.hardware import load_accelerators
from core.whiteboard import hardware

CARDS = load_accelerators()
H100, A100 = CARDS["h100-sxm"], CARDS["a100-sxm-80gb"]


def test_moving_bytes_takes_their_number_over_the_rate():
    # Kipply 2022: 104 GB of weights over an A100's 1.5 TB/s are 69 ms.
    assert hardware.move_floor_s(104e9, 1.5e12) == pytest.approx(0.069, abs=0.0005)


def test_weights_of_a_70b_on_four_h100():
    # 140 GB over 13.4 TB/s.
    assert hardware.weight_read_floor_s(70e9, 2, 4, 3.35e12) == pytest.approx(10.45e-3, abs=5e-6)


def test_175b_in_16_bit_need_five_cards_of_80_gb():
    assert hardware.gpus_for_weights(175e9, 2, 80e9, 1.0) == 5  # 350 / 80 = 4.4
    assert hardware.gpus_for_weights(160e9, 2, 80e9, 1.0) == 4  # exactly full
    assert hardware.gpus_for_weights(160e9, 2, 80e9, 0.9) == 5
    with pytest.raises(ValueError, match="usable_share=90 must be a share"):
        hardware.gpus_for_weights(70e9, 2, 80e9, 90)


def test_nvlink_of_an_h100_is_nine_ports_of_400():
    # 900 GB/s both ways are 450; 400 Gb/s are 50.
    assert hardware.link_ratio(900e9, 400e9) == pytest.approx(9)


def test_tiles_of_flashattention():
    # 128 KiB hold 65,536 two-byte elements; 65,536 / (4 x 128) = 128.
    assert hardware.key_block_rows(128 * 1024, 128) == 128


def test_elementwise_kernels_move_each_tensor_once():
    # 1e9 elements: 6 GB over 2.039 TB/s; a chain of five unary kernels moves 20 GB.
    assert hardware.add_floor_s(1e9, A100) == pytest.approx(2.9426e-3, rel=1e-4)
    assert hardware.unary_chain_floor_s(1e9, 5, A100) == pytest.approx(20 / 2039, rel=1e-9)
    assert hardware.elementwise_floor_s(1e9, 2, A100) * 5 == pytest.approx(hardware.unary_chain_floor_s(1e9, 5, A100))
    assert hardware.fusion_traffic_ratio(5) == 5


def test_launches_as_a_share_of_a_step():
    # 1,000 launches of 5 us are 5 ms of 20.
    assert hardware.launch_share(1000, 5e-6, 20e-3) == pytest.approx(0.25)


def test_waves_by_hand():
    # 256 x 256 in tiles of 128 are 4 tiles: one wave on 4 SMs, and two on 3 SMs of which 4 slots of 6 are filled.
    assert hardware.wave_efficiency(256, 256, 128, 4) == 1
    assert hardware.wave_efficiency(256, 256, 128, 3) == pytest.approx(4 / 6)
    # One row more begins another row of tiles: 6 tiles in two waves of 4.
    assert hardware.wave_efficiency(257, 256, 128, 4) == pytest.approx(6 / 8)


def test_energy_by_hand():
    # 10 GPUs of 1 kW for 100 h are 1,000 kWh, at 0.10 a kWh 100.
    assert hardware.energy_cost(10, 1000, 100 * 3600, 0.10 / 3.6e6) == pytest.approx(100)


def test_what_tensor_parallelism_sends_in_a_layer():
    # 4,096 tokens of 8,192 in 16 bit are 67.1 MB; two ring all-reduces over 8 send 2 x 2 x 7/8 of that.
    assert hardware.hidden_state_bytes(4096, 8192) == 67_108_864
    assert hardware.tensor_parallel_sent_bytes(4096, 8192, 8) == pytest.approx(3.5 * 67_108_864)


def test_a_layer_s_forward_floor():
    # 2 x 1e9 x 312 FLOP on two A100 are 1 ms.
    assert hardware.layer_forward_floor_s(1e9, 312, 2, A100) == pytest.approx(1e-3)


def test_batch_below_the_ridge_reaches_its_share():
    # 989.4 / 3.35 = 295.3 FLOP a byte.
    assert hardware.peak_share_of_batch(1, H100) == pytest.approx(0.003386, abs=1e-6)
    assert hardware.peak_share_of_batch(1000, H100) == 1
