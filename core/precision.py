"""Bytes of weights and KV cache in narrow formats: what the scales add, and which weights stay in 16 bits."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Unpack

from numpy.typing import ArrayLike

from core.checks import Floats, not_negative, one_of, positive, whole
from core.dtypes import bytes_per_element
from core.kv_cache import KvOptions, kv_bytes
from core.mixer_params import mixer_terms
from core.mlp_params import expert_params, mlp_terms
from core.model_spec import Layer, Mlp, ModelSpec, Moe
from core.params import count_params, params_of_layer
from core.units import BITS_PER_BYTE

PARTS = ("embedding", "lm_head", "norms", "router", "attention", "mlp", "experts")
# What published 4- and 8-bit checkpoints leave alone: GPTQ, AWQ, FP8 and MXFP4 ones quantize the layers' matrices.
KEPT_IN_16_BITS = ("embedding", "lm_head", "norms", "router")
_16_BITS = 2.0  # bytes

# Terms of a mixer that are no large matrix: vectors, convolutions, and projections to one number a head.
_SMALL_TERMS = ("bias", "norm", "sinks", "short convolution")


def effective_bits(element_bits: ArrayLike, *, scale_bits: ArrayLike = 0, block_size: ArrayLike = 1) -> Floats:
    """Bits that one element occupies with its share of the block's scale.

    Args:
        element_bits: bits of the element itself. [bits]
        scale_bits: scale and zero point of one block together. [bits]
        block_size: elements that share them. [elements]

    Returns:
        [bits per element], broadcast. 4 bits with a 16-bit scale and a 16-bit zero point for 128 weights: 4.25.

    Source: identity; OCP Microscaling Formats (MX) Specification 1.0, section 5, for blocks of 32 (MXFP4: 4.25).
    """
    return positive("element_bits", element_bits) + not_negative("scale_bits", scale_bits) / whole(
        "block_size", block_size
    )


def quantized_bytes(
    num_elements: ArrayLike, element_bits: ArrayLike, *, scale_bits: ArrayLike = 0, block_size: ArrayLike = 1
) -> Floats:
    """Bytes of so many elements, scales included: 70e9 weights at 4.25 bits are 37 GB and not 35. [bytes]"""
    bits = effective_bits(element_bits, scale_bits=scale_bits, block_size=block_size)
    return not_negative("num_elements", num_elements) * bits / BITS_PER_BYTE


@lru_cache(maxsize=64)
def weight_parts(model: ModelSpec) -> Mapping[str, int]:
    """Stored weights by :data:`PARTS`; they add up to ``count_params(model).total``. [params]

    "norms" are all that is no large matrix: norms, biases, sinks, short convolutions, decays, hyper-connections. A norm
    inside a latent projection counts with that. A tied head is stored once, as the embedding.
    """
    parts = dict.fromkeys(PARTS, 0)
    for layer, times in model.layer_counts.items():
        for part, params in _layer_parts(model, layer).items():
            parts[part] += times * params
    count = count_params(model)
    parts["embedding"] = count.embedding + count.position_embedding + model.embedding_extra_params
    parts["lm_head"] = 0 if model.tie_word_embeddings else count.embedding
    parts["norms"] += count.total - sum(parts.values())  # of the frame: final norm, bias of the head, merged streams
    return MappingProxyType(parts)


def _layer_parts(model: ModelSpec, layer: Layer) -> dict[str, int]:
    """One layer's weights by part; what is in no other part is among the norms. [params]"""
    parts = dict.fromkeys(PARTS, 0)
    if layer.mixer:
        for name, params in mixer_terms(layer.mixer, model.hidden_size):
            parts["norms" if any(small in name for small in _SMALL_TERMS) else "attention"] += params
    if isinstance(layer.mlp, Moe):
        biases = _biases(layer.mlp.expert_intermediate_size, layer.mlp.expert_hidden_size or model.hidden_size)
        one = expert_params(layer.mlp, model.hidden_size) - (biases[layer.mlp.gated] if layer.mlp.expert_bias else 0)
        parts["experts"] = layer.mlp.num_experts * one
    if layer.mlp:
        for name, params in mlp_terms(layer.mlp, model.hidden_size):
            routes = name in ("router", "gate of the shared experts")
            parts["router" if routes else "norms" if "norm" in name else "mlp"] += params
    if isinstance(layer.mlp, Mlp) and layer.mlp.bias:
        parts["mlp"] -= _biases(layer.mlp.intermediate_size, model.hidden_size)[layer.mlp.gated]
    parts["norms"] += params_of_layer(layer, model.hidden_size, model.residual_streams).total - sum(parts.values())
    return parts


