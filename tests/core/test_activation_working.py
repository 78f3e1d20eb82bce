"""Derivations of activation memory end in the value of their function, and in the sums one would do by hand."""

import pytest

from core.activation_working import activation_working, layer_activation_working, logits_working
from core.activations import activation_bytes_per_layer, layer_activation_bytes, logits_bytes
from core.model_spec import Attention, Layer, Mlp, Moe
from tests.core.test_working import holds


@pytest.mark.parametrize("recompute", ["none", "selective", "full"])
@pytest.mark.parametrize("sequence_parallel", [False, True])
@pytest.mark.parametrize("tensor_parallel", [1, 8])
def test_activations_of_the_papers_layer(tensor_parallel, sequence_parallel, recompute):
    inputs = {
        "seq_len": 2048,
        "micro_batch_size": 3,
        "hidden_size": 12288,
        "num_attention_heads": 96,
        "tensor_parallel": tensor_parallel,
        "sequence_parallel": sequence_parallel,
        "recompute": recompute,
    }
    holds(activation_working(**inputs), activation_bytes_per_layer(**inputs))


@pytest.mark.parametrize("recompute", ["none", "selective", "full"])
@pytest.mark.parametrize("fused_attention", [False, True])
def test_activations_of_a_real_layer(fused_attention, recompute):
    layer = Layer(
        mixer=Attention(num_heads=32, num_kv_heads=4, head_dim=128, v_head_dim=128, qk_norm="head"),
        mlp=Moe(num_experts=128, top_k=8, expert_intermediate_size=768, shared_intermediate_size=768),
    )
    options = {
        "seq_len": 4096,
        "micro_batch_size": 2,
        "tensor_parallel": 8,
        "sequence_parallel": True,
        "context_parallel": 2,
        "fused_attention": fused_attention,
        "recompute": recompute,
    }
    working = layer_activation_working(layer, 2048, **options)
    holds(working, layer_activation_bytes(layer, 2048, **options))
    assert all(term.why for term in working.terms)


def test_logits():
    inputs = {
        "seq_len": 8192,
        "micro_batch_size": 2,
        "vocab_size": 128256,
        "tensor_parallel": 8,
        "copies": 3,
    }
    holds(logits_working(**inputs), logits_bytes(**inputs))


def test_a_dense_layer_names_each_tensor_once():
    layer = Layer(
        mixer=Attention(num_heads=8, num_kv_heads=8, head_dim=64, v_head_dim=64), mlp=Mlp(intermediate_size=2048)
    )
    labels = [term.label for term in layer_activation_working(layer, 512, seq_len=128).terms]
    assert len(set(labels)) == len(labels)


# GPT-3, one micro-batch: 34 x 25,165,824 = 855,638,016 and scores of 5 x 96 x 2048^2 = 2,013,265,920.
def test_a_layer_of_gpt3_reads_as_on_a_whiteboard():
    working = activation_working(seq_len=2048, micro_batch_size=1, hidden_size=12288, num_attention_heads=96)
    assert working.lines == (
        "10 s b h + 24 s b h / t + 5 a s s b / t",
        "= 10 × 2,048 × 1 × 12,288 + 24 × 2,048 × 1 × 12,288 + 5 × 96 × 2,048 × 2,048 × 1",
        "= 2,868,903,936 bytes",
    )
