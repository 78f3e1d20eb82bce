"""The built-in layers are those of the catalog, and others of the same kind come from it."""

from __future__ import annotations

import sys

import pytest

from core.kv_cache import kv_bytes_per_token
from core.microbench.shapes import CPU_MODEL, GPU_MODELS, SHAPES, LayerShape, find_shape, shape_of
from core.model_spec import load_models
from core.params import params_of_layer


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.model)
def test_a_built_in_shape_is_the_catalogs(shape):
    assert shape_of(load_models()[shape.model]) == shape


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.model)
def test_matrices_and_norms_are_all_weights_of_the_layer(shape):
    model = load_models()[shape.model]
    norms = 2 * shape.hidden_size + (2 * shape.head_dim if shape.qk_norm else 0)
    layer = params_of_layer(model.layers[0], model.hidden_size, model.residual_streams)
    assert shape.num_weights + norms == layer.total


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.model)
def test_a_token_is_cached_in_as_many_elements_as_the_core_counts(shape):
    model = load_models()[shape.model]
    assert 2 * shape.kv_width * model.num_layers == kv_bytes_per_token(model, 1000)


def test_the_four_models_differ_in_what_a_decode_step_reads():
    shapes = [find_shape(model) for model in GPU_MODELS]
    assert len({shape.num_weights for shape in shapes}) == 4
    assert {shape.num_heads // shape.num_kv_heads for shape in shapes} == {1, 4, 5, 8}
    assert find_shape(CPU_MODEL).num_weights < min(shape.num_weights for shape in shapes)


def test_another_model_comes_from_the_catalog():
    assert find_shape("Qwen/Qwen3-8B") == LayerShape("Qwen/Qwen3-8B", 4096, 32, 8, 128, 12288, qk_norm=True)


def test_a_shape_brought_along_comes_first():
    own = LayerShape(GPU_MODELS[0], 64, 4, 2, 16, 96)
    assert find_shape(GPU_MODELS[0], (own,)) is own


@pytest.mark.parametrize("model", ["deepseek-ai/DeepSeek-V3", "mistralai/Mixtral-8x7B-v0.1"])
def test_another_kind_of_layer_is_refused(model):
    with pytest.raises(ValueError, match="only layers of softmax attention with a dense gated MLP are measured"):
        find_shape(model)


def test_an_unknown_model_is_refused_with_those_that_are_known():
    with pytest.raises(
        ValueError, match=r"'no/such' is not in the catalog; the built-in ones are meta-llama/Llama-3.1-8B"
    ):
        find_shape("no/such")


def test_without_the_catalog_the_built_in_ones_still_serve(monkeypatch):
    monkeypatch.setitem(sys.modules, "core.model_spec", None)
    assert find_shape(GPU_MODELS[1]).hidden_size == 8192
    with pytest.raises(ValueError, match="is not built in, and the catalog cannot be read here"):
        find_shape("Qwen/Qwen3-8B")
