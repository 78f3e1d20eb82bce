"""The weight matrices that a token is multiplied with, part by part: shapes, from which FLOPs and bytes follow.

Biases, norms and lookup tables are no matrices. Shapes are those of one GPU of a tensor-parallel group: heads and MLP
widths are split, routers lie on every GPU. Token mixers are in :mod:`core.mixer_matrices`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from core.matrix import Matrix, Size
from core.mixer_matrices import mixer_matrices
from core.model_spec import Layer, Mlp, MlpKind, ModelSpec

__all__ = ["Matrix", "Size", "layer_matrices", "mixer_matrices", "mlp_matrices", "outer_matrices"]


def dense_matrices(name: str, inputs: int, width: Size, *, gated: bool) -> Iterator[Matrix]:
    """An MLP on one GPU. A gate shares the up projection's input, so both are one product."""
    first = f"{name} gate and up projections" if gated else f"{name} up projection"
    yield Matrix(first, inputs, width * (2 if gated else 1), kind="mlp")
    yield Matrix(f"{name} down projection", width, inputs, kind="mlp")


def mlp_matrices(
    mlp: MlpKind, hidden_size: int, *, tensor_parallel: ArrayLike = 1, expert_parallel: ArrayLike = 1
) -> Iterator[Matrix]:
    """All matrices of an MLP on one GPU; each expert is split like a dense MLP, and a GPU stores its share of them."""
    gpus = np.asarray(tensor_parallel, dtype=np.float64)
    if isinstance(mlp, Mlp):
        yield from dense_matrices("MLP", hidden_size, mlp.intermediate_size / gpus, gated=mlp.gated)
        return
    yield Matrix("router", hidden_size, mlp.num_experts, kind="router")
    if mlp.expert_hidden_size:
        yield Matrix("projection into the expert space", hidden_size, mlp.expert_hidden_size, kind="mlp")
    space = mlp.expert_hidden_size or hidden_size
    stored = mlp.num_experts / np.asarray(expert_parallel, dtype=np.float64)
    for one in dense_matrices("expert", space, mlp.expert_intermediate_size / gpus, gated=mlp.gated):
        yield Matrix(one.label, one.inputs, one.outputs, stored, mlp.top_k, "experts")
    if mlp.expert_hidden_size:
        yield Matrix("projection out of the expert space", mlp.expert_hidden_size, hidden_size, kind="mlp")
    if mlp.shared_intermediate_size:
        width = mlp.shared_intermediate_size / gpus
        yield from dense_matrices("shared expert", hidden_size, width, gated=mlp.gated)
    if mlp.shared_gate:
        yield Matrix("gate of the shared experts", hidden_size, 1, kind="router")
    if mlp.parallel_dense:
        yield from mlp_matrices(mlp.parallel_dense, hidden_size, tensor_parallel=tensor_parallel)


def layer_matrices(
    layer: Layer,
    model: ModelSpec,
    *,
    tensor_parallel: ArrayLike = 1,
    expert_parallel: ArrayLike = 1,
    absorbed: bool = False,
) -> Iterator[Matrix]:
    """All matrices of one layer, hyper-connections and named extras included."""
    hidden = model.hidden_size
    if layer.mixer:
        yield from mixer_matrices(layer.mixer, hidden, tensor_parallel=tensor_parallel, absorbed=absorbed)
    if layer.mlp:
        yield from mlp_matrices(layer.mlp, hidden, tensor_parallel=tensor_parallel, expert_parallel=expert_parallel)
    streams, parts = model.residual_streams, (layer.mixer is not None) + (layer.mlp is not None)
    if streams > 1 and parts:  # reads from, writes to and mixes the residual streams around each part
        rows = (2 + streams) * streams
        yield Matrix("hyper-connections", streams * hidden, rows, parts, parts, "other")
    yield from _named(layer.extras)


def outer_matrices(model: ModelSpec, *, tensor_parallel: ArrayLike = 1) -> Iterator[Matrix]:
    """Matrices outside the layers: the output head, tied or not, and what stands beside the embedding."""
    if model.residual_streams > 1:
        width = model.residual_streams * model.hidden_size
        yield Matrix("merge of the residual streams", width, model.residual_streams, kind="other")
    yield from _named((*model.embedding_extras, *model.final_extras))
    columns = model.vocab_size / np.asarray(tensor_parallel, dtype=np.float64)
    yield Matrix("output head", model.embedding_size or model.hidden_size, columns, kind="head")


def _named(extras: tuple[tuple[str, int], ...]) -> Iterator[Matrix]:
    """Extras carry a number of weights and no shape; all but norms and scalars are small matrices."""
    for label, params in extras:
        if "norm" not in label and label != "activation":
            yield Matrix(label, params, 1, kind="named")
