"""Weights on one GPU of a deployment: what is stored, what a step reads, and in which formats.

Tensor parallelism splits heads, MLP widths and the vocabulary; latents, routers, indexers and norms lie on every GPU.
Of routed experts a step reads those that some token chose.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats, one_of, positive, whole
from core.dtypes import bytes_per_element
from core.kv_cache import Layout
from core.matrices import Matrix, layer_matrices, outer_matrices
from core.model_spec import ModelSpec, Moe
from core.params import count_params
from core.precision import KEPT_IN_16_BITS, PARTS
from core.sequence_state import MOST_GPUS

_16_BITS = 2.0  # bytes
# The part of the model (core.precision.PARTS) that each kind of matrix belongs to; "norms" where it is none of these.
_PART_OF_KIND = {
    "projection": "attention",
    "indexer": "attention",
    "mlp": "mlp",
    "experts": "experts",
    "router": "router",
    "head": "lm_head",
}


class ServingFormats(TypedDict, total=False):
    """Number formats of a deployment, and how MLA runs.

    weight_dtype: format of the layers' matrices; "bf16".
    expert_dtype: of routed experts where it differs; gpt-oss has "mxfp4" ones; None.
    keep_16bit: parts that stay in 16 bits under a narrower format; see :func:`core.precision.weight_bytes`.
    kv_dtype, indexer_dtype: see :class:`core.kv_cache.KvOptions`; "bf16", None.
    layout: MLA's cache, "latent" (decode then multiplies in the latent's space) or "expanded"; "latent".
    state_dtype, conv_dtype: of constant states; "fp32", "fp32".
    """

    weight_dtype: str
    expert_dtype: str | None
    keep_16bit: Collection[str]
    kv_dtype: str
    indexer_dtype: str | None
    layout: Layout
    state_dtype: str
    conv_dtype: str


@dataclass(frozen=True, slots=True)
class ServedMatrix:
    """Equal matrices of ``layers`` layers, as one GPU holds them; bytes and FLOPs are those of all these layers."""

    layers: int
    matrix: Matrix
    dtype: str  # format in which it is stored
    moe: Moe | None  # where it belongs to routed experts

    @property
    def stored_bytes(self) -> Floats:
        """Bytes on the GPU. [bytes]"""
        return self.layers * self.matrix.params * bytes_per_element(self.dtype)

    @property
    def flops(self) -> Floats:
        """FLOPs of one token. [FLOP per token]"""
        return self.layers * self.matrix.flops

    def read_bytes(self, tokens: ArrayLike) -> Floats:
        """Bytes that a step of so many tokens reads. [bytes]"""
        hit = experts_hit_share(self.moe.top_k, self.moe.num_experts, tokens) if self.moe else 1.0
        return np.asarray(self.stored_bytes * hit)

    @property
    def is_head(self) -> bool:
        """Whether it makes logits, which only sampled tokens need."""
        return self.matrix.kind == "head"


def experts_hit_share(top_k: ArrayLike, num_experts: ArrayLike, tokens: ArrayLike) -> Floats:
    r"""Share of a layer's routed experts that at least one of so many tokens chose, if all are equally likely.

    Args:
        top_k: experts that a token chooses, k. [experts]
        num_experts: E. [experts]
        tokens: tokens of one step. [tokens]

    Returns:
        :math:`1 - (1 - k/E)^{tokens}` [-], broadcast. Real routing is uneven and hits fewer, so this is no floor.
    """
    chosen = np.minimum(whole("top_k", top_k) / whole("num_experts", num_experts), 1.0)
    with np.errstate(divide="ignore"):  # top_k = E: log 0, and all are hit
        return np.asarray(-np.expm1(positive("tokens", tokens) * np.log1p(-chosen)))


def served_matrices(
    model: ModelSpec, tensor_parallel: ArrayLike, formats: ServingFormats, *, absorbed: bool = False
) -> Iterator[ServedMatrix]:
    """Every matrix that a token may meet on one GPU; ``absorbed`` says how latent attention multiplies."""
    gpus = whole("tensor_parallel", tensor_parallel, high=MOST_GPUS)
    dtypes = dtype_of_parts(formats)
    for layer, count in model.layer_counts.items():
        for matrix in layer_matrices(layer, model, tensor_parallel=gpus, absorbed=absorbed):
            moe = layer.mlp if isinstance(layer.mlp, Moe) and matrix.kind == "experts" else None
            yield ServedMatrix(count, matrix, dtypes[_PART_OF_KIND.get(matrix.kind, "norms")], moe)
    for matrix in outer_matrices(model, tensor_parallel=gpus):
        yield ServedMatrix(1, matrix, dtypes[_PART_OF_KIND.get(matrix.kind, "norms")], None)


def vector_bytes(model: ModelSpec, formats: ServingFormats) -> float:
    """Norms, biases and whatever else is no matrix, which every GPU holds and every step reads. [bytes]"""
    return _vectors(model) * bytes_per_element(dtype_of_parts(formats)["norms"])


@lru_cache(maxsize=64)
def _vectors(model: ModelSpec) -> float:
    """The model less its matrices and its lookup tables. [params]"""
    matrices = sum(one.layers * float(one.matrix.params) for one in served_matrices(model, 1, {}))
    return count_params(model).total - matrices - lookup_params(model)


def lookup_params(model: ModelSpec) -> int:
    """Tables of which a token reads a row. A tied embedding is none of them: it is the head, a matrix. [params]"""
    count = count_params(model)
    tables = count.embedding + count.position_embedding + model.embedding_extra_params
    # Projections beside the embedding are matrices.
    tables -= sum(int(m.params) for m in outer_matrices(model) if m.label in dict(model.embedding_extras))
    return tables - (count.embedding if model.tie_word_embeddings else 0)


def stored_weight_bytes(model: ModelSpec, tensor_parallel: ArrayLike, **formats: Unpack[ServingFormats]) -> Floats:
    """Weights that lie on one GPU of a tensor-parallel group, its share of the embedding included.

    Args:
        model: the model.
        tensor_parallel: GPUs of the group; the fullest one's bytes. [GPUs]
        formats: see :class:`ServingFormats`.

    Returns:
        [bytes per GPU]. On one GPU it is :func:`core.precision.weight_bytes`.
    """
    gpus = whole("tensor_parallel", tensor_parallel, high=MOST_GPUS)
    held = sum((one.stored_bytes for one in served_matrices(model, gpus, formats)), np.zeros(()))
    lookups = lookup_params(model) * bytes_per_element(dtype_of_parts(formats)["embedding"])
    return np.asarray(held + lookups / gpus + vector_bytes(model, formats))


def weight_read_bytes(
    model: ModelSpec, tokens: ArrayLike, tensor_parallel: ArrayLike, formats: ServingFormats
) -> Floats:
    """Weights that one GPU reads in a step of so many tokens: each matrix once, of routed experts those hit. [bytes]"""
    read = sum((one.read_bytes(tokens) for one in served_matrices(model, tensor_parallel, formats)), np.zeros(()))
    return np.asarray(read + vector_bytes(model, formats))


def dtype_of_parts(formats: ServingFormats) -> dict[str, str]:
    """The format of each of :data:`core.precision.PARTS`."""
    dtype, kept = formats.get("weight_dtype", "bf16"), formats.get("keep_16bit", KEPT_IN_16_BITS)
    for part in kept:
        one_of("keep_16bit", part, PARTS)
    narrow = bytes_per_element(dtype) < _16_BITS
    dtypes = {part: "bf16" if narrow and part in kept else dtype for part in PARTS}
    expert_dtype = formats.get("expert_dtype")
    return dtypes | ({"experts": expert_dtype} if expert_dtype else {})
