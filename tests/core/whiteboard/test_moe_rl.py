"""Experts and rollouts on the whiteboard, held to printed numbers and to sums worked by hand."""

from __future__ import annotations

from itertools import product

import pytest

from core.hardware import load_accelerators
from core.model_spec import load_models
from core.params import count_params
from core.serving import decode_floor_s
from core.whiteboard import moe_rl

ACCELERATORS = load_accelerators()
H100, H200 = ACCELERATORS["h100-sxm"], ACCELERATORS["h200-sxm"]


def test_deepseek_v3_uses_37_of_671_billion():
    # DeepSeek-AI 2024, arXiv:2412.19437, abstract. 58 layers of 256 experts with three 7168 x 2048 matrices each.
    expert = 58 * 3 * 7168 * 2048
    common = count_params(load_models()["deepseek-ai/DeepSeek-V3"]).total - 256 * expert
    share = moe_rl.active_share(common, 256, 8, expert)
    assert share == pytest.approx(37 / 671, rel=0.02)  # the abstract's 37B leave the input embedding out
    assert common / 1e9 == pytest.approx(17.1, abs=0.05)
    assert expert / 1e9 == pytest.approx(2.554, abs=0.001)


def test_distinct_experts_counted_over_every_way_to_route():
    # Two tokens choosing one of three experts each: of nine ways three hit one expert and six hit two.
    ways = [len({first, second}) for first, second in product(range(3), repeat=2)]
    assert moe_rl.distinct_experts(3, 1, 2) == pytest.approx(sum(ways) / len(ways))


def test_distinct_experts_by_hand():
    # 256 x (1 - (248/256)^32) = 256 x (1 - 0.36206) = 163.3
    assert moe_rl.distinct_experts(256, 8, 32) == pytest.approx(163.3, abs=0.05)
    assert moe_rl.distinct_experts(256, 8, 1) == pytest.approx(8)
    assert moe_rl.distinct_experts(8, 8, 1) == pytest.approx(8)


def test_tokens_of_an_expert():
    assert moe_rl.tokens_per_expert(256, 8, 256) == 8
    # DeepSeek-AI 2024, arXiv:2412.19437, section 3.4.2: in decoding an expert's batch is usually within 256 tokens.
    assert moe_rl.tokens_per_expert(8192, 8, 256) == 256


def test_experts_cross_the_ridge_e_over_k_later_than_a_dense_layer():
    # 989.4 / 3.35 = 295.3 and 989.4 / 4.8 = 206.1 FLOP a byte; 256/8 = 32 times that.
    assert moe_rl.dense_critical_batch(H100) == pytest.approx(295.3, abs=0.05)
    assert moe_rl.dense_critical_batch(H200) == pytest.approx(206.1, abs=0.05)
    assert moe_rl.critical_batch(256, 8, H100) == pytest.approx(9451, abs=1)
    assert moe_rl.critical_batch(8, 8, H200) == moe_rl.dense_critical_batch(H200)


@pytest.mark.parametrize(
    ("factor", "tokens", "top_k", "experts", "slots"),
    [(1.0, 6, 1, 3, 2), (1.5, 6, 1, 3, 3), (1.25, 4096, 2, 64, 160), (1.1, 10, 1, 1, 11), (1.0, 7, 1, 2, 4)],
)
def test_slots_as_in_the_drawing_of_the_switch_transformer(factor, tokens, top_k, experts, slots):
    # The first two are figure 3 of arXiv:2101.03961: six tokens, three experts, factors 1.0 and 1.5.
    assert moe_rl.expert_slots(factor, tokens, top_k, experts) == slots


def test_the_hottest_sets_the_pace():
    assert moe_rl.hottest_over_mean(180, 100) == pytest.approx(1.8)
    with pytest.raises(ValueError, match="mean_tokens"):
        moe_rl.hottest_over_mean(180, 0)


def test_experts_of_a_gpu():
    assert moe_rl.expert_bytes_per_gpu(256, 2.5e9, 32, 1) == 20e9


