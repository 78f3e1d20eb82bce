"""Operators as numbers: sums, places under the roofline; and a pass, validated."""

import numpy as np
import pytest

from core.hardware import load_accelerators
from core.work import Operator, Work, merged

H100 = load_accelerators()["h100-sxm"]


def operator(label="product", kind="mlp", flops=0.0, bytes_=1.0):
    return Operator(label, kind, 1, np.asarray(flops), np.asarray(bytes_), np.zeros(()), np.zeros(()))


def test_operators_add_up_by_label_and_by_kind():
    three = [operator("up", flops=1.0), operator("down", flops=2.0), operator("up", flops=4.0)]
    assert [(o.label, o.count, o.flops) for o in merged(three)] == [("up", 2, 5), ("down", 1, 2)]
    assert [(o.label, o.kind, o.count, o.flops) for o in merged(three, by="kind")] == [("mlp", "mlp", 3, 7)]


def test_time_is_the_longer_of_computing_and_moving():
    computing = operator(flops=H100.bf16_flops_per_s, bytes_=1.0)
    moving = operator(flops=1.0, bytes_=2 * H100.hbm_bytes_per_s)
    assert computing.time_floor_s(H100, "bf16") == 1
    assert moving.time_floor_s(H100, "bf16") == 2
    assert computing.time_floor_s(H100, "fp8") == pytest.approx(0.5, abs=0.001)


def test_vector_units_have_a_peak_of_their_own():
    norm = operator(kind="elementwise", flops=H100.fp32_flops_per_s)
    assert norm.time_floor_s(H100, "bf16") == 1
    cards = load_accelerators().values()
    unlisted = next(card for card in cards if card.fp32_flops_per_s is None and card.bf16_flops_per_s)
    assert norm.time_floor_s(unlisted, "bf16") == pytest.approx(H100.fp32_flops_per_s / unlisted.bf16_flops_per_s)


def test_tokens_of_a_pass_are_sequences_in_decode_and_all_tokens_else():
    assert Work.of("decode", 4096, batch=8).tokens == 8
    assert Work.of("prefill", 4096, batch=8).tokens == Work.of("training", 4096, batch=8).tokens == 8 * 4096
    assert Work.of("decode", [1, 2, 3], batch=[[8], [16]]).tokens.shape == (2, 3)


def test_only_training_makes_layers_again():
    assert Work.of("prefill", 1, recompute="full").forwards("mlp") == 1
    full, selective = (Work.of("training", 1, recompute=recompute) for recompute in ("full", "selective"))
    assert [full.forwards(kind) for kind in ("mlp", "attention", "head", "embedding")] == [2, 2, 1, 1]
    assert [selective.forwards(kind) for kind in ("mlp", "attention", "head")] == [1, 2, 1]


def test_latents_are_absorbed_in_decode_and_under_an_indexer_unless_said_otherwise():
    assert [Work.of(phase, 1).absorbed(sparse=False) for phase in ("training", "prefill", "decode")] == [
        False,
        False,
        True,
    ]
    assert Work.of("training", 1).absorbed(sparse=True)
    assert not Work.of("decode", 1, latents="expanded").absorbed(sparse=True)
