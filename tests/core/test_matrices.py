"""Matrices are the parameter count without its biases and norms, for every kind of layer."""

import numpy as np
import pytest

from core.matrices import layer_matrices, outer_matrices
from core.model_spec import Layer, Mlp, Moe
from core.params import count_params, params_of_layer
from tests.configs import CONFIGS, model_of
from tests.shapes import attention, mla, stack


def stored(layer, model, **degrees):
    return sum(float(matrix.params) for matrix in layer_matrices(layer, model, **degrees))


@pytest.mark.parametrize("name", CONFIGS)
def test_real_layers_are_their_matrices_and_a_few_norms_and_biases(name):
    model = model_of(name)
    for layer in model.layer_counts:
        total = params_of_layer(layer, model.hidden_size, model.residual_streams).total
        rest = total - stored(layer, model)
        assert layer.norm_params <= rest <= 0.002 * total + layer.norm_params


@pytest.mark.parametrize("name", CONFIGS)
def test_a_token_meets_the_active_weights(name):
    model = model_of(name)
    met = sum(
        count * float(matrix.flops)
        for layer, count in model.layer_counts.items()
        for matrix in layer_matrices(layer, model)
    ) + sum(float(matrix.flops) for matrix in outer_matrices(model))
    assert met / 2 == pytest.approx(count_params(model).active, rel=4e-4)


def test_tensor_parallelism_splits_heads_and_widths_and_copies_the_rest():
    layer = Layer(mixer=attention(8, 128, heads=64), mlp=Mlp(intermediate_size=28_672))
    model = stack((1, layer.mixer))
    degrees = np.array([1, 2, 4, 8, 16])
    split = {m.label: m.params for m in layer_matrices(layer, model, tensor_parallel=degrees)}
    assert list(split["output projection"] * degrees) == [64 * 128 * 4096] * 5
    assert list(split["MLP down projection"] * degrees) == [28_672 * 4096] * 5
    heads_and_groups = 4096 * 128 * np.array([64 + 16, 32 + 8, 16 + 4, 8 + 2, 4 + 2])  # from 8 on a key head is copied
    assert list(split["query, key and value projections"]) == list(heads_and_groups)


def test_latents_and_routers_lie_on_every_gpu():
    moe = Moe(num_experts=64, top_k=8, expert_intermediate_size=1024, shared_intermediate_size=1024)
    model = mla(1)
    layer = Layer(mixer=next(iter(model.mixers)), mlp=moe)
    one, eight = ({m.label: m.params for m in layer_matrices(layer, model, tensor_parallel=t)} for t in (1, 8))
    assert one["query and key/value latents"] == eight["query and key/value latents"]
    assert one["router"] == eight["router"]
    assert one["expert down projection"] == 8 * eight["expert down projection"]


def test_expert_parallelism_shares_stored_experts_and_not_a_tokens_work():
    layer = Layer(mlp=Moe(num_experts=64, top_k=8, expert_intermediate_size=1024))
    one, eight = ({m.label: m for m in layer_matrices(layer, stack((1, None)), expert_parallel=e)} for e in (1, 8))
    first = "expert gate and up projections"
    assert one[first].params == 8 * eight[first].params
    assert one[first].flops == eight[first].flops == 2 * 8 * 2 * 4096 * 1024
