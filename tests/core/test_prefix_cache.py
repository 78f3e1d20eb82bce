"""Prefix caching against counts by hand."""

import numpy as np
import pytest

from core.model_spec import load_models
from core.prefix_cache import cached_tokens, prefill_saved_share, shared_prefix_bytes
from core.units import GB
from tests.shapes import GPT_OSS_120B, LLAMA_70B

LLAMA = load_models()["meta-llama/Llama-3.1-70B"]


def test_only_whole_blocks_are_shared_and_never_the_last_token():
    assert list(cached_tokens(8000, [0.0, 0.5, 0.6, 1.0])) == [0, 4000, 4800, 7984]
    assert list(cached_tokens([16, 17, 32], 1.0)) == [0, 16, 16]
    assert cached_tokens(8000, 1.0, block_tokens=1) == 7999


# 32 requests that share 2,000 tokens of 327,680 bytes: 31 copies are avoided.
def test_a_shared_prefix_is_stored_once():
    assert shared_prefix_bytes(LLAMA_70B, 2000, 32) / GB == pytest.approx(20.32, abs=0.005)
    assert shared_prefix_bytes(LLAMA_70B, 2000, 1) == 0


def test_a_window_shares_no_more_than_it_holds():
    window, full = 18 * 2 * 8 * 64 * 2 * 128, 18 * 2 * 8 * 64 * 2 * 10_000
    assert shared_prefix_bytes(GPT_OSS_120B, 10_000, 2) == window + full


def test_a_hit_saves_less_than_its_share_of_a_long_prompt():
    saved = prefill_saved_share(LLAMA, [1000, 100_000], [500, 50_000])
    assert saved[0] == pytest.approx(0.5, abs=0.01)
    assert 0.3 < saved[1] < 0.4, "later tokens still attend to the cached ones"
    assert prefill_saved_share(LLAMA, 1000, 0) == 0


def test_hit_shares_by_lengths_give_a_grid():
    assert cached_tokens(np.array([[1000], [2000]]), np.linspace(0, 1, 5)).shape == (2, 5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cached_tokens(100, 1.5), "hit_share=1.5 must be a share from 0 to 1"),
        (lambda: cached_tokens(100, -0.5), "hit_share=-0.5 must be 0 or greater"),
        (lambda: shared_prefix_bytes(LLAMA_70B, 100, 0), "sequences=0 must be a whole number"),
    ],
)
def test_a_bad_input_is_refused_in_words(call, message):
    with pytest.raises(ValueError, match=message):
        call()
