"""Elementwise work: bytes, and no FLOPs worth the name."""

import numpy as np
import pytest

from core.hardware import load_accelerators
from core.model_spec import load_models
from core.operators import model_operators
from core.work import merged

LLAMA_8B = load_models()["meta-llama/Llama-3.1-8B"]
MIXTRAL = load_models()["mistralai/Mixtral-8x7B-v0.1"]


def one(model, phase, label, **options):
    (found,) = (o for o in model_operators(model, phase, **options) if o.label == label)
    return found


def test_a_norm_moves_four_hidden_vectors_a_token():
    # Two a layer: what the part made and the residual read, their sum and its norm written.
    assert one(LLAMA_8B, "prefill", "norms and residuals", seq_len=100).activation_bytes == 32 * 2 * 4 * 4096 * 100 * 2
    assert one(LLAMA_8B, "decode", "norms and residuals", seq_len=100).weight_bytes == 32 * 2 * 4096 * 2


def test_a_gated_activation_reads_two_and_writes_one():
    assert one(LLAMA_8B, "prefill", "activation function", seq_len=100).activation_bytes == 32 * 3 * 14_336 * 100 * 2
    trained = one(LLAMA_8B, "training", "activation function", seq_len=100)
    assert trained.activation_bytes == 32 * 8 * 14_336 * 100 * 2


def test_new_keys_and_values_are_written_in_the_caches_format():
    wide, narrow = (one(LLAMA_8B, "decode", "cache write", seq_len=9, batch=4, kv_dtype=d) for d in ("bf16", "fp8"))
    assert wide.cache_bytes == 4 * 131_072  # 32 x 8 x 256 x 2
    assert narrow.cache_bytes == wide.cache_bytes / 2
    assert narrow.activation_bytes == wide.activation_bytes
    assert not [o for o in model_operators(LLAMA_8B, "training", seq_len=9) if o.label == "cache write"]


# Brown et al. 2020, arXiv:2005.14165, section 2.1: GPT-3 is GPT-2 enlarged, whose positions are a learned table.
def test_a_model_with_learned_positions_turns_no_heads():
    turned = one(LLAMA_8B, "prefill", "rotary positions", seq_len=10)
    assert turned.activation_bytes == 32 * 2 * (32 + 8) * 128 * 10 * 2  # queries and keys, read and written
    labels = {o.label for o in model_operators(load_models()["openai/gpt-3-175b"], "prefill", seq_len=10)}
    assert "rotary positions" not in labels


def test_tokens_are_copied_to_each_of_their_experts_and_back():
    assert one(MIXTRAL, "prefill", "routing and permutation", seq_len=10).activation_bytes == 32 * 6 * 4096 * 10 * 2


def test_an_embedding_is_a_lookup():
    looked_up = one(LLAMA_8B, "decode", "embedding", seq_len=9, batch=4)
    assert looked_up.flops == 0
    assert looked_up.weight_bytes == looked_up.activation_bytes == 4 * 4096 * 2


@pytest.mark.parametrize(
    ("recipe", "each"), [("adam", 28), ("adam-fp32-grads", 30), ("adam-bf16", 12), ("adam-fp32", 24)]
)
def test_the_optimizer_reads_and_writes_its_states(recipe, each):
    step = one(LLAMA_8B, "training", "optimizer step", seq_len=1, recipe=recipe)
    assert step.bytes == each * 8_030_261_248


def test_elementwise_work_is_bound_by_bandwidth_on_every_card():
    (vector,) = (
        o for o in merged(model_operators(LLAMA_8B, "training", seq_len=4096), by="kind") if o.kind == "elementwise"
    )
    for card in load_accelerators().values():
        if card.half_dtype and card.fp32_flops_per_s:
            floor = vector.time_floor_s(card, card.half_dtype)
            assert floor == vector.bytes / card.hbm_bytes_per_s


def test_a_recipe_that_nobody_knows_is_refused():
    with pytest.raises(ValueError, match="optimizer='lion' is not known"):
        model_operators(LLAMA_8B, "training", seq_len=1, recipe="lion")


def test_the_loss_moves_logits_three_times():
    loss = one(LLAMA_8B, "training", "loss", seq_len=np.array([1, 10]))
    assert list(loss.activation_bytes) == [3 * 128_256 * 2, 3 * 128_256 * 2 * 10]