def _biases(width: int, hidden_size: int) -> tuple[int, int]:
    """Biases of an MLP with two matrices and of one with three. [params]"""
    return width + hidden_size, 2 * width + hidden_size


def weight_part_bytes(
    model: ModelSpec,
    dtype: str,
    *,
    expert_dtype: str | None = None,
    keep_16bit: Collection[str] = KEPT_IN_16_BITS,
) -> dict[str, float]:
    """Bytes of each of :data:`PARTS`, scales included; arguments as in :func:`weight_bytes`. [bytes]"""
    for part in keep_16bit:
        one_of("keep_16bit", part, PARTS)
    size = bytes_per_element(dtype)
    sizes = {part: max(size, _16_BITS) if part in keep_16bit else size for part in PARTS}
    if expert_dtype is not None:
        sizes["experts"] = bytes_per_element(expert_dtype)
    return {part: params * sizes[part] for part, params in weight_parts(model).items()}


def weight_bytes(
    model: ModelSpec,
    dtype: str,
    *,
    expert_dtype: str | None = None,
    keep_16bit: Collection[str] = KEPT_IN_16_BITS,
) -> float:
    """Bytes of a model's weights in one format, block scales included.

    Args:
        model: the model.
        dtype: format of the matrices, one of :data:`core.dtypes.DTYPES`; of 16 bits and more, of everything.
        expert_dtype: format of routed experts where it differs: gpt-oss is "bf16" with "mxfp4" experts.
        keep_16bit: :data:`PARTS` that stay in 16 bits under a narrower format; empty: none.

    Returns:
        [bytes] of the whole model, before any sharding.

    Leaves out padding of a matrix to whole blocks, and one scale a tensor. Source: model cards of published
    checkpoints, which tests/data/published_serving.json names.
    """
    return sum(weight_part_bytes(model, dtype, expert_dtype=expert_dtype, keep_16bit=keep_16bit).values())


def kv_quantized_bytes(
    model: ModelSpec,
    seq_len: ArrayLike,
    element_bits: ArrayLike,
    *,
    scale_bits: ArrayLike = 0,
    block_size: ArrayLike = 1,
    batch: ArrayLike = 1,
    **options: Unpack[KvOptions],
) -> Floats:
    """KV cache in a format of one's own; for named ones use ``kv_bytes(..., kv_dtype=...)``.

    Args:
        model: the model.
        seq_len: tokens of each sequence. [tokens]
        element_bits: as in :func:`effective_bits`, and so are the next two. [bits]
        scale_bits: [bits]
        block_size: a head's channels of one token, or tokens of one channel. [elements]
        batch: sequences. [sequences]
        options: conventions, see :class:`core.kv_cache.KvOptions`; ``kv_dtype`` has no effect.

    Returns:
        [bytes per GPU], broadcast.

    Source: Liu et al. 2024, arXiv:2402.02750 (KIVI): 2 bits, groups of 32 with a 16-bit scale and zero point, make 3.
    """
    options["kv_dtype"] = "int8"  # one byte an element
    options["indexer_dtype"] = None
    bits = effective_bits(element_bits, scale_bits=scale_bits, block_size=block_size)
    return kv_bytes(model, seq_len, batch=batch, **options) * bits / BITS_PER_BYTE
