"""A model's softmax attention as shapes: heads a GPU holds, latents expanded, windows apart, every catalog model."""

import pytest

from core.attention_shapes import AttentionShape, layer_shapes
from core.model_spec import load_models
from tests.shapes import DEEPSEEK_V4_FLASH, GPT_OSS_120B, LLAMA_70B, QWEN_27B, attention, stack

MODELS = load_models()


def test_a_llama_has_one_shape():
    assert layer_shapes(LLAMA_70B) == (AttentionShape("full attention", 64, 8, 128, 128, layers=80),)


def test_tensor_parallel_splits_heads_and_copies_the_last_kv_head():
    (shape,) = layer_shapes(LLAMA_70B, 16)
    assert (shape.heads, shape.kv_heads) == (4, 1)


def test_layers_that_see_everything_come_first():
    full, sliding = layer_shapes(GPT_OSS_120B)
    assert (full.window, full.layers) == (None, 18)
    assert (sliding.window, sliding.layers) == (128, 18)
    assert sliding.in_words == "64 heads of 64 over 8 of keys and values, a window of 128 tokens"


# DeepSeek-V3: 128 heads, queries and keys of 128 + 64, values of 128.
def test_a_latent_is_expanded_to_keys_and_values_of_every_head():
    (shape,) = layer_shapes(MODELS["deepseek-ai/DeepSeek-V3"])
    assert (shape.heads, shape.kv_heads, shape.head_dim, shape.v_head_dim) == (128, 128, 192, 128)
    assert shape.in_words == "128 heads of 192 and 128"
    assert not shape.picks


def test_layers_that_choose_or_pool_say_so():
    assert all(shape.picks for shape in layer_shapes(MODELS["deepseek-ai/DeepSeek-V3.2"]))
    (shape,) = layer_shapes(DEEPSEEK_V4_FLASH)
    assert shape.picks
    assert (shape.kv_heads, shape.layers) == (1, 43)


def test_chunks_are_named():
    shapes = layer_shapes(MODELS["meta-llama/Llama-4-Scout-17B-16E-Instruct"])
    assert shapes[1].chunked
    assert shapes[1].in_words.endswith("chunks of 8,192 tokens")


def test_a_model_without_attention_has_none():
    assert layer_shapes(stack((4, QWEN_27B.mixers[0]))) == ()


@pytest.mark.parametrize("model_id", [*MODELS])
def test_every_catalog_model_is_counted_whole(model_id):
    model = MODELS[model_id]
    kinds = [layer.mixer.kind for layer in model.layers if layer.mixer]
    softmax = sum(kind in ("attention", "mla", "compressed") for kind in kinds)
    assert sum(shape.layers for shape in layer_shapes(model)) == softmax > 0


def test_one_head_reads_as_one():
    single = stack((1, attention(1, 64)))
    assert layer_shapes(single)[0].in_words == "1 head of 64"
