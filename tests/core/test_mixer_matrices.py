"""Mixers' matrices: what absorption, sharing and grouping change."""

import numpy as np
import pytest

from core.mixer_matrices import mixer_matrices
from core.mixer_params import mixer_terms
from core.model_spec import LinearAttention, LinearMixer, StateSpace
from tests.shapes import INDEXER, attention, compressed, mla

HIDDEN = 4096
LINEAR = {"num_key_heads": 16, "num_value_heads": 32, "key_head_dim": 128, "value_head_dim": 128, "conv_kernel": 4}
MIXERS = {
    "grouped queries": attention(8, 128, heads=64),
    "gated output": attention(8, 128, heads=64, output_gate=True),
    "borrowed cache": attention(8, 128, heads=64, shares_kv=True),
    "keys as values": attention(8, 128, heads=64, keys_are_values=True),
    "latent": mla(1).mixers[0],
    "latent, sparse": mla(1, indexer=INDEXER).mixers[0],
    "window": compressed(0),
    "pooled": compressed(128),
    "pooled and chosen": compressed(4, indexer=INDEXER),
    "gated delta": LinearAttention(rule="gated_delta", **LINEAR),
    "kda": LinearAttention(rule="kda", **(LINEAR | {"num_value_heads": 16})),
    "kda, full gate": LinearAttention(rule="kda", full_rank_gate=True, **(LINEAR | {"num_value_heads": 16})),
    "lightning": LinearAttention(rule="lightning", **(LINEAR | {"conv_kernel": 0})),
    "mamba2": StateSpace(num_heads=128, head_dim=64, state_size=128, num_groups=8, conv_kernel=4),
    "matrix": LinearMixer(),
}


def params(mixer, **options):
    return {m.label: m.params for m in mixer_matrices(mixer, HIDDEN, **options)}


@pytest.mark.parametrize("mixer", MIXERS.values(), ids=MIXERS)
def test_matrices_are_the_stored_weights_but_for_norms_and_biases(mixer):
    stored = sum(number for _, number in mixer_terms(mixer, HIDDEN))
    matrices = sum(params(mixer).values())
    assert 0 <= stored - matrices < 0.002 * stored


@pytest.mark.parametrize("mixer", MIXERS.values(), ids=MIXERS)
def test_a_token_meets_every_stored_weight(mixer):
    assert all(m.flops == 2 * m.params for m in mixer_matrices(mixer, HIDDEN))


@pytest.mark.parametrize("mixer", MIXERS.values(), ids=MIXERS)
def test_eight_gpus_hold_at_least_an_eighth_each_and_at_most_all(mixer):
    one, eight = params(mixer), params(mixer, tensor_parallel=8)
    for label in one:
        assert one[label] / 8 <= eight[label] <= one[label]


@pytest.mark.parametrize("indexer", [None, INDEXER])
def test_absorption_moves_weights_and_makes_none(indexer):
    mixer = mla(1, indexer=indexer).mixers[0]
    assert sum(params(mixer, absorbed=True).values()) == sum(params(mixer).values())
    # Each of 128 heads has a matrix of its own into the latent and one out of it.
    assert params(mixer, absorbed=True)["queries into the latent"] == 128 * 128 * 512


# DeepSeek-V4: each group of heads has an output matrix of its own.
def test_grouped_outputs_are_as_many_weights_as_heads_make():
    assert params(compressed(0))["grouped output projection"] == 64 * 512 * 1024


def test_a_key_head_is_copied_where_gpus_outnumber_them():
    degrees = np.array([1, 2, 4, 8, 16])
    heads_and_groups = np.array([64 + 16, 32 + 8, 16 + 4, 8 + 2, 4 + 2])
    split = params(attention(8, 128, heads=64), tensor_parallel=degrees)["query, key and value projections"]
    assert list(split) == list(HIDDEN * 128 * heads_and_groups)
