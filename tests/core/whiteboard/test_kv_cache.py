"""The KV cache on the whiteboard, held to published sizes, to whole models of the core and to sums by hand."""

from __future__ import annotations

import numpy as np
import pytest

from core.hardware import load_accelerators
from core.kv_cache import kv_bytes
from core.model_spec import load_models
from core.prefix_cache import shared_prefix_bytes
from core.units import GB, KIB
from core.whiteboard import kv_cache, serving

H100 = load_accelerators()["h100-sxm"]
LLAMA_70B = load_models()["meta-llama/Llama-3.1-70B"]


# OPT-13B: Kwon et al. 2023, arXiv:2309.06180, section 3: 800 KB (of 1,024) a token.
@pytest.mark.parametrize(("shape", "kib"), [((40, 40, 128, 2), 800), ((80, 8, 128, 2), 320), ((80, 8, 128, 1), 160)])
def test_bytes_of_a_token(shape, kib):
    assert kv_cache.token_bytes(*shape) == kib * KIB


def test_a_catalog_model_counted_the_other_way():
    assert kv_cache.cache_bytes(80, 8, 128, 2, 4096) == float(kv_bytes(LLAMA_70B, 4096))
    assert kv_cache.cache_bytes(80, 8, 128, 2, 4096, 32) == pytest.approx(42.95 * GB, rel=1e-4)


def test_sharing_heads_saves_the_size_of_a_group():
    assert kv_cache.gqa_saving(64, 8) == 8
    assert kv_cache.gqa_saving(96, 96) == 1


def test_latents_as_published():
    # DeepSeek-AI 2025, arXiv:2505.09343, table 1: 70.272 KB a token for DeepSeek-V3 in 16 bits.
    assert kv_cache.latent_token_bytes(61, 512, 64, 2) == 70_272
    # DeepSeek-V2, arXiv:2405.04434, section 2.1.4: as much as GQA with 2.25 groups of heads of 128.
    assert kv_cache.latent_saving(128, 128, 512, 64) == pytest.approx(128 / 2.25)


def test_the_last_block_is_half_empty_less_half_a_token():
    # 16 tokens a block: 0 to 15 empty places, 7.5 on average.
    assert kv_cache.page_tail_bytes(16, 320 * KIB) == 7.5 * 320 * KIB
    assert kv_cache.page_tail_bytes(1, 320 * KIB) == 0


def test_requests_that_fill_their_blocks_have_no_tail():
    assert kv_cache.page_tail_bytes(16, 320 * KIB, 0) == 0
    assert kv_cache.page_tail_bytes(16, 320 * KIB, 0.5) == 3.75 * 320 * KIB
    # 1,024 tokens of 1 MB are 64 whole blocks: 10 fit into 10.24 GB, and 9 where ends are empty.
    assert kv_cache.paged_requests(10.24e9, 1e6, 1024, 16, 0) == 10
    assert kv_cache.paged_requests(10.24e9, 1e6, 1024, 16) == 9


def test_a_reservation_of_the_longest():
    assert kv_cache.reserved_share_lost(600, 2048) == pytest.approx(0.7070, abs=1e-4)
    with pytest.raises(ValueError, match="share from 0 to 1"):
        kv_cache.reserved_share_lost(2049, 2048)


def test_paged_requests_by_hand():
    # (3,000 + 7.5) x 327,680 B = 985.5 MB; 148 GB hold 150.2 of them.
    assert kv_cache.paged_requests(148e9, 327_680, 3000, 16) == 150
    assert kv_cache.paged_requests(148e9, 327_680, 3000, 1) == 150
    assert kv_cache.paged_requests(148e9, 327_680, 3000, 256) == 144


def test_paging_saves_what_its_paper_measured():
    # Kwon et al. 2023, arXiv:2309.06180, figure 2 and section 3.1: a reservation of 2,048 tokens of OPT-13B takes
    # 1.6 GB; requests that use a fifth to two fifths of theirs let paging hold 2.5 to 5 times as many.
    token = kv_cache.token_bytes(40, 40, 128, 2)
    reserved = serving.requests_that_fit(12e9, 0.0, 2048 * token)
    assert reserved == 7
    assert 2.5 < kv_cache.paged_requests(12e9, token, 0.3 * 2048, 16) / reserved < 5


def test_a_prefix_is_stored_once_as_the_core_counts_a_whole_model():
    ours = kv_cache.shared_prefix_saved_bytes(2000, 32, 327_680)
    assert ours == float(shared_prefix_bytes(LLAMA_70B, 2000, 32)) == pytest.approx(20.316 * GB, rel=1e-4)


def test_prefill_of_what_was_missed_by_hand():
    # 3,200 of 8,000 tokens x 140 GFLOP = 448 TFLOP over half of 4 x 989.4 TFLOP/s.
    assert kv_cache.prefill_after_hits_s(70e9, 8000, 0.6, 4, 0.5, H100) == pytest.approx(226.4e-3, rel=1e-3)


@pytest.mark.parametrize(
    ("tokens", "window", "share"), [(131_072, 4096, 1 / 32), (32_768, 4096, 1 / 8), (100, 4096, 1)]
)
def test_a_window_keeps_its_last_tokens(tokens, window, share):
    # Jiang et al. 2023, arXiv:2310.06825, section 2: an eighth of the cache at 32k tokens.
    assert kv_cache.window_cache_share(tokens, window) == share


def test_intensity_of_decode_attention_counted_on_arrays():
    heads, kv_heads, width, tokens = 64, 8, 128, 50
    keys = np.zeros((kv_heads, tokens, width), dtype=np.float16)
    flops = 2 * 2 * heads * tokens * width  # a product with keys and one with values, a multiply and an add each
    assert kv_cache.decode_attention_intensity(heads, kv_heads, 2) == flops / (2 * keys.nbytes) == 8
    assert kv_cache.decode_attention_intensity(64, 64, 2) == 1


def test_fetching_beats_computing_again_by_hand():
    # 140 GFLOP at 494.7 TFLOP/s: 283 us; 327,680 B at 50 GB/s: 6.55 us.
    assert kv_cache.refetch_gain(70e9, 327_680, 50e9, 0.5, H100) == pytest.approx(43.18, rel=1e-3)


def test_cache_and_weights_weigh_the_same_at_427_thousand_tokens():
    assert kv_cache.tokens_that_weigh_as_much(140e9, 327_680) == pytest.approx(427_246, abs=0.5)


def test_an_8_bit_cache_is_worth_half_a_percent_at_batch_one_and_much_at_long_context():
    short = 4096 * 327_680.0
    assert kv_cache.cache_share_of_step(140e9, short, 1) == pytest.approx(0.0095, abs=5e-5)
    assert kv_cache.narrow_cache_speedup(140e9, short, 1, 0.5) == pytest.approx(1.0048, abs=5e-5)
    # 32 requests of 32,768 tokens: 343.6 GB of cache beside 140; 483.6 over 311.8.
    assert kv_cache.narrow_cache_speedup(140e9, 8 * short, 32, 0.5) == pytest.approx(1.551, abs=5e-4)
    assert kv_cache.narrow_cache_speedup(1.0, 8 * short, 32, 0.5) == pytest.approx(2.0)
