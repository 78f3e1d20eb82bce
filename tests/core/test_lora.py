"""LoRA and QLoRA against published counts."""

import numpy as np
import pytest

from core.collectives import zero_traffic
from core.dtypes import DTYPES
from core.lora import ALL_LINEAR, RANK, lora_memory, lora_params, named_recipe
from core.model_spec import Attention, LatentAttention, Layer, Mlp, ModelSpec, Moe, StateSpace, load_models
from core.units import GB
from core.zero import RECIPES, zero_memory, zero_peak


def model(layer, num_layers, hidden_size):
    return ModelSpec(
        id="test/model",
        name="Test",
        model_type="test",
        hidden_size=hidden_size,
        vocab_size=32000,
        tie_word_embeddings=False,
        max_position_embeddings=4096,
        layers=(layer,) * num_layers,
    )


def llama(num_kv_heads, intermediate_size):
    attention = Attention(num_heads=32, num_kv_heads=num_kv_heads, head_dim=128, v_head_dim=128)
    return model(Layer(mixer=attention, mlp=Mlp(intermediate_size=intermediate_size)), 32, 4096)


LLAMA_2_7B, LLAMA_3_8B = llama(32, 11008), llama(8, 14336)
GPT3 = model(
    Layer(
        mixer=Attention(num_heads=96, num_kv_heads=96, head_dim=128, v_head_dim=128),
        mlp=Mlp(intermediate_size=49152, gated=False),
    ),
    96,
    12288,
)


# Hu et al. 2021, arXiv:2106.09685, table 4: GPT-3 175B with adapters on queries and values, 4.7M and 37.7M.
def test_matches_the_lora_papers_gpt3_rows():
    assert lora_params(GPT3, [1, 8], ["q_proj", "v_proj"]) / 1e6 == pytest.approx([4.7, 37.7], abs=0.05)


# What PEFT's print_trainable_parameters shows for these models.
@pytest.mark.parametrize(
    ("base", "rank", "targets", "printed"),
    [
        (LLAMA_2_7B, 8, ("q_proj", "v_proj"), 4_194_304),
        (LLAMA_2_7B, 16, (ALL_LINEAR,), 39_976_960),
        (LLAMA_3_8B, 8, ("q_proj", "v_proj"), 3_407_872),
        (LLAMA_3_8B, 16, (ALL_LINEAR,), 41_943_040),
    ],
)
def test_matches_what_peft_prints(base, rank, targets, printed):
    assert lora_params(base, rank, targets) == printed


def test_every_expert_has_its_own_adapter():
    experts = model(Layer(mlp=Moe(num_experts=8, top_k=2, expert_intermediate_size=1024)), 1, 512)
    dense = model(Layer(mlp=Mlp(intermediate_size=1024)), 1, 512)
    targets = ("gate_proj", "up_proj", "down_proj")
    assert lora_params(experts, 4, targets) == 8 * lora_params(dense, 4, targets)


def test_latent_attention_has_matrices_of_its_own():
    mixer = LatentAttention(
        num_heads=4, q_lora_rank=96, kv_lora_rank=64, qk_nope_head_dim=32, qk_rope_head_dim=16, v_head_dim=32
    )
    base = model(Layer(mixer=mixer, mlp=Mlp(intermediate_size=512)), 1, 256)
    assert lora_params(base, 1, ["kv_b_proj"]) == 64 + 4 * (32 + 32)
    with pytest.raises(ValueError, match=r"targets=\['k_proj', 'v_proj'\] are no matrices of Test; choose from"):
        lora_params(base, 1, ["k_proj", "v_proj"])


def test_a_model_without_known_matrices_says_so():
    base = model(Layer(mixer=StateSpace(num_heads=8, head_dim=64, state_size=16, num_groups=2, conv_kernel=4)), 1, 256)
    with pytest.raises(ValueError, match="are no matrices of Test"):
        lora_params(base, 8, [ALL_LINEAR])


# Dettmers et al. 2023, arXiv:2305.14314, section 3: double quantization takes the constants of a block from 0.5 to
# 0.127 bits a parameter, about 3 GB for 65B.
def test_matches_the_qlora_papers_overhead():
    overhead_bits = 8 * DTYPES["nf4"].bytes_per_element - 4
    assert overhead_bits == pytest.approx(0.127, abs=0.0005)
    assert (0.5 - overhead_bits) * 65e9 / 8 / GB == pytest.approx(3, abs=0.5)


