"""Attention cores and states: what each kind moves for each token that it sees."""

import numpy as np
import pytest

from core.mixer_operators import cached_elements, mixing_operators, seen_entries
from core.model_spec import LinearAttention
from core.work import Work
from tests.shapes import INDEXER, attention, compressed, mla

GPUS = np.ones(())


def core_of(mixer, phase, seq_len, *, absorbed=False, **options):
    return next(iter(mixing_operators(mixer, 1, Work.of(phase, seq_len, **options), absorbed=absorbed)))


# MHA, GQA, MQA and MLA with 64 heads of 128: bytes of cache, and the FLOPs that each of these bytes feeds.
@pytest.mark.parametrize(
    ("mixer", "elements", "intensity"),
    [
        (attention(64, 128), 64 * 256, 1),
        (attention(8, 128, heads=64), 8 * 256, 8),
        (attention(1, 128, heads=64), 256, 64),
    ],
)
def test_sharing_heads_raises_intensity_by_their_number(mixer, elements, intensity):
    assert cached_elements(mixer, GPUS, absorbed=False) == elements
    assert core_of(mixer, "decode", 100_000).intensity == pytest.approx(intensity, rel=0.01)


# DeepSeek-V3: 128 heads share one latent of 576: 2 x 128 x (576 + 512) FLOP for 1,152 bytes.
def test_absorbed_latents_lie_near_the_ridge():
    mixer = mla(1).mixers[0]
    assert cached_elements(mixer, GPUS, absorbed=True) == 576
    assert core_of(mixer, "decode", 100_000, absorbed=True).intensity == pytest.approx(241.8, rel=0.01)
    assert cached_elements(mixer, GPUS, absorbed=False) == 128 * (192 + 128)


def test_a_borrowed_cache_is_read_all_the_same():
    assert cached_elements(attention(8, 128, shares_kv=True), GPUS, absorbed=False) == 8 * 256


def test_entries_that_a_query_reads():
    lengths = np.array([100, 10_000])
    assert list(seen_entries(attention(8, 128), lengths)) == [100, 10_000]
    assert list(seen_entries(attention(8, 128, window=128), lengths)) == [100, 128]
    assert list(seen_entries(mla(1, indexer=INDEXER).mixers[0], lengths)) == [100, 2048]
    assert list(seen_entries(compressed(4, indexer=INDEXER), lengths)) == [100 + 25, 128 + 2048]
    assert list(seen_entries(compressed(128), lengths)) == [100, 128 + 78]


def test_prefill_moves_queries_keys_values_and_outputs_once():
    moved = core_of(attention(8, 128, heads=64), "prefill", 4096)
    assert moved.activation_bytes == 2 * 4096 * (2 * 64 + 2 * 8) * 128
    assert moved.cache_bytes == 0


def test_training_moves_them_three_times_and_recomputation_four():
    once = core_of(attention(8, 128, heads=64), "prefill", 4096)
    for recompute, times in (("none", 3), ("selective", 4), ("full", 4)):
        trained = core_of(attention(8, 128, heads=64), "training", 4096, recompute=recompute)
        assert trained.activation_bytes == times * once.activation_bytes


def test_a_window_saves_flops_and_no_operands():
    full, window = (core_of(attention(8, 128, window=w), "prefill", 8192) for w in (None, 128))
    assert window.activation_bytes == full.activation_bytes
    assert window.flops < full.flops / 30


def test_a_state_is_touched_twice_a_token_in_decode_and_once_a_sequence_in_prefill():
    mixer = LinearAttention(
        rule="gated_delta", num_key_heads=16, num_value_heads=48, key_head_dim=128, value_head_dim=128, conv_kernel=4
    )
    state = 4 * 48 * 128 * 128
    touched = [core_of(mixer, phase, 4096, batch=3).cache_bytes for phase in ("training", "prefill", "decode")]
    assert touched == [0, 3 * state, 3 * 2 * state]
    halved = core_of(mixer, "decode", 4096, batch=3, state_dtype="bf16", tensor_parallel=2).cache_bytes
    assert halved == 3 * 2 * state / 4
