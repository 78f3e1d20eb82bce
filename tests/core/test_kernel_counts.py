"""Kernels of a step, against what PyTorch dispatches."""

import pytest

from core.kernel_counts import layer_norms, num_kernels
from core.model_spec import load_models
from core.operators import model_operators

MODELS = load_models()
LLAMA_8B = MODELS["meta-llama/Llama-3.1-8B"]


def decode(model, **options):
    return model_operators(model, "decode", seq_len=1024, **options)


def kernels(model, *, fused, **options):
    return num_kernels(model, decode(model, **options), fused=fused)


def test_a_fused_llama_layer_is_ten_kernels():
    # Norm, QKV, rotary, cache write, attention, output; norm, gate and up, activation, down. Outside: embedding, final
    # norm, head.
    assert kernels(LLAMA_8B, fused=True) == 32 * 10 + 3


# Each norm is a kernel more: before and after both parts, and of queries and keys (Gemma 3 report, section 2).
def test_a_fused_gemma_layer_is_fourteen():
    assert kernels(MODELS["google/gemma-3-27b-pt"], fused=True) == 62 * 14 + 3


# transformers 5.24 with torch 2.13, one decode step of each family's causal model in bf16: operations dispatched for
# each layer that are no views, with eager attention; counted there with a TorchDispatchMode, on small widths.
def test_plain_pytorch_launches_48_kernels_a_llama_layer():
    outside = 1 + 8 + 1  # embedding, final norm, head
    assert kernels(LLAMA_8B, fused=False) == 32 * 48 + outside


@pytest.mark.parametrize(
    ("model_id", "dispatched", "within"),
    [
        ("meta-llama/Llama-2-7b-hf", 46, 0),  # as many KV heads as query heads: nothing to copy
        ("openai-community/gpt2", 23, 3),  # one product for Q, K and V, eight kernels for its GELU
        ("facebook/opt-125m", 21, 1),
        ("EleutherAI/gpt-neox-20b", 30, 0),
        ("Qwen/Qwen3-8B", 64, 0),
        ("allenai/OLMo-2-1124-7B", 66, 4),  # MHA in the catalog, groups where it was counted; two casts more
        ("google/gemma-2-27b", 75, 11),  # norms of ten kernels, three for soft caps
        ("google/gemma-3-27b-pt", 92, 12),  # norms of ten kernels
        ("mistralai/Mixtral-8x7B-v0.1", 66, 1),
        ("Qwen/Qwen3-30B-A3B", 80, 1),
    ],
)
def test_plain_layers_of_other_families(model_id, dispatched, within):
    model = MODELS[model_id]
    outside = 2 + (1 if model.position_embeddings or model.model_type == "gpt_neox" else 8)
    each = (kernels(model, fused=False) - outside) / model.num_layers
    assert abs(each - dispatched) <= within


def test_a_layer_with_grouped_experts_comes_out_a_fifth_too_small():
    model = MODELS["deepseek-ai/DeepSeek-V3"]
    dense, sparse = 70, 108  # dispatched in layers of each kind
    counted = kernels(model, fused=False)
    assert 0.75 < counted / (3 * dense + 58 * sparse) < 0.85


def test_the_count_does_not_depend_on_the_batch():
    assert kernels(LLAMA_8B, fused=True, batch=[1, 64]) == kernels(LLAMA_8B, fused=True)


@pytest.mark.parametrize(
    ("model_id", "norms"),
    [
        ("openai/gpt-3-175b", 2),
        ("tiiuae/falcon-7b", 1),  # attention and MLP side by side
        ("deepseek-ai/DeepSeek-V3", 4),  # of the two latents besides
        ("deepseek-ai/DeepSeek-V2-Lite", 3),
        ("google/gemma-3-27b-pt", 6),
    ],
)
def test_norms_are_counted_from_their_weights(model_id, norms):
    model = MODELS[model_id]
    assert {layer_norms(layer, model) for layer in model.layer_counts} == {norms}


def test_every_plain_count_is_above_the_fused_one():
    for model in MODELS.values():
        assert kernels(model, fused=False) > kernels(model, fused=True) > model.num_layers
