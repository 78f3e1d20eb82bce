"""Weights of one token mixer, multiplied out by hand or printed in a paper."""

import pytest

from core.mixer_params import mixer_label, mixer_terms
from core.model_spec import Indexer, LatentAttention, LinearAttention, LinearMixer, StateSpace
from tests.shapes import INDEXER, attention, compressed


def params(mixer, hidden):
    return sum(number for _, number in mixer_terms(mixer, hidden))


def test_grouped_queries_shrink_keys_and_values_only():
    # Llama 3.1 70B, arXiv:2407.21783, table 3: hidden size 8192, 64 heads and 8 key/value heads of 128.
    assert params(attention(8, 128, heads=64), 8192) == 2 * 8192 * 8192 + 2 * 8192 * 1024


@pytest.mark.parametrize(
    ("traits", "extra"),
    [
        ({"qkv_bias": True}, 8 * 4 + 2 * 2 * 4),
        ({"output_bias": True}, 10),
        ({"qk_norm": "head"}, 4 + 4),
        ({"qk_norm": "width"}, 8 * 4 + 2 * 4),
        ({"sinks": True}, 8),
        ({"output_gate": True}, 10 * 8 * 4),
        ({"keys_are_values": True}, -10 * 2 * 4),
        ({"shares_kv": True}, -2 * 10 * 2 * 4),
        ({"window": 128}, 0),
        ({"v_norm": True}, 0),
    ],
)
def test_each_trait_of_attention_by_hand(traits, extra):
    plain = attention(2, 4, heads=8)
    assert params(attention(2, 4, heads=8, **traits), 10) - params(plain, 10) == extra


def latent(**changes):
    sizes = {"q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64}
    return LatentAttention(**{"num_heads": 128, **sizes, "v_head_dim": 128, **changes})


def test_latent_attention_of_deepseek_v3_by_hand():
    down = 7168 * 1536 + 1536 + 7168 * (512 + 64) + 512
    up = 1536 * 128 * 192 + 512 * 128 * 256
    assert params(latent(), 7168) == down + up + 128 * 128 * 7168
    assert (
        params(latent(q_lora_rank=None), 7168) == 7168 * 128 * 192 + 7168 * 576 + 512 + 512 * 128 * 256 + 128**2 * 7168
    )


def test_the_indexer_of_deepseek_v32_adds_14_million_a_layer():
    added = params(latent(indexer=INDEXER), 7168) - params(latent(), 7168)
    assert added == 1536 * 64 * 128 + 7168 * 128 + 2 * 128 + 7168 * 64
    assert added == pytest.approx(13.96e6, rel=1e-3)


def test_a_shared_index_adds_no_weight():
    assert params(latent(shared_top_k=2048), 7168) == params(latent(), 7168)


def test_compression_pays_for_its_pools_and_its_indexer():
    window, heavy = compressed(0), compressed(128)
    hidden = 4096
    assert params(heavy, hidden) - params(window, hidden) == 2 * hidden * 512 + 128 * 512 + 512
    sparse = compressed(4, indexer=Indexer(num_heads=64, head_dim=128, top_k=512))
    pool = 2 * hidden * 1024 + 4 * 1024 + 512
    chooser = 2 * hidden * 256 + 4 * 256 + 128 + 1024 * 64 * 128 + hidden * 64
    assert params(sparse, hidden) - params(window, hidden) == pool + chooser


def linear(rule, **changes):
    sizes = {"num_key_heads": 2, "num_value_heads": 2, "key_head_dim": 8, "value_head_dim": 8, "conv_kernel": 4}
    return LinearAttention(rule=rule, **{**sizes, **changes})


def test_linear_attention_by_hand():
    hidden, wide = 10, 16
    common = 3 * hidden * wide + wide * hidden + 3 * wide * 4  # queries, keys, values; output; convolution
    small = 2 * hidden * 2 + 2 * 2 + 8
    assert params(linear("gated_delta"), hidden) == common + hidden * wide + small
    low_rank = hidden * 8 + 8 * wide
    decay = low_rank + wide + hidden * 2 + 2 + 8
    assert params(linear("kda"), hidden) == common + low_rank + decay
    assert params(linear("kda", full_rank_gate=True), hidden) == common + hidden * wide + decay
    assert params(linear("lightning", conv_kernel=0), hidden) == common - 3 * wide * 4 + hidden * wide + wide


def test_mamba_2_by_hand():
    mixer = StateSpace(num_heads=4, head_dim=8, state_size=16, num_groups=2, conv_kernel=4)
    inner, convolved = 32, 32 + 2 * 2 * 16
    assert params(mixer, 10) == 10 * (inner + convolved + 4) + convolved * 5 + 3 * 4 + inner + inner * 10


def test_one_matrix_in_the_place_of_attention():
    assert params(LinearMixer(), 10) == 100


def test_labels_tell_the_kinds_apart():
    mixers = [
        attention(2, 4),
        attention(2, 4, window=8),
        attention(2, 4, window=8, window_kind="chunked"),
        latent(),
        compressed(0),
        compressed(4),
        linear("kda"),
        linear("gated_delta"),
        linear("lightning"),
        StateSpace(num_heads=4, head_dim=8, state_size=16, num_groups=2, conv_kernel=4),
        LinearMixer(),
    ]
    assert len({mixer_label(mixer) for mixer in mixers}) == len(mixers)
