"""Serving on the whiteboard, held to printed numbers and to sums worked by hand."""

from __future__ import annotations

import pytest

from core.hardware import load_accelerators
from core.kv_cache import kv_bytes
from core.model_spec import load_models
from core.whiteboard import serving

H100 = load_accelerators()["h100-sxm"]


def test_a_70b_model_on_four_h100_by_hand():
    # 140 GB of weights and 32 caches of 1.34 GB are 182.88 GB; over 13.4 TB/s that is 13.648 ms.
    assert serving.decode_step_floor_s(140e9, 1.34e9, 32, 13.4e12) == pytest.approx(13.648e-3, rel=1e-4)
    assert serving.decode_tokens_per_s(140e9, 1.34e9, 32, 13.4e12) == pytest.approx(2344.7, rel=1e-4)


def test_one_card_of_2_tb_per_s_counted_alike_on_both_sides():
    # 141.34 GB make 14.15 tokens/s alone, 182.88 GB make 350 for 32: a gain of 24.7 and not 350/14.29.
    assert serving.decode_tokens_per_s(140e9, 1.34e9, 1, 2e12) == pytest.approx(14.15, abs=0.005)
    assert serving.decode_tokens_per_s(140e9, 1.34e9, 32, 2e12) == pytest.approx(350, abs=0.5)
    assert serving.batch_gain(140e9, 1.34e9, 32) == pytest.approx(24.73, abs=0.005)


def test_without_a_cache_a_batch_gains_its_size():
    assert serving.batch_gain(140e9, 0.0, 32) == pytest.approx(32)


def test_gpt3_on_eight_h100_by_hand():
    # 2 x 96 layers x 96 heads x 128 x 2 B = 4,718,592 B a token, 19.327 GB at 4,096; 576 GB less 350 hold 11.69.
    cache = 4_718_592 * 4096.0
    assert serving.requests_that_fit(576e9, 350e9, cache) == 11
    assert serving.decode_step_floor_s(350e9, cache, 11, 26.8e12) == pytest.approx(20.99e-3, rel=1e-3)
    assert serving.decode_tokens_per_s(350e9, cache, 11, 26.8e12) == pytest.approx(524, abs=0.5)
    assert serving.decode_intensity(175e9, 350e9, cache, 11) == pytest.approx(6.84, abs=0.005)


def test_a_ceiling_is_that_of_bytes_until_arithmetic_takes_longer():
    # 11 full caches of GPT-3: bytes decide, 524 tok/s. With 8 KV heads a cache of 1,000 tokens is 0.393 GB and 574 fit:
    # 350 + 225.7 GB over 26.8 TB/s take 21.5 ms, 2 x 175e9 x 574 FLOP over 8 x 989.4 TFLOP/s 25.4 ms.
    shape = (175e9, 350e9, 4_718_592 * 4096.0)
    assert serving.decode_ceiling_tokens_per_s(*shape, 11, 8, H100) == pytest.approx(524, abs=0.5)
    narrow = serving.decode_ceiling_tokens_per_s(175e9, 350e9, 393_216_000.0, 574, 8, H100)
    assert narrow == pytest.approx(574 / 25.38e-3, rel=1e-3)
    # Then only arithmetic counts, whatever a cache takes.
    assert serving.decode_ceiling_tokens_per_s(175e9, 175e9, 1e6, 574, 8, H100) == pytest.approx(narrow)


def test_a_request_that_lives_on_one_gpu_cannot_use_what_the_others_have_left():
    # Eight GPUs with 54.5 GB each after their share of the weights; a cache is 2.3027 GB: 23.67 on one, 189.3 on all.
    each = (72e9, 17.5e9, 2.3027e9)
    assert serving.requests_that_fit_in_groups(8, 1, *each) == 8 * 23
    assert serving.requests_that_fit_in_groups(8, 4, *each) == 2 * 94
    assert serving.requests_that_fit_in_groups(8, 8, *each) == serving.requests_that_fit(576e9, 140e9, 2.3027e9) == 189
    with pytest.raises(ValueError, match="whole"):
        serving.requests_that_fit_in_groups(8, 3, *each)


