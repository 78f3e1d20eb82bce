"""Kernels of one forward pass: one an operator, as serving engines run, or one an operation, as plain PyTorch does.

Plain counts follow what transformers 5.24 dispatches under torch 2.13 (eager attention, views left out): 48 in a Llama
layer, 23 in one of GPT-2, 92 in one of Gemma 3.
"""

from __future__ import annotations

from collections.abc import Iterable

from core.model_spec import Attention, LatentAttention, Layer, ModelSpec
from core.work import Operator

PLAIN_KERNELS = {
    "rotary positions": 10,  # for queries and keys each: two products, a negation, a concatenation, a sum
    "query, key and value projections": 3,
    "query and key/value latents": 2,
    "MLP gate and up projections": 2,
    "shared expert gate and up projections": 2,
    "cache write": 2,
    "routing and permutation": 17,  # softmax, top k, sort, counts, gathers, weights, sum; groups of experts take more
}
RMS_NORM_KERNELS = 8  # widen to fp32, square, average, add, root, multiply, narrow, scale; Gemma's takes ten
ATTENTION_KERNELS = 7  # product, scale, mask, softmax, 2 casts, product
GROUP_COPIES = 2  # keys and values copied for the heads that share them


def num_kernels(model: ModelSpec, operators: Iterable[Operator], *, fused: bool) -> int:
    """Kernels of one forward pass. [kernels]

    Args:
        model: the model, for what it normalizes and what its heads share.
        operators: of its decode step or prefill; those of :func:`core.operators.model_operators`.
        fused: one kernel an operator and a norm, the residual sum with it; or one an operation, an estimate for plain
            PyTorch code: within a sixth of what transformers dispatches, a fifth too few with DeepSeek-V3's routing.
    """
    others = [operator for operator in operators if operator.label != "norms and residuals"]
    around = sum(count * _around(layer, model, fused=fused) for layer, count in model.layer_counts.items())
    return around + sum(operator.count * (1 if fused else _plain(operator, model)) for operator in others)


def layer_norms(layer: Layer, model: ModelSpec) -> int:
    """Norms of one layer: around its parts, of queries and keys, of latents. [norms]

    Counted from their weights; a layer that stores none has one before each part.
    """
    each = model.hidden_size * (2 if _has_layer_norm(model) else 1)
    norms = layer.norm_params // each or _parts(layer)
    match layer.mixer:
        case Attention(qk_norm="head" | "width"):
            norms += 2
        case LatentAttention():
            norms += 1 if layer.mixer.q_lora_rank is None else 2
    return norms


def _around(layer: Layer, model: ModelSpec, *, fused: bool) -> int:
    """Kernels of a layer's norms and residual sums. Fused, each sum goes with a norm, if there are as many."""
    norms, sums = layer_norms(layer, model), _parts(layer)
    return max(norms, sums) if fused else norms * _norm_kernels(model) + sums


def _plain(operator: Operator, model: ModelSpec) -> int:
    if operator.kind == "attention":
        grouped = any(isinstance(mixer, Attention) and mixer.num_kv_heads < mixer.num_heads for mixer in model.mixers)
        return ATTENTION_KERNELS + (GROUP_COPIES if grouped else 0)
    if operator.label == "final norm":
        return _norm_kernels(model)
    if operator.label == "activation function":  # a gate multiplies besides
        return 2 if any(layer.mlp is not None and layer.mlp.gated for layer in model.layer_counts) else 1
    return PLAIN_KERNELS.get(operator.label, 1)


def _norm_kernels(model: ModelSpec) -> int:
    return 1 if _has_layer_norm(model) else RMS_NORM_KERNELS  # PyTorch has a LayerNorm in one kernel


def _has_layer_norm(model: ModelSpec) -> bool:
    """A LayerNorm has a bias beside its weights, an RMSNorm has none; those without a bias are taken for the latter."""
    return model.final_norm_params == 2 * model.hidden_size


def _parts(layer: Layer) -> int:
    return (layer.mixer is not None) + (layer.mlp is not None)
