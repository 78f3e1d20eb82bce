"""Activations against the equations and figures of Korthikanti et al., and real layers counted by hand."""

import numpy as np
import pytest

from core.activations import activation_bytes_per_layer, layer_activation_bytes, logits_bytes
from core.model_spec import Attention, Layer, Mlp
from core.parallelism import in_flight_micro_batches
from core.units import GB, GIB
from tests.published import as_printed, rows

GPT3 = {"seq_len": 2048, "micro_batch_size": 1, "hidden_size": 12288, "num_attention_heads": 96}


def gpt_layer(hidden_size, num_heads):
    head = hidden_size // num_heads
    return Layer(
        mixer=Attention(num_heads=num_heads, num_kv_heads=num_heads, head_dim=head, v_head_dim=head),
        mlp=Mlp(intermediate_size=4 * hidden_size, gated=False),
    )


@rows("activation_share")
def test_matches_the_shares_of_figure_7(row):
    baseline = row["inputs"] | {"sequence_parallel": False, "recompute": "none"}
    share = activation_bytes_per_layer(**row["inputs"]) / activation_bytes_per_layer(**baseline)
    assert 100 * share == as_printed(row)


@rows("first_stage")
def test_matches_the_first_stage_of_figure_1(row):
    layers, p, v = (row["pipeline"][key] for key in ("num_layers", "pipeline_parallel", "virtual_stages"))
    in_flight = in_flight_micro_batches(p, 10**6, virtual_stages=v)
    assert activation_bytes_per_layer(**row["inputs"]) * layers / p * in_flight / GIB == as_printed(row)


@rows("score_share")
def test_attention_scores_weigh_5_a_s_over_h(row):
    inputs = row["inputs"] | {"micro_batch_size": 1}
    scores = activation_bytes_per_layer(**inputs) - activation_bytes_per_layer(**inputs, recompute="selective")
    assert scores / (inputs["seq_len"] * inputs["hidden_size"]) == as_printed(row)


@rows("selective_saving")
def test_selective_recomputation_saves_70_percent_of_gpt3(row):
    inputs = row["inputs"] | {"micro_batch_size": 1}
    kept = activation_bytes_per_layer(**inputs, recompute="selective") / activation_bytes_per_layer(**inputs)
    assert 100 * (1 - kept) == as_printed(row)


@rows("kept_outputs")
def test_one_hidden_tensor_for_each_micro_batch_in_flight(row):
    one = row["inputs"] | {"num_attention_heads": 128, "recompute": "full"}
    stages = one.pop("pipeline_parallel")
    assert activation_bytes_per_layer(**one) * in_flight_micro_batches(stages, 280) / GIB == as_printed(row)


# ZeRO, section 3.2, speaks in round numbers; each row says what its own rule leaves out.
@rows("activations_rough")
def test_zeros_round_numbers_lie_between_kept_inputs_and_all_kept_tensors(row):
    inputs = {key: row["inputs"][key] for key in ("seq_len", "micro_batch_size", "hidden_size")}
    inputs["num_attention_heads"] = inputs["hidden_size"] // 64
    least, most = (
        activation_bytes_per_layer(**inputs, recompute=recompute) * row["inputs"]["num_layers"] / GB
        for recompute in ("full", "none")
    )
    assert 0.85 * least < row["expected"] < most
    assert row["reason"]


@pytest.mark.parametrize(
    ("options", "bytes_per_sbh"),
    [
        ({}, 34 + 80),
        ({"recompute": "selective"}, 34),
        ({"recompute": "full"}, 2),
        ({"tensor_parallel": 8}, 10 + 24 / 8 + 80 / 8),
        ({"tensor_parallel": 8, "recompute": "selective"}, 10 + 24 / 8),
        ({"tensor_parallel": 8, "sequence_parallel": True}, (34 + 80) / 8),
        ({"tensor_parallel": 8, "sequence_parallel": True, "recompute": "selective"}, 34 / 8),
        ({"tensor_parallel": 8, "recompute": "full"}, 2),
        ({"tensor_parallel": 8, "sequence_parallel": True, "recompute": "full"}, 2 / 8),
    ],
)
def test_each_row_of_table_2(options, bytes_per_sbh):
    assert activation_bytes_per_layer(**GPT3, **options) / (2048 * 12288) == pytest.approx(bytes_per_sbh)


@pytest.mark.parametrize("recompute", ["none", "selective", "full"])
@pytest.mark.parametrize("sequence_parallel", [False, True])
@pytest.mark.parametrize("tensor_parallel", [1, 8])
def test_counting_tensors_of_a_gpt_layer_gives_the_papers_equation(tensor_parallel, sequence_parallel, recompute):
    split = {"tensor_parallel": tensor_parallel, "sequence_parallel": sequence_parallel, "recompute": recompute}
    counted = layer_activation_bytes(
        gpt_layer(12288, 96), 12288, seq_len=2048, fused_attention=False, dropout=True, **split
    )
    assert counted == pytest.approx(activation_bytes_per_layer(**GPT3, **split))


