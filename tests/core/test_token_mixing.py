"""Token mixing against the same sums made one token at a time."""

import numpy as np
import pytest

from core.model_spec import LinearAttention, StateSpace
from core.token_mixing import mixing, pooled_entries, visible_tokens
from tests.shapes import INDEXER, attention, compressed, mla

LENGTHS = [1, 2, 7, 8, 9, 16, 31, 100]


def flops(mixer, seq_len, view="causal", **options):
    return {part.label: part.flops for part in mixing(mixer, seq_len, view, **options)}


@pytest.mark.parametrize("limit", [None, 1, 8, 1000])
def test_a_causal_mean_is_the_mean_of_what_each_query_sees(limit):
    by_hand = [np.mean([min(i, limit or i) for i in range(1, n + 1)]) for n in LENGTHS]
    assert visible_tokens(LENGTHS, "causal", limit=limit) == pytest.approx(by_hand)


def test_a_chunk_starts_anew():
    by_hand = [np.mean([i % 8 + 1 for i in range(n)]) for n in LENGTHS]
    assert visible_tokens(LENGTHS, "causal", limit=8, chunked=True) == pytest.approx(by_hand)


@pytest.mark.parametrize("limit", [None, 1, 3, 1000])
def test_pooled_entries_are_those_of_full_groups(limit):
    by_hand = [np.mean([min(i // 4, limit or i) for i in range(1, n + 1)]) for n in LENGTHS]
    assert pooled_entries(LENGTHS, "causal", ratio=4, limit=limit) == pytest.approx(by_hand)
    assert list(pooled_entries([3, 4, 9], "last", ratio=4)) == [0, 1, 2]


def test_without_a_mask_every_query_is_charged_with_what_the_last_one_sees():
    assert list(visible_tokens([4, 4096], "full")) == list(visible_tokens([4, 4096], "last")) == [4, 4096]
    assert visible_tokens(4096, "full", limit=128) == 128


def test_causal_attention_is_half_of_full_but_for_the_diagonal():
    assert visible_tokens(8192, "causal") / visible_tokens(8192, "full") == pytest.approx(0.5 + 0.5 / 8192)


def test_grouped_queries_save_no_flops():
    one_head, eight = (flops(attention(kv, 128, heads=64), 4096) for kv in (1, 8))
    assert one_head["attention"] == eight["attention"] == 2 * 64 * 256 * 4097 / 2


# DeepSeek-V2, arXiv:2405.04434, section 2.1: 512 + 64 cached, heads of 128 + 64 and 128.
def test_absorbed_latents_cost_more_flops_a_cached_token():
    mixer = mla(1).mixers[0]
    assert flops(mixer, 1000, "last")["attention"] == 2 * 128 * (128 + 64 + 128) * 1000
    assert flops(mixer, 1000, "last", absorbed=True)["attention"] == 2 * 128 * (512 + 64 + 512) * 1000


def test_sparse_attention_stops_growing_and_its_indexer_does_not():
    mixer = mla(1, indexer=INDEXER).mixers[0]
    near, far = flops(mixer, 2048, "last"), flops(mixer, 131_072, "last")
    assert near["attention"] == far["attention"]
    assert far["indexer scores"] == 64 * near["indexer scores"] == 2 * 64 * (128 + 1) * 131_072


def test_pooled_attention_sees_a_window_and_its_entries():
    seen = flops(compressed(128), 131_072, "last")["attention"]
    assert seen == 4 * 64 * 512 * (128 + 1024)
    chosen = flops(compressed(4, indexer=INDEXER), 131_072, "last")
    assert chosen["attention"] == 4 * 64 * 512 * (128 + 2048)
    assert chosen["indexer scores"] == 2 * 64 * 129 * 131_072 / 4


# One step of each recurrence, its multiply-adds counted on small matrices.
@pytest.mark.parametrize(("rule", "products"), [("lightning", 2), ("gated_delta", 3), ("kda", 3)])
def test_linear_attention_updates_and_reads_one_state(rule, products):
    mixer = LinearAttention(
        rule=rule, num_key_heads=2, num_value_heads=6, key_head_dim=4, value_head_dim=8, conv_kernel=4
    )
    assert flops(mixer, [1, 10**6])["linear attention"] == 2 * products * 6 * 4 * 8


# Megatron-LM counts 7 a state element with the elementwise decay and step; the multiply-adds among them are 4.
def test_a_state_space_layer_costs_the_same_at_any_length():
    mixer = StateSpace(num_heads=128, head_dim=64, state_size=128, num_groups=8, conv_kernel=4)
    assert flops(mixer, 10)["state space"] == 4 * 128 * 64 * 128


def test_heads_are_split_over_gpus():
    degrees = np.array([1, 2, 8])
    split = flops(attention(8, 128, heads=64), 4096, tensor_parallel=degrees)["attention"]
    assert list(split * degrees) == [2 * 64 * 256 * 4097 / 2] * 3
