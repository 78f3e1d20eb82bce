"""Pasted configs of real models become the layers that their papers describe, and say what was left out."""

import time

import pytest

from core.hf_config import from_hf_config, parse_hf_config
from core.model_spec import (
    Attention,
    CompressedAttention,
    LatentAttention,
    LinearAttention,
    ModelSpec,
    Moe,
    StateSpace,
    load_models,
)
from core.params import count_params
from tests.configs import CONFIGS, llama, real


@pytest.mark.parametrize("name", CONFIGS)
def test_a_real_config_is_read_from_its_text_and_quickly(name):
    text = CONFIGS[name].read_text()
    parse_hf_config(text)
    start = time.process_time()
    model = parse_hf_config(text)
    assert time.process_time() - start < 0.1
    assert isinstance(model, ModelSpec)
    assert hash(model) == hash(parse_hf_config(text))


def mixers(name):
    return [layer.mixer for layer in from_hf_config(real(name)).layers]


def test_qwen35_has_attention_on_every_fourth_layer_and_a_state_on_the_others():
    layers = mixers("Qwen--Qwen3.5-27B")
    assert [isinstance(mixer, Attention) for mixer in layers] == [(index + 1) % 4 == 0 for index in range(64)]
    assert all(isinstance(mixer, Attention | LinearAttention) for mixer in layers)


def test_llama4_chunks_three_of_four_layers():
    layers = mixers("meta-llama--Llama-4-Scout-17B-16E-Instruct")
    assert [mixer.window for mixer in layers] == [8192, 8192, 8192, None] * 12
    assert {mixer.window_kind for mixer in layers if mixer.window} == {"chunked"}


def test_gemma4_full_layers_have_wider_heads_and_reuse_keys_as_values():
    layers = mixers("google--gemma-4-26B-A4B")
    full = [mixer for mixer in layers if mixer.window is None]
    assert len(full) == 5
    assert {(mixer.head_dim, mixer.num_kv_heads, mixer.keys_are_values) for mixer in full} == {(512, 2, True)}
    assert {(m.head_dim, m.num_kv_heads, m.window) for m in layers if m.window} == {(256, 8, 1024)}


def test_deepseek_v4_pools_by_4_and_128_behind_a_window():
    layers = mixers("deepseek-ai--DeepSeek-V4-Flash")
    assert len(layers) == 43  # compress_ratios has a 44th entry for the multi-token-prediction layer
    assert all(isinstance(mixer, CompressedAttention) and mixer.window == 128 for mixer in layers)
    assert [sum(mixer.ratio == ratio for mixer in layers) for ratio in (0, 4, 128)] == [2, 21, 20]
    assert all((mixer.indexer is not None) == (mixer.ratio == 4) for mixer in layers)


def test_mimo_sliding_layers_have_twice_the_kv_heads_and_sinks():
    layers = mixers("XiaomiMiMo--MiMo-V2-Flash")
    assert {(m.num_kv_heads, m.head_dim, m.v_head_dim, m.sinks) for m in layers if m.window} == {(8, 192, 128, True)}
    assert {(m.num_kv_heads, m.sinks) for m in layers if not m.window} == {(4, False)}


def test_nemotron_h_stacks_mixers_and_mlps_as_layers_of_their_own():
    layers = from_hf_config(real("nvidia--NVIDIA-Nemotron-3-Nano-30B-A3B-BF16")).layers
    assert sum(isinstance(layer.mixer, StateSpace) for layer in layers) == 23
    assert sum(isinstance(layer.mixer, Attention) for layer in layers) == 6
    assert sum(isinstance(layer.mlp, Moe) for layer in layers) == 23
    assert all((layer.mixer is None) != (layer.mlp is None) for layer in layers)


def test_kimi_k3_counts_its_layer_lists_from_one():
    layers = mixers("moonshotai--Kimi-K3")
    latent = [index + 1 for index, mixer in enumerate(layers) if isinstance(mixer, LatentAttention)]
    assert latent == [*range(4, 93, 4), 93]