def test_sequence_lengths_by_tensor_parallelism_gives_a_grid():
    lengths, gpus = np.array([[1024], [2048], [4096]]), np.array([1, 2, 4, 8])
    grid = activation_bytes_per_layer(**(GPT3 | {"seq_len": lengths}), tensor_parallel=gpus)
    layer = layer_activation_bytes(gpt_layer(12288, 96), 12288, seq_len=lengths, tensor_parallel=gpus)
    assert grid.shape == layer.shape == (3, 4)
    assert grid[1, 3] == activation_bytes_per_layer(**GPT3, tensor_parallel=8)


def test_tiled_attention_grows_with_the_sequence_and_not_its_square():
    layer = gpt_layer(4096, 32)
    tiled = layer_activation_bytes(layer, 4096, seq_len=[8192, 65536])
    stored = layer_activation_bytes(layer, 4096, seq_len=[8192, 65536], fused_attention=False)
    assert tiled[1] / tiled[0] == 8
    assert stored[1] / stored[0] > 40


# Llama 3.1 8B by hand, 16 bits, no dropout, tiled attention: norms 2 x 2h, inputs 2 x 2h, Q and output 2h each,
# K and V 2 x 2 x 1024, gate, up and product 3 x 2 x 14336, softmax statistics 32 x 4 bytes.
def test_a_llama_layer_by_hand():
    layer = Layer(
        mixer=Attention(num_heads=32, num_kv_heads=8, head_dim=128, v_head_dim=128), mlp=Mlp(intermediate_size=14336)
    )
    by_hand = 12 * 4096 + 4 * 1024 + 6 * 14336 + 4 * 32
    assert layer_activation_bytes(layer, 4096, seq_len=8192) == 8192 * by_hand
    assert layer_activation_bytes(layer, 4096, seq_len=8192, recompute="selective") == 8192 * (by_hand - 4 * 32)
    assert layer_activation_bytes(layer, 4096, seq_len=8192, context_parallel=8) == 1024 * by_hand


# Counted by torch.autograd.graph.saved_tensors_hooks, PyTorch 2.11 on an H200, bf16, 2,048 tokens: distinct storages
# that one layer's forward pass saves, parameters apart. Each norm keeps 4 bytes of statistics a token (a LayerNorm 8),
# which the count leaves out.
def test_matches_what_pytorch_saves_for_a_llama_layer():
    layer = Layer(
        mixer=Attention(num_heads=32, num_kv_heads=8, head_dim=128, v_head_dim=128), mlp=Mlp(intermediate_size=14336)
    )
    counted = layer_activation_bytes(layer, 4096, seq_len=2048, fused_mlp=False)
    assert counted / 2048 + 2 * 4 == 168_072


def test_matches_what_pytorch_saves_for_a_gpt_layer_with_stored_scores():
    counted = layer_activation_bytes(gpt_layer(2048, 16), 2048, seq_len=2048, fused_attention=False, dropout=True)
    assert counted / 2048 / 2048 + 2 * 8 / 2048 == 114.0078125


def test_hyper_connections_keep_every_stream():
    layer = Layer(mlp=Mlp(intermediate_size=1024))
    one = layer_activation_bytes(layer, 256, seq_len=1)
    assert layer_activation_bytes(layer, 256, seq_len=1, residual_streams=4) == one + 2 * 4 * 256
    assert layer_activation_bytes(layer, 256, seq_len=1, residual_streams=4, recompute="full") == 2 * 4 * 256


# Megatron-LM issue 525: GPT-2 large (36 layers, h 1280, 20 heads, V 50,304 padded), 32 GB, no tiled attention.
def test_gpt2_large_overflows_32_gb_by_scores_and_logits():
    inputs = {"seq_len": 1024, "micro_batch_size": 8}
    layers = 36 * activation_bytes_per_layer(**inputs, hidden_size=1280, num_attention_heads=20)
    scores = layers - 36 * activation_bytes_per_layer(
        **inputs, hidden_size=1280, num_attention_heads=20, recompute="selective"
    )
    logits = logits_bytes(**inputs, vocab_size=50304, copies=[1, 2, 3])
    assert logits == pytest.approx(np.array([1, 2, 3]) * 1024 * 8 * 50304 * 4)
    assert scores == 36 * 5 * 20 * 1024**2 * 8
    assert 18 * 774e6 + layers + logits[0] > 32 * GB


def test_logits_are_split_over_the_vocabulary():
    assert logits_bytes(seq_len=8192, micro_batch_size=1, vocab_size=128256, tensor_parallel=8) == 8192 * 128256 * 4 / 8


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seq_len": 0}, "seq_len=0 must be a whole number, 1 or more"),
        ({"hidden_size": float("nan")}, "hidden_size=nan must be a finite number"),
        ({"tensor_parallel": 5}, "tensor_parallel=5 does not divide num_attention_heads=96; choose one of"),
        ({"recompute": "some"}, "recompute='some' is not known"),
    ],
)
def test_a_bad_input_is_refused_in_words(changed, message):
    with pytest.raises(ValueError, match=message):
        activation_bytes_per_layer(**(GPT3 | changed))


def test_tensor_parallelism_that_fits_no_key_head_is_refused():
    layer = Layer(mixer=Attention(num_heads=12, num_kv_heads=6, head_dim=64, v_head_dim=64))
    with pytest.raises(ValueError, match="tensor_parallel=4 neither divides num_kv_heads=6 nor is a multiple"):
        layer_activation_bytes(layer, 768, seq_len=1024, tensor_parallel=4)
