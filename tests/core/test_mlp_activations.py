"""What an MLP keeps, dense and routed, counted by hand."""

import pytest

from core.activations import layer_activation_bytes, layer_tensors
from core.kept_tensors import Run
from core.mlp_activations import mlp_tensors
from core.model_spec import Layer, Mlp, Moe


# Megatron-LM issue 1784: an MoE layer is no dense MLP. Widths a token passes: DeepSeek-V3 (8 + 1) x 2,048 = 18,432,
# by luck that of its dense layers; Mixtral 8x7B 2 x 14,336 = 28,672.
@pytest.mark.parametrize(
    ("mlp", "hidden_size", "width"),
    [
        (Moe(num_experts=8, top_k=2, expert_intermediate_size=14336), 4096, 28672),
        (
            Moe(num_experts=256, top_k=8, expert_intermediate_size=2048, shared_intermediate_size=2048),
            7168,
            18432,
        ),
        (Mlp(intermediate_size=18432), 7168, 18432),
    ],
)
def test_an_moe_layer_counts_every_expert_that_a_token_passes(mlp, hidden_size, width):
    run = Run.of(seq_len=1)
    inner = [t for t in layer_tensors(Layer(mlp=mlp), hidden_size, seq_len=1) if t.label.endswith("their product")]
    assert sum(tensor.bytes(run) for tensor in inner) == 2 * width


def test_experts_keep_a_copy_of_a_token_for_each_choice():
    layer = Layer(mlp=Moe(num_experts=8, top_k=2, expert_intermediate_size=14336))
    by_hand = 2 * (4096 + 4096) + 4 * 8 + 2 * 2 * 4096 + 3 * 2 * 2 * 14336  # norm, input, router, copies, inner
    assert layer_activation_bytes(layer, 4096, seq_len=1, keep_expert_outputs=False) == by_hand
    assert layer_activation_bytes(layer, 4096, seq_len=1) == by_hand + 2 * 2 * 4096


def test_even_routing_makes_expert_parallelism_free_and_uneven_routing_does_not():
    layer = Layer(mlp=Moe(num_experts=64, top_k=8, expert_intermediate_size=1024))
    alone, spread = layer_activation_bytes(layer, 4096, seq_len=4096, expert_parallel=[1, 8])
    assert alone == spread
    alone, spread = layer_activation_bytes(layer, 4096, seq_len=4096, expert_parallel=[1, 8], expert_load=1.5)
    assert spread > alone, "one GPU with all experts gets all tokens, whatever the routing"


def bytes_a_token(mlp, hidden_size=4096, **options):
    run = Run.of(seq_len=1, **options)
    return sum(float(tensor.bytes(run)) for tensor in mlp_tensors(mlp, hidden_size, run))


# Korthikanti et al. 2022, section 4.1: the MLP keeps 19 s b h, of which 2 are its input and 1 is its dropout mask.
def test_a_gpt_mlp_keeps_16_bytes_for_each_hidden_element():
    assert bytes_a_token(Mlp(intermediate_size=4 * 4096, gated=False)) == 16 * 4096


# Llama 3.1 8B, width 14,336 in 16 bits: gate, up and their product; unfused also the gate after SiLU.
def test_a_gate_keeps_three_tensors_and_unfused_a_fourth():
    llama = Mlp(intermediate_size=14_336)
    assert bytes_a_token(llama) == 3 * 2 * 14_336
    assert bytes_a_token(llama, fused_mlp=False) == 4 * 2 * 14_336
    assert bytes_a_token(llama, tensor_parallel=8, context_parallel=2) == 3 * 2 * 14_336 / 16


# Eight times as narrow an expert meets eight times the tokens; only what is as wide as the model grows.
def test_splitting_experts_trades_width_for_tokens():
    mixtral = Moe(num_experts=8, top_k=2, expert_intermediate_size=14_336)
    split, whole = (bytes_a_token(mixtral, tensor_parallel=8, expert_tensor_parallel=gpus) for gpus in (8, 1))
    assert whole == 4 * 8 + (2 * 2 * 2 * 4096 + 3 * 2 * 2 * 14_336) / 8
    assert split == 4 * 8 + 2 * 2 * 2 * 4096 + 3 * 2 * 2 * 14_336 / 8


def test_shared_experts_and_a_dense_mlp_are_kept_beside_the_routed():
    plain = Moe(num_experts=16, top_k=2, expert_intermediate_size=512)
    shared = plain.model_copy(update={"shared_intermediate_size": 768})
    beside = plain.model_copy(update={"parallel_dense": Mlp(intermediate_size=2048)})
    assert bytes_a_token(shared) - bytes_a_token(plain) == 3 * 2 * 768
    assert bytes_a_token(beside) - bytes_a_token(plain) == 2 * 4096 + 3 * 2 * 2048