def test_a_step_of_15_ms_admits_two_of_them_and_none_at_90_percent_of_the_bandwidth():
    cache = 4_718_592 * 4096.0
    assert serving.requests_within_step(15e-3, 350e9, cache, 26.8e12) == 2
    assert serving.requests_within_step(15e-3, 350e9, cache, 0.9 * 26.8e12) == 0
    assert serving.requests_within_step(13e-3, 350e9, cache, 26.8e12) == 0  # the weights alone take 13.06 ms


def test_a_prefix_is_stored_once():
    # Room for 10 caches of 1. Half of the requests share half of theirs: 0.75 each, and one copy of 0.5 for all.
    assert serving.requests_with_shared_prefix(10.0, 0.0, 1.0, 0.5, 0.5) == 12
    assert serving.requests_with_shared_prefix(10.0, 0.0, 1.0, 0.0, 0.0) == 10
    assert serving.requests_with_shared_prefix(10.0, 0.0, 1.0, 1.0, 0.5) == 19


def test_load_by_hand():
    # 2 a second, each 70 ms of prefill and 400 of 733 tokens/s: 2 x (0.07 + 0.5457) = 1.23, more than there is.
    assert serving.server_load(2, 0.07, 400, 733) == pytest.approx(1.2314, rel=1e-4)
    with pytest.raises(ValueError, match="tokens_per_s"):
        serving.server_load(2, 0.07, 400, 0)


def test_the_cache_of_gpt3_is_what_the_model_spec_says():
    model = load_models()["openai/gpt-3-175b"]
    assert float(kv_bytes(model, 4096)) == 4_718_592 * 4096


def test_prefill_of_8_000_tokens_by_hand():
    # 2 x 70e9 x 8,000 = 1.12e15 FLOP over half of 4 x 989.4 TFLOP/s.
    assert serving.prefill_s(70e9, 8000, 4, 0.5, H100) == pytest.approx(0.566, rel=1e-3)
    assert serving.prefill_s(70e9, 8000, 8, 1.0, H100) == pytest.approx(0.566 / 4, rel=1e-3)


def test_a_chunk_is_the_prompt_whose_prefill_takes_the_budget():
    tokens = serving.prefill_chunk_tokens(70e9, 40e-3, 4, 0.5, H100)
    assert tokens == pytest.approx(565.4, abs=0.05)
    assert serving.prefill_s(70e9, tokens, 4, 0.5, H100) == pytest.approx(40e-3)


def test_the_first_token_and_the_others():
    assert serving.end_to_end_s(0.4, 0.03, 500) == pytest.approx(15.37)
    assert serving.end_to_end_s(0.4, 0.03, 1) == pytest.approx(0.4)


def test_littles_law():
    assert serving.concurrency(8, 15) == 120
    with pytest.raises(ValueError, match="requests_arriving_per_s"):
        serving.concurrency(0, 15)


def test_a_queue_at_80_percent_waits_four_service_times():
    # rho / (1 - rho) service times: 0.8 / 0.2 = 4 of 100 ms.
    assert serving.mm1_wait_s(8, 10) == pytest.approx(0.4)
    with pytest.raises(ValueError, match="greater than 0"):
        serving.mm1_wait_s(10, 10)


# Leviathan et al. 2022, arXiv:2211.17192, table 1: acceptance, draft tokens, printed speed-up of a free draft.
@pytest.mark.parametrize(("acceptance", "draft", "printed"), [(0.6, 2, 1.96), (0.7, 3, 2.53), (0.9, 10, 6.86)])
def test_speculation_as_printed(acceptance, draft, printed):
    assert serving.verification_tokens(acceptance, draft) == pytest.approx(printed, abs=0.005)
    assert serving.speculation_speedup_memory_bound(acceptance, draft, 0.0) == pytest.approx(printed, abs=0.005)


def test_speculation_on_both_sides_of_the_roof_by_hand():
    # 1 + 0.8 + 0.64 + 0.512 + 0.4096 = 3.3616 tokens; over 1.2 steps, and over 5.2.
    assert serving.speculation_speedup_memory_bound(0.8, 4, 0.05) == pytest.approx(3.3616 / 1.2)
    assert serving.speculation_speedup_compute_bound(0.8, 4, 0.05) == pytest.approx(3.3616 / 5.2)