def test_glm5_and_deepseek_v32_keep_an_indexer_key_in_every_layer():
    for name in ("zai-org--GLM-5", "deepseek-ai--DeepSeek-V3.2"):
        assert all(mixer.indexer.head_dim == 128 for mixer in mixers(name))


def test_later_glm_layers_can_read_what_an_earlier_indexer_picked():
    config = real("zai-org--GLM-5") | {"index_topk_freq": 4}
    own = [mixer.indexer is not None for mixer in (layer.mixer for layer in from_hf_config(config).layers)]
    assert own[:10] == [True, True, False, False, False, True, False, False, False, True]
    shared = from_hf_config(config).layers[2].mixer
    assert shared.shared_top_k == 2048


def test_head_dim_is_not_hidden_over_heads_where_the_file_says_so():
    # Qwen3-4B: 32 heads of 128 over a hidden size of 2560.
    mixer = load_models()["Qwen/Qwen3-4B"].layers[0].mixer
    assert (mixer.num_heads, mixer.head_dim) == (32, 128)


def test_mistral_v01_slides_on_all_layers_and_v03_on_none():
    assert {layer.mixer.window for layer in load_models()["mistralai/Mistral-7B-v0.1"].layers} == {4096}
    assert {layer.mixer.window for layer in load_models()["mistralai/Mistral-7B-v0.3"].layers} == {None}


def test_older_qwen_files_slide_from_a_layer_on():
    config = llama(model_type="qwen2", use_sliding_window=True, sliding_window=4096, max_window_layers=28)
    windows = [layer.mixer.window for layer in from_hf_config(config).layers]
    assert windows == [None] * 28 + [4096] * 4
    unused = from_hf_config(config | {"use_sliding_window": False})
    assert {layer.mixer.window for layer in unused.layers} == {None}


def test_gemma3_files_leave_out_what_equals_the_defaults_and_the_note_says_so():
    text = {"model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10_240, "num_hidden_layers": 34}
    model = from_hf_config({"model_type": "gemma3", "text_config": text | {"sliding_window": 1024}})
    assert model.layers[0].mixer.num_heads == 8
    assert model.tie_word_embeddings
    assert sum(layer.mixer.window is None for layer in model.layers) == 5  # every sixth of 34
    assert any("num_attention_heads" in note for note in model.notes)


def test_falcon_7b_has_one_kv_head_although_its_file_says_71():
    assert load_models()["tiiuae/falcon-7b"].layers[0].mixer.num_kv_heads == 1
    assert load_models()["tiiuae/falcon-40b"].layers[0].mixer.num_kv_heads == 8


def test_the_outer_file_decides_whether_the_head_is_tied():
    config = real("Qwen--Qwen3-VL-8B-Instruct") | {"tie_word_embeddings": True}
    config["text_config"]["tie_word_embeddings"] = False
    assert from_hf_config(config).tie_word_embeddings


def test_towers_and_prediction_modules_are_left_out_with_a_note():
    notes = from_hf_config(real("Qwen--Qwen3.5-27B")).notes
    assert any("vision" in note for note in notes)
    assert any("Multi-token prediction (mtp_num_hidden_layers=1)" in note for note in notes)


def test_quantized_weights_are_noted_and_change_no_count():
    plain = from_hf_config(llama())
    packed = from_hf_config(llama(quantization_config={"quant_method": "fp8"}))
    assert any("fp8" in note for note in packed.notes)
    assert count_params(packed) == count_params(plain)


def test_the_weight_format_is_the_file_s_own():
    assert from_hf_config(llama(torch_dtype="float16")).weight_dtype == "fp16"
    assert from_hf_config(llama(dtype="float32")).weight_dtype == "fp32"
    assert from_hf_config(llama()).weight_dtype == "bf16"
