"""Whole models and pipeline stages against Korthikanti et al., sections 4.2.3 and 4.3."""

import numpy as np
import pytest

from core.activations import activation_bytes_per_layer, layer_activation_bytes
from core.model_spec import Attention, Layer, Mlp, ModelSpec, Moe
from core.stage_activations import model_activation_bytes, recompute_bytes, stage_activation_bytes

PAPER = {"seq_len": 2048, "micro_batch_size": 1, "fused_attention": False, "dropout": True}


def model(*layers, hidden_size=12288, vocab_size=51200):
    return ModelSpec(
        id="test/model",
        name="Test",
        model_type="test",
        hidden_size=hidden_size,
        vocab_size=vocab_size,
        tie_word_embeddings=True,
        max_position_embeddings=2048,
        layers=layers,
    )


GPT_LAYER = Layer(
    mixer=Attention(num_heads=96, num_kv_heads=96, head_dim=128, v_head_dim=128),
    mlp=Mlp(intermediate_size=4 * 12288, gated=False),
)
GPT3 = model(*[GPT_LAYER] * 96)
SPARSE = Layer(
    mixer=Attention(num_heads=8, num_kv_heads=4, head_dim=64, v_head_dim=64),
    mlp=Moe(num_experts=16, top_k=2, expert_intermediate_size=512),
)
DENSE = SPARSE.model_copy(update={"mlp": Mlp(intermediate_size=4096)})
MIXED = model(DENSE, *[SPARSE] * 5, hidden_size=512)


def test_the_first_stage_holds_as_much_as_no_pipeline():
    alone = stage_activation_bytes(GPT3, num_micro_batches=64, **PAPER)
    piped = stage_activation_bytes(GPT3, pipeline_parallel=8, num_micro_batches=64, **PAPER)
    assert piped.layer_bytes[0] == pytest.approx(alone.layer_bytes[0])
    assert piped.layer_bytes[-1] == pytest.approx(alone.layer_bytes[0] / 8)
    assert list(piped.in_flight) == [8, 7, 6, 5, 4, 3, 2, 1]


@pytest.mark.parametrize("virtual_stages", [1, 3])
def test_the_first_stage_follows_the_papers_equation(virtual_stages):
    split = {"tensor_parallel": 8, "sequence_parallel": True}
    stages = stage_activation_bytes(
        GPT3, pipeline_parallel=8, num_micro_batches=64, virtual_stages=virtual_stages, **PAPER, **split
    )
    layer = activation_bytes_per_layer(
        seq_len=2048, micro_batch_size=1, hidden_size=12288, num_attention_heads=96, **split
    )
    factor = 1 + 7 / (8 * virtual_stages) if virtual_stages > 1 else 1
    assert stages.layer_bytes[0] == pytest.approx(layer * 96 * factor)


# Section 4.3: without pipeline, the extras are s b h L / t (p/L + 4/L (1 + v/h)), the embedding's dropout mask, the
# final norm and the head's input, and fp32 logits.
def test_embedding_and_head_extras_follow_the_papers_equation():
    split = {"tensor_parallel": 8, "sequence_parallel": True}
    alone = stage_activation_bytes(GPT3, num_micro_batches=1, **PAPER, **split)
    extras = alone.embedding_bytes + alone.head_bytes + alone.logits_bytes
    assert extras[0] == pytest.approx(2048 * 12288 / 8 * (1 + 4 * (1 + 51200 / 12288)))
    piped = stage_activation_bytes(GPT3, pipeline_parallel=8, num_micro_batches=64, **PAPER, **split)
    assert piped.embedding_bytes[0] == 2048 * 12288 / 8 * 8
    assert not piped.embedding_bytes[1:].any()
    assert not piped.logits_bytes[:-1].any()


def test_each_layer_of_a_mixed_model_is_its_own():
    layers = model_activation_bytes(MIXED, seq_len=1024)
    assert layers.shape == (6,)
    assert layers[0] == layer_activation_bytes(DENSE, 512, seq_len=1024)
    assert set(layers[1:]) == {float(layer_activation_bytes(SPARSE, 512, seq_len=1024))}


def test_stages_of_a_mixed_model_add_up_to_the_model():
    stages = stage_activation_bytes(MIXED, pipeline_parallel=3, num_micro_batches=1, seq_len=1024)
    assert stages.layer_bytes.sum() == pytest.approx(model_activation_bytes(MIXED, seq_len=1024).sum())


def test_lengths_stay_an_axis_before_the_stages():
    stages = stage_activation_bytes(
        MIXED, pipeline_parallel=3, num_micro_batches=8, seq_len=np.array([[256], [512]]), tensor_parallel=[1, 2, 4]
    )
    assert stages.layer_bytes.shape == stages.total_bytes.shape == (2, 3, 3)
    one = stage_activation_bytes(MIXED, pipeline_parallel=3, num_micro_batches=8, seq_len=512, tensor_parallel=4)
    assert stages.total_bytes[1, 2] == pytest.approx(one.total_bytes)


def test_making_again_needs_a_layer_of_working_memory():
    kept = model_activation_bytes(MIXED, recompute="full", seq_len=1024)
    working = recompute_bytes(MIXED, recompute="full", seq_len=1024)
    assert working == pytest.approx((model_activation_bytes(MIXED, seq_len=1024) - kept).max())
    assert recompute_bytes(MIXED, recompute="none", seq_len=1024) == 0
