"""Every operator of a model in one pass of training, prefill or decode: FLOPs, bytes, and so its place at the roofline.

Numbers are those of one GPU of a tensor-parallel group, over all layers, with every operand moved once: floors, which
caches cannot lower and which rereads raise. Sums over operators are held to :mod:`core.flops`, :mod:`core.params` and
:mod:`core.kv_cache` by tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats, whole
from core.hardware import Accelerator
from core.matrices import Matrix, Size, layer_matrices, outer_matrices
from core.mixer_operators import mixing_operators
from core.model_spec import LatentAttention, Layer, ModelSpec, Moe
from core.params import count_params, params_of_layer
from core.serving_weights import experts_hit_share
from core.vector_operators import (
    embedding,
    head_elementwise,
    layer_elementwise,
    optimizer_step,
)
from core.work import NOTHING, Operator, Phase, Work, WorkOptions, merged


def model_operators(
    model: ModelSpec, phase: Phase, *, seq_len: ArrayLike, **options: Unpack[WorkOptions]
) -> tuple[Operator, ...]:
    """Operators of one pass, layers added up by label, in the order in which the pass meets them.

    Args:
        model: the model.
        phase: "training": forward and backward of ``batch`` sequences of ``seq_len`` and one optimizer step. "prefill":
            their forward pass, logits for the last token of each alone. "decode": one token for each of ``batch``
            sequences, which are ``seq_len`` long with it.
        seq_len: tokens of each sequence. [tokens]
        options: see :class:`core.work.WorkOptions`; seq_len, batch and parallel degrees broadcast.

    Returns:
        one :class:`~core.work.Operator` a label; :func:`core.work.merged` adds them up by kind.

    Of experts, a pass reads those that some token chose: E (1 - (1 - k / E)^tokens) if each token chooses evenly and on
    its own. Trained routers are less even, so small batches hit fewer.
    """
    work = Work.of(phase, seq_len, **options)
    shards = whole("optimizer_shards", options.get("optimizer_shards", 1))
    operators: list[Operator] = [embedding(model, work)]
    for layer, count in model.layer_counts.items():
        operators += layer_operators(layer, count, model, work)
    operators += [
        _matmul(matrix, 1, model, work) for matrix in outer_matrices(model, tensor_parallel=work.tensor_parallel)
    ]
    operators += head_elementwise(model, _outer_rest(model), work)
    if work.trains:
        held = held_params(model, work)
        operators.append(optimizer_step(held, options.get("recipe", "adam"), shards))
    return merged(operators)


def layer_operators(layer: Layer, count: int, model: ModelSpec, work: Work) -> Iterator[Operator]:
    """Operators of ``count`` equal layers."""
    sparse = isinstance(layer.mixer, LatentAttention) and bool(layer.mixer.indexer or layer.mixer.shared_top_k)
    absorbed = work.absorbed(sparse=sparse)
    hit: Size = 1.0  # share of the stored experts that are read, chosen by tokens of all GPUs that share them
    if isinstance(layer.mlp, Moe):
        experts, chosen = layer.mlp.num_experts, layer.mlp.top_k
        hit = experts_hit_share(chosen, experts, work.tokens * work.expert_parallel)
    for matrix in layer_matrices(
        layer,
        model,
        tensor_parallel=work.tensor_parallel,
        expert_parallel=work.expert_parallel,
        absorbed=absorbed,
    ):
        yield _matmul(matrix, count, model, work, hit if matrix.kind == "experts" else 1.0)
    if layer.mixer:
        yield from mixing_operators(layer.mixer, count, work, absorbed=absorbed)
    yield from layer_elementwise(layer, count, model, _rest(layer, model), work)


def time_floor_s(operators: Iterable[Operator], accelerator: Accelerator, dtype: str) -> Floats:
    """The pass at the roofline: each operator after the other, each as fast as its limit allows. [s]"""
    return np.asarray(sum((operator.time_floor_s(accelerator, dtype) for operator in operators), np.zeros(())))


def _matmul(matrix: Matrix, count: int, model: ModelSpec, work: Work, hit: Size = 1.0) -> Operator:
    """Tokens times a matrix. Backward makes two such products: one reads the weights again, one writes their gradient;
    inputs, outputs and the gradients of both are moved twice more.
    """
    tokens = work.batch * np.ones_like(work.seq_len) if matrix.kind == "head" and not work.trains else work.tokens
    weights, wide = matrix.params * hit, (matrix.inputs + matrix.outputs) * matrix.used
    if matrix.kind == "convolution":  # one channel in and out; its last inputs are a state
        wide = 2 * np.asarray(matrix.used)
    if matrix.kind == "named":  # an extra without a shape: from the residual stream and back
        wide = 2.0 * model.hidden_size
    passes = work.forwards(matrix.kind) + (2 if work.trains else 0)
    cache = NOTHING
    if matrix.kind == "convolution" and work.phase != "training":
        tails = (2 if work.phase == "decode" else 1) * work.batch * np.ones_like(work.seq_len)
        cache = count * tails * work.conv_size * np.asarray(matrix.used) * (np.asarray(matrix.inputs) - 1)
    return Operator(
        label=matrix.label,
        kind=matrix.kind,
        count=count * passes,
        flops=count * passes * tokens * matrix.flops,
        weight_bytes=count * passes * work.weight_size * weights,
        activation_bytes=count * passes * work.activation_size * tokens * wide,
        cache_bytes=cache,
    )


def _rest(layer: Layer, model: ModelSpec) -> float:
    """Weights of a layer that are in no matrix: norms, biases, sinks. [params]"""
    total = params_of_layer(layer, model.hidden_size, model.residual_streams).total
    return total - sum(float(matrix.params) for matrix in layer_matrices(layer, model))


def _outer_rest(model: ModelSpec) -> float:
    """Weights outside the layers that are neither in a matrix nor looked up. [params]"""
    count = count_params(model)
    layers = sum(
        times * params_of_layer(layer, model.hidden_size, model.residual_streams).total
        for layer, times in model.layer_counts.items()
    )
    looked_up = count.position_embedding + count.lookup_tables + (0 if model.tie_word_embeddings else count.embedding)
    return count.total - layers - looked_up - sum(float(matrix.params) for matrix in outer_matrices(model))


def held_params(model: ModelSpec, work: Work) -> Floats:
    """Weights that one GPU holds and updates. [params]"""
    count, t = count_params(model), work.tensor_parallel
    matrices = np.zeros_like(t)
    for layer, times in model.layer_counts.items():
        split = layer_matrices(layer, model, tensor_parallel=t, expert_parallel=work.expert_parallel)
        matrices = matrices + times * (sum((m.params for m in split), np.zeros_like(t)) + _rest(layer, model))
    outside = sum((m.params for m in outer_matrices(model, tensor_parallel=t)), np.zeros_like(t))
    tables = (
        count.position_embedding + (count.lookup_tables + (0 if model.tie_word_embeddings else count.embedding)) / t
    )
    return np.asarray(matrices + outside + _outer_rest(model) + tables)