# The paper's abstract: 65B on one 48 GB GPU, where 16-bit finetuning needs more than 780 GB.
def test_qlora_fits_65b_on_48_gb_and_lora_does_not():
    adapters = 65e9 * 0.01
    assert lora_memory(65e9, adapters, base_dtype="nf4").total_bytes < 48 * GB
    assert lora_memory(65e9, adapters).total_bytes > 130 * GB


def test_only_adapters_have_gradients_and_optimizer_states():
    memory = lora_memory(8e9, 40e6)
    assert memory.weight_bytes == 2 * 8e9 + 2 * 40e6
    assert (memory.gradient_bytes, memory.optimizer_bytes) == (2 * 40e6, 12 * 40e6)
    assert memory.total_bytes == memory.weight_bytes + memory.gradient_bytes + memory.optimizer_bytes


def test_the_base_is_shared_from_stage_3_on():
    bases = lora_memory(8e9, 40e6, 8, stage=[0, 1, 2, 3]).base_bytes
    assert list(bases) == [16e9, 16e9, 16e9, 2e9]


def test_embedding_and_head_stay_16_bit_in_qlora():
    memory = lora_memory(8e9, 40e6, base_dtype="nf4", unquantized_params=1e9)
    assert memory.base_bytes == pytest.approx(7e9 * DTYPES["nf4"].bytes_per_element + 2e9)
    with pytest.raises(ValueError, match="unquantized_params is more than base_params"):
        lora_memory(8e9, 40e6, base_dtype="nf4", unquantized_params=np.array([1e9, 9e9]))


LLAMA_8B = "meta-llama/Llama-3.1-8B"
PARAMS_8B = 8_030_261_248


@pytest.mark.parametrize("name", ["lora", "qlora"])
def test_as_a_recipe_it_gives_what_base_and_adapters_give_apart(name):
    model = load_models()[LLAMA_8B]
    trained = lora_params(model, RANK, (ALL_LINEAR,))
    outside_layers = 2 * 128_256 * 4096 + 4096  # embedding, head, final norm
    apart = lora_memory(
        PARAMS_8B,
        trained,
        64,
        stage=3,
        base_dtype={"lora": "bf16", "qlora": "nf4"}[name],
        unquantized_params=outside_layers,
    )
    together = zero_memory(PARAMS_8B, 64, stage=3, optimizer=named_recipe(model, name))
    assert together.total_bytes == pytest.approx(apart.total_bytes)


def test_a_frozen_base_is_not_sent_after_the_step():
    recipe = named_recipe(load_models()[LLAMA_8B], "lora")
    for stage in (1, 2):
        sent = zero_traffic(PARAMS_8B, 8, stage=stage, optimizer=recipe)
        # 41,943,040 trained parameters, as PEFT prints for rank 16 on all linear layers; 2 bytes each, over a ring of 8
        assert sent.weight_bytes == pytest.approx(2 * 41_943_040 * 7 / 8)
    assert zero_traffic(PARAMS_8B, 8, stage=3, optimizer=recipe).weight_bytes > 2 * 2 * PARAMS_8B * 7 / 8


# A rank-16 adapter on each matrix of Llama 3.1 70B: 80 x 16 x (2 (8192 + 8192) + 2 (8192 + 1024) + 3 (8192 + 28672)).
# Their gradients are fewer than DeepSpeed's bucket of 5e8 elements, so all of them wait in it.
def test_the_bucket_of_stage_2_holds_the_adapters_gradients_alone():
    model = load_models()["meta-llama/Llama-3.1-70B"]
    total, adapters = 70_553_706_496, 207_093_760
    assert float(lora_params(model, RANK, (ALL_LINEAR,))) == adapters
    peak = zero_peak(total, 64, stage=2, unit_params=1, optimizer=named_recipe(model, "lora"))
    assert peak.gradient_bucket_bytes == pytest.approx(2 * adapters)
    full = zero_peak(total, 64, stage=2, unit_params=1)
    assert full.gradient_bucket_bytes == 2 * 5e8


def test_other_names_are_those_of_the_zero_table():
    model = load_models()[LLAMA_8B]
    assert named_recipe(model, "adam") is RECIPES["adam"]
    with pytest.raises(ValueError, match="dora"):
        named_recipe(model, "dora")
