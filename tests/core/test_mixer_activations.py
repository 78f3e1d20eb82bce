"""What each kind of token mixer keeps, counted by hand in bytes a token."""

import pytest

from core.activations import layer_activation_bytes, layer_tensors
from core.kept_tensors import Run
from core.mixer_activations import mixer_tensors
from core.model_spec import (
    Attention,
    CompressedAttention,
    Indexer,
    LatentAttention,
    Layer,
    LinearAttention,
    LinearMixer,
    Mlp,
    StateSpace,
)

MIXERS = {
    "sliding": Attention(num_heads=8, num_kv_heads=4, head_dim=32, v_head_dim=32, window=128, qk_norm="head"),
    "gated": Attention(num_heads=8, num_kv_heads=4, head_dim=32, v_head_dim=32, output_gate=True, v_norm=True),
    "mla": LatentAttention(
        num_heads=8,
        q_lora_rank=96,
        kv_lora_rank=64,
        qk_nope_head_dim=32,
        qk_rope_head_dim=16,
        v_head_dim=32,
        indexer=Indexer(num_heads=4, head_dim=32, top_k=64),
    ),
    "compressed": CompressedAttention(
        num_heads=8,
        head_dim=64,
        qk_rope_head_dim=16,
        q_lora_rank=96,
        o_groups=4,
        o_lora_rank=64,
        window=128,
        ratio=4,
        indexer=Indexer(num_heads=4, head_dim=32, top_k=64),
    ),
    "gated delta": LinearAttention(
        rule="gated_delta", num_key_heads=4, num_value_heads=8, key_head_dim=32, value_head_dim=32, conv_kernel=4
    ),
    "kda": LinearAttention(
        rule="kda", num_key_heads=8, num_value_heads=8, key_head_dim=32, value_head_dim=32, conv_kernel=4
    ),
    "lightning": LinearAttention(
        rule="lightning", num_key_heads=8, num_value_heads=8, key_head_dim=32, value_head_dim=32, conv_kernel=0
    ),
    "mamba2": StateSpace(num_heads=8, head_dim=64, state_size=16, num_groups=2, conv_kernel=4),
    "matrix": LinearMixer(),
}


@pytest.mark.parametrize("mixer", MIXERS.values(), ids=MIXERS.keys())
def test_every_mixer_is_counted_and_names_why_it_keeps_what_it_keeps(mixer):
    layer = Layer(mixer=mixer, mlp=Mlp(intermediate_size=1024))
    tensors = layer_tensors(layer, 256, seq_len=1024, tensor_parallel=4, sequence_parallel=True)
    run = Run.of(seq_len=1024, tensor_parallel=4, sequence_parallel=True)
    assert all(tensor.why and tensor.bytes(run) > 0 for tensor in tensors)
    assert len({tensor.label for tensor in tensors}) == len(tensors)
    # Only the scores of attention are dropped by selective recomputation, and nothing grows faster than the sequence.
    once, twice = layer_activation_bytes(layer, 256, seq_len=[4096, 8192])
    assert twice == 2 * once


def test_a_window_saves_no_stored_scores():
    full, sliding = (
        layer_activation_bytes(
            Layer(mixer=Attention(num_heads=8, num_kv_heads=8, head_dim=32, v_head_dim=32, window=window)),
            256,
            seq_len=4096,
            fused_attention=False,
        )
        for window in (None, 128)
    )
    assert full == sliding


def bytes_a_token(mixer, **options):
    run = Run.of(seq_len=1024, **options)
    return sum(float(tensor.bytes(run)) for tensor in mixer_tensors(mixer, run)) / 1024


DEEPSEEK = LatentAttention(
    num_heads=128, q_lora_rank=1536, kv_lora_rank=512, qk_nope_head_dim=128, qk_rope_head_dim=64, v_head_dim=128
)


# DeepSeek-V3: latents of 1,536 and 512 twice, Q and K of 128 x 192, V and output of 128 x 128, fp32 statistics.
def test_latent_attention_by_hand():
    assert bytes_a_token(DEEPSEEK) == 2 * (3072 + 1024 + 2 * 24_576 + 2 * 16_384) + 4 * 128
    # Heads are split, latents are not.
    assert bytes_a_token(DEEPSEEK, tensor_parallel=8) == 2 * 4096 + (2 * 81_920 + 4 * 128) / 8


# Stored scores: 16 bits for the softmax, 16 bits and a byte's mask for dropout, for each head and earlier token.
def test_stored_scores_take_the_place_of_statistics():
    mixer = MIXERS["sliding"]
    tiled, stored = bytes_a_token(mixer), bytes_a_token(mixer, fused_attention=False)
    assert stored - tiled == 8 * (2 * 1024 - 4)
    assert bytes_a_token(mixer, fused_attention=False, dropout=True) - stored == 8 * 3 * 1024


# 8 query and 4 key heads of 32, each of Q and K before and after its norm: 2 x (2 x 256 + 2 x 128 + 128 + 256) + 4 x 8.
def test_norms_of_queries_and_keys_keep_their_inputs():
    assert bytes_a_token(MIXERS["sliding"]) == 2336


def test_a_layer_that_borrows_keys_and_values_keeps_none():
    own = Attention(num_heads=8, num_kv_heads=4, head_dim=32, v_head_dim=32)
    borrowed = own.model_copy(update={"shares_kv": True})
    assert bytes_a_token(own) - bytes_a_token(borrowed) == 2 * 2 * 4 * 32


# A 4-byte place for each of 64 chosen entries; 4 queries of 32, a key of 32, 4 weights. Never split by heads.
def test_an_indexer_keeps_its_choices():
    plain = MIXERS["mla"].model_copy(update={"indexer": None})
    for gpus in (1, 4):
        split = {"tensor_parallel": gpus}
        chooser = bytes_a_token(MIXERS["mla"], **split) - bytes_a_token(plain, **split)
        assert chooser == 2 * (128 + 32 + 4) + 4 * 64


# Mamba-2: gate and input 2 x 512, B and C 2 x 2 x 16, a step for each of 8 heads; then the scanned values twice.
def test_a_state_space_keeps_its_projection_and_no_state():
    assert bytes_a_token(MIXERS["mamba2"]) == 2 * (1024 + 64 + 8) + 2 * 2 * 512
    assert bytes_a_token(MIXERS["mamba2"], fused_attention=False) == bytes_a_token(MIXERS["mamba2"])


# Kimi's decay is fp32 for each of 256 key channels, the gated delta rule's for each of 8 heads; the former has 8 key
# heads here and the latter 4, so convolution's input and output hold 2 x 128 elements more.
def test_a_decay_of_each_channel_costs_more_than_one_of_each_head():
    difference = bytes_a_token(MIXERS["kda"]) - bytes_a_token(MIXERS["gated delta"])
    assert difference == 4 * 256 - 4 * 8 + 2 * 2 * 2 * 128


def test_a_plain_matrix_keeps_nothing_but_its_input():
    assert bytes_a_token(LinearMixer()) == 0