def test_checking_costs_one_step_at_small_batches_and_one_a_token_at_vast_ones():
    shape = {"num_params": 70e9, "weight_bytes": 140e9, "draft_tokens": 4, "num_gpus": 8, "accelerator": H100}
    assert serving.verify_cost(batch=1, kv_bytes_per_request=1.34e9, **shape) == 1.0
    assert serving.verify_cost(batch=1e6, kv_bytes_per_request=0.0, **shape) == pytest.approx(5.0)


def test_checking_at_a_batch_of_256_by_hand():
    # 5 x 256 tokens x 140 GFLOP = 179.2 TFLOP over 7,915 TFLOP/s: 22.64 ms. A plain step reads 140 + 256 x 0.168 GB
    # = 183 GB over 26.8 TB/s: 6.829 ms. 3.3616 tokens over 3.315 + 0.2 steps lose.
    shape = (70e9, 140e9, 0.168e9, 256)
    assert serving.checking_floor_s(*shape, 5, 8, H100) == pytest.approx(22.64e-3, rel=1e-3)
    assert serving.checking_floor_s(*shape, 1, 8, H100) == pytest.approx(6.829e-3, rel=1e-3)
    assert serving.speculation_speedup(0.8, 4, 0.05, *shape, 8, H100) == pytest.approx(0.9563, rel=1e-3)


@pytest.mark.parametrize(("acceptance", "draft", "cost", "cache"), [(0.8, 4, 0.05, 0.328e9), (0.7, 3, 0.1, 0.164e9)])
def test_break_even_is_the_last_batch_that_gains(acceptance, draft, cost, cache):
    def gain(batch: float) -> float:
        return serving.speculation_speedup(acceptance, draft, cost, 70e9, 140e9, cache, batch, 8, H100)

    last = serving.speculation_gains_up_to(acceptance, draft, cost, 70e9, 140e9, cache, 1e4, 8, H100)
    assert 100 < last < 1000
    assert gain(last) >= 1 > gain(last + 1)


def test_long_caches_keep_speculation_gaining_at_every_batch_that_fits():
    # Sadhukhan et al. 2024, arXiv:2408.11049: caches keep large batches of long contexts bound by memory.
    shape = (0.8, 4, 0.05, 70e9, 140e9, 5.24e9)
    assert serving.speculation_gains_up_to(*shape, 83, 8, H100) == 83
    assert serving.speculation_speedup(*shape, 83, 8, H100) > 1
    # A draft that costs more than it yields never gains: 1.1 tokens for 0.5 of a step each.
    assert serving.speculation_gains_up_to(0.1, 1, 0.5, 70e9, 140e9, 1e9, 83, 8, H100) == 0
    assert serving.speculation_speedup(0.1, 1, 0.5, 70e9, 140e9, 1e9, 1, 8, H100) < 1


def test_a_hand_off_by_hand():
    # 8,000 tokens of 327,680 B are 2.62 GB, 52.4 ms at 50 GB/s.
    assert serving.kv_transfer_s(8000, 327_680, 50e9) == pytest.approx(52.4e-3, rel=1e-3)


@pytest.mark.parametrize(
    ("rate", "seconds", "load", "workers"), [(12, 0.35, 0.7, 6), (12, 0.8, 0.7, 14), (1, 0.1, 1, 1)]
)
def test_workers_are_whole_and_a_round_quotient_is_not_rounded_up(rate, seconds, load, workers):
    assert serving.prefill_workers(rate, seconds, load) == workers


def test_the_tail_of_a_hundred_calls():
    # Dean and Barroso 2013, The Tail at Scale: 63% of requests.
    assert serving.slow_request_share(100, 0.01) == pytest.approx(0.63, abs=0.005)


def test_adapters_by_hand():
    # 2 x 16 x 8,192 x 320 x 2 B = 167.8 MB; 10 GB hold 59.6 of them.
    assert serving.adapters_in_pool(10e9, 16, 8192, 320, 2) == 59
    assert serving.adapters_in_pool(167_772_160.0 * 3, 16, 8192, 320, 2) == 3
