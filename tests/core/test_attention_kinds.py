"""Kinds of attention on one shape, each against a hand count of what it keeps and reads."""

import pytest

from core.attention_kinds import LONG, kinds
from core.kv_cache import kv_bytes, state_bytes
from core.model_spec import load_models
from tests.shapes import LLAMA_70B, QWEN_27B, gqa, stack

MODELS = load_models()


def by_name(model, **options):
    return {kind.name: kind for kind in kinds(model, **options)}


# Llama 3.1 70B: 80 layers, 64 heads of 128, 16 bits. Keys and values of one head and layer: 2 x 128 x 2 = 512 bytes.
def test_a_llama_by_hand():
    found = by_name(LLAMA_70B)
    assert list(found) == ["as it is", "MHA", "GQA", "MQA", "MLA", "sliding", "sparse", "linear"]
    a_head = 80 * 512
    assert found["as it is"].token_bytes == found["GQA"].token_bytes == 8 * a_head == 327_680
    assert found["MHA"].token_bytes == 64 * a_head
    assert found["MQA"].token_bytes == a_head
    assert found["MLA"].token_bytes == 80 * (512 + 64) * 2
    assert found["MLA"].cache_bytes == 80 * (512 + 64) * 2 * LONG == found["MLA"].read_bytes
    assert (found["sliding"].first_token_bytes, found["sliding"].token_bytes) == (8 * a_head, 0)
    assert found["sliding"].cache_bytes == found["sliding"].read_bytes == 8 * a_head * 4096
    # DeepSeek-V3.2: 2,048 latents and all index keys of 128 are read; everything is kept.
    assert found["sparse"].cache_bytes == 80 * (576 + 128) * 2 * LONG
    assert found["sparse"].read_bytes == 80 * 2 * (576 * 2048 + 128 * LONG)
    # A state of 128 x 128 in fp32 for each head, and the last three inputs of a convolution over queries, keys, values.
    linear = 80 * 4 * (64 * 128 * 128 + 3 * 3 * 64 * 128)
    assert (found["linear"].state_bytes, found["linear"].token_bytes) == (linear, 0)
    assert found["linear"].cache_bytes == linear
    assert found["linear"].read_bytes == 2 * linear


def test_the_model_as_it_is_keeps_its_own_mix():
    own = by_name(QWEN_27B)["as it is"]
    assert own.token_bytes == 65_536  # 16 layers of 4 heads of 256, as in CASES: 2 x 16 x 4 x 256 x 2
    assert own.cache_bytes == kv_bytes(QWEN_27B, LONG) + state_bytes(QWEN_27B)


# The published figures of DeepSeek-V3: 70,272 bytes a token.
def test_deepseek_v3_is_its_own_mla():
    found = by_name(MODELS["deepseek-ai/DeepSeek-V3"])
    assert found["as it is"].token_bytes == found["MLA"].token_bytes == 70_272


def test_a_model_that_does_not_group_gets_eight_groups_or_fewer():
    assert "8 KV heads, each for 4 query heads" in by_name(MODELS["meta-llama/Llama-2-7b-hf"])["GQA"].about
    assert "6 KV heads, each for 2" in by_name(MODELS["openai-community/gpt2"])["GQA"].about
    assert "2 KV heads, each for 2" in by_name(MODELS["google/gemma-3-1b-pt"])["GQA"].about
    assert by_name(gqa(2, 1, 64))["GQA"].about.startswith("1 KV head for all 1")
    assert (
        by_name(MODELS["tiiuae/falcon-7b"])["GQA"].about == "1 KV head for all 71: they have no other divisor up to 8"
    )


def test_narrow_formats_shrink_the_cache_and_not_the_states():
    wide, narrow = by_name(LLAMA_70B), by_name(LLAMA_70B, kv_dtype="fp8")
    assert narrow["MHA"].cache_bytes == wide["MHA"].cache_bytes / 2
    assert narrow["linear"].cache_bytes == wide["linear"].cache_bytes


def test_a_model_without_attention_heads_has_no_kinds():
    assert kinds(stack((4, QWEN_27B.mixers[0]))) == ()


@pytest.mark.parametrize("model_id", [*MODELS])
def test_every_catalog_model_has_every_kind(model_id):
    found = by_name(MODELS[model_id])
    assert len(found) == 8
    assert all(kind.cache_bytes > 0 and kind.read_bytes > 0 for kind in found.values())
    assert found["MQA"].cache_bytes <= found["GQA"].cache_bytes <= found["MHA"].cache_bytes
    assert found["sliding"].cache_bytes < found["MHA"].cache_bytes