def test_the_exchange_by_hand():
    # 4,096 tokens x 8 x 7,168 x 2 B = 469.8 MB; 63/64 of it both ways at 50 GB/s.
    assert moe_rl.exchange_s(4096, 8, 7168, 2, 64, 50e9) == pytest.approx(18.497e-3, rel=1e-4)
    assert moe_rl.exchange_s(4096, 8, 7168, 2, 1, 50e9) == 0


def test_the_exchange_of_deepseek_v3_as_printed():
    # Zhao et al. 2025, arXiv:2505.09343, section 2.3.2: 32 tokens to 9 places, 1 + 2 bytes, width rounded to 7,000:
    # 120.96 us a layer; with two micro-batches in 61 layers 14.76 ms a token.
    args = {"top_k": 9, "hidden_size": 7000, "dispatch_bytes": 1, "combine_bytes": 2, "link_bytes_per_s": 50e9}
    assert moe_rl.exchange_step_s(32, layers=1, **args) == pytest.approx(120.96e-6, rel=1e-4)
    assert 2 * moe_rl.exchange_step_s(32, layers=61, **args) == pytest.approx(14.76e-3, abs=0.005e-3)
    # solved for the tokens: that time holds the 64 of both micro-batches
    assert moe_rl.tokens_within_exchange(14.76e-3, layers=61, **args) == 64


def test_deepseek_v3_needs_more_than_one_node_of_h100():
    # 17.1 + 653.9/8 GB are above the 72 GB that nine tenths of 80 leave; over 32 GPUs there is room for caches.
    cache = 70_272 * 4096.0
    assert moe_rl.requests_per_gpu(72e9, 17.1e9, 653.9e9, 8, cache) == 0
    # 72 - 17.1 - 20.43 = 34.47 GB over 0.28783 GB
    assert moe_rl.requests_per_gpu(72e9, 17.1e9, 653.9e9, 32, cache) == 119


def test_a_step_reads_what_all_share_and_the_experts_that_were_chosen():
    assert moe_rl.decode_read_bytes(17e9, 2.55e9, 256, 8, 1) == pytest.approx(17e9 + 8 * 2.55e9)
    assert moe_rl.decode_read_bytes(17e9, 2.55e9, 256, 8, 1e6) == pytest.approx(17e9 + 256 * 2.55e9)


def test_the_read_agrees_with_the_floor_of_the_whole_model():
    # The core counts every matrix of DeepSeek-V3 in 8 bits; the whiteboard takes 17.1 and 2.554 GB. The cache is small.
    model = load_models()["deepseek-ai/DeepSeek-V3"]
    floor = decode_floor_s(model, H200, 1, batch=32, tensor_parallel=1, weight_dtype="fp8", kv_dtype="bf16")
    read = moe_rl.decode_read_bytes(17.1e9, 2.554e9, 256, 8, 32)
    assert float(floor) == pytest.approx(read / H200.hbm_bytes_per_s, rel=0.02)


def test_amdahl_on_generation():
    assert moe_rl.rl_step_speedup(0.7, 2) == pytest.approx(1 / 0.65)
    assert moe_rl.rl_step_speedup(1.0, 3) == pytest.approx(3)
    assert moe_rl.rl_step_speedup(0.0, 3) == 1
    with pytest.raises(ValueError, match="generation_share"):
        moe_rl.rl_step_speedup(70, 2)


def test_waiting_for_the_longest_answer_by_hand():
    lengths = [1000, 1000, 2000, 4000]
    busy = sum(lengths) / (len(lengths) * max(lengths))
    assert moe_rl.rollout_efficiency(2000, 4000) == pytest.approx(busy)


def test_a_push_and_a_batch_of_rollouts_by_hand():
    assert moe_rl.weight_push_s(70e9, 2, 400e9) == pytest.approx(0.35)
    assert moe_rl.rollout_s(512, 8, 2000, 50_000) == pytest.approx(163.84)
