"""A config that cannot be read is answered with the field, its value, the rule and a way out."""

import math

import pytest

from core.hf_config import ConfigError, from_hf_config
from core.model_spec import Moe
from core.params import count_params
from tests.configs import LLAMA, llama, real, refusal


def test_an_unknown_architecture_with_the_usual_fields_works_and_says_so():
    model = from_hf_config(llama(model_type="nouveau"))
    assert count_params(model).total == count_params(from_hf_config(llama())).total
    assert any('"nouveau" is not known' in note for note in model.notes)


def test_an_unknown_architecture_is_read_under_other_names_of_the_fields():
    config = {
        "model_type": "nouveau",
        "n_embd": 768,
        "n_layer": 12,
        "n_head": 12,
        "n_inner": 3072,
        "vocab_size": 50_000,
        "n_positions": 1024,
    }
    assert from_hf_config(config).num_layers == 12


def test_an_unknown_architecture_with_experts_has_experts():
    config = llama(model_type="nouveau", num_experts=64, num_experts_per_tok=4, moe_intermediate_size=1024)
    model = from_hf_config(config | {"n_shared_experts": 1, "first_k_dense_replace": 2})
    assert [isinstance(layer.mlp, Moe) for layer in model.layers] == [False] * 2 + [True] * 30
    assert model.layers[2].mlp.shared_intermediate_size == 1024


def test_the_architecture_s_name_stands_in_for_a_missing_model_type():
    model = from_hf_config(llama(model_type=..., architectures=["Qwen2ForCausalLM"]))
    assert model.layers[0].mixer.qkv_bias


TELLTALES = "mamba_d_state linear_num_value_heads hybrid_override_pattern index_topk compress_ratios conv_L_cache"


@pytest.mark.parametrize("field", TELLTALES.split())
def test_a_field_that_speaks_of_another_memory_is_named_not_guessed(field):
    sentence = refusal(llama(model_type="nouveau", **{field: 16}))
    assert field in sentence
    assert "guessed" in sentence


@pytest.mark.parametrize(
    "kind", ["rwkv", "xlstm", "mllama_text_model", "t5", "whisper", "falcon_mamba", "recurrent_gemma"]
)
def test_a_memory_that_is_not_modelled_is_named(kind):
    sentence = refusal(llama(model_type=kind))
    assert kind in sentence
    assert "not modelled" in sentence


def test_cross_attention_is_refused_whatever_the_model_type():
    assert "is_encoder_decoder" in refusal(llama(is_encoder_decoder=True))
    assert "add_cross_attention" in refusal(llama(add_cross_attention=True))


def test_a_kind_of_layer_that_is_not_modelled_is_named_with_its_place():
    types = ["full_attention"] * 31 + ["telepathic_attention"]
    sentence = refusal(llama(model_type="qwen3", layer_types=types))
    assert 'layer_types[31]="telepathic_attention"' in sentence
    assert "full_attention, sliding_attention" in sentence


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"num_key_value_heads": 5}, ["num_key_value_heads=5", "num_attention_heads=32", "choose one of [1, 2, 4, 8"]),
        ({"hidden_size": 4100}, ["hidden_size=4100", "num_attention_heads=32", "head_dim is missing"]),
        ({"model_type": "qwen3", "layer_types": ["full_attention"] * 31}, ["31 entries", "num_hidden_layers=32"]),
        (
            {"model_type": "mixtral", "num_local_experts": 8, "num_experts_per_tok": 9},
            ["num_experts_per_tok=9", "num_experts=8", "lower the first"],
        ),
        ({"model_type": "qwen3", "layer_types": ["sliding_attention"] * 32}, ["sliding_window is missing"]),
        (
            {"model_type": "qwen2_moe", "moe_intermediate_size": 8, "mlp_only_layers": [40]},
            ["mlp_only_layers[0]=40", "out of range"],
        ),
    ],
)
def test_a_contradiction_is_refused_with_both_fields_and_a_way_out(changes, words):
    sentence = refusal(llama(shared_expert_intermediate_size=8, num_experts=8, num_experts_per_tok=2) | changes)
    assert all(word in sentence for word in words), sentence


def test_more_dense_layers_than_layers_are_refused():
    sentence = refusal(real("deepseek-ai--DeepSeek-V3") | {"first_k_dense_replace": 62})
    assert "first_k_dense_replace=62 exceeds num_hidden_layers=61" in sentence


def test_a_pattern_of_another_length_is_refused():
    sentence = refusal(real("nvidia--Nemotron-H-56B-Base-8K") | {"num_hidden_layers": 117})
    assert "118 letters but num_hidden_layers=117" in sentence


def test_layer_lists_that_leave_a_layer_out_are_refused():
    config = real("moonshotai--Kimi-K3")
    config["text_config"]["linear_attn_config"]["kda_layers"].pop()
    assert "92 layers" in refusal(config)


@pytest.mark.parametrize("field", [field for field in LLAMA if field not in ("model_type", "num_key_value_heads")])
def test_a_missing_field_is_named_with_what_it_is_for(field):
    sentence = refusal(llama(**{field: ...}))
    assert sentence.startswith(f"{field} is missing: ")
    assert "add it" in sentence


def test_a_missing_number_of_kv_heads_means_one_each_and_is_noted():
    model = from_hf_config(llama(num_key_value_heads=...))
    assert model.layers[0].mixer.num_kv_heads == 32
    assert any("num_key_value_heads" in note for note in model.notes)


@pytest.mark.parametrize("field", ["q_lora_rank", "n_shared_experts", "first_k_dense_replace"])
def test_a_field_whose_absence_would_change_the_model_silently_is_asked_for(field):
    config = real("deepseek-ai--DeepSeek-V3")
    del config[field]
    assert refusal(config).startswith(f"{field} is missing")


def test_null_can_be_an_answer():
    config = real("deepseek-ai--DeepSeek-V3") | {"q_lora_rank": None, "n_shared_experts": None}
    model = from_hf_config(config)
    assert model.layers[0].mixer.q_lora_rank is None
    assert model.layers[-1].mlp.shared_intermediate_size == 0


@pytest.mark.parametrize("value", [0, -1, 1e30, 4096.5, math.nan, math.inf, "4096", True, [], {}, 10**400])
def test_a_number_that_is_none_is_refused_in_words(value):
    sentence = refusal(llama(hidden_size=value))
    assert sentence.startswith("hidden_size=")
    assert "give a whole number from 1 to" in sentence


def test_a_whole_number_written_with_a_point_is_one():
    assert from_hf_config(llama(hidden_size=4096.0)).hidden_size == 4096


def test_a_flag_that_is_no_flag_is_refused():
    assert 'attention_bias="no" is neither true nor false' in refusal(llama(attention_bias="no"))


def test_a_nested_field_is_named_with_its_path():
    config = real("Qwen--Qwen3.5-27B")
    config["text_config"]["head_dim"] = "wide"
    assert refusal(config).startswith('text_config.head_dim="wide"')
    del config["text_config"]
    assert refusal(config).startswith("text_config is missing")
    assert "text_config=7 is not an object" in refusal(config | {"text_config": 7})


def test_a_config_error_is_a_value_error():
    assert issubclass(ConfigError, ValueError)
