"""Weights of the MLP part of a layer: dense, routed experts, and what every token passes beside them."""

from __future__ import annotations

from core.model_spec import Mlp, Moe, Term


def mlp_params(hidden_size: int, width: int, *, gated: bool, bias: bool) -> int:
    """Weights of one MLP: up and down, and a third matrix where a gate multiplies the up projection. [params]"""
    inner = 2 if gated else 1  # matrices from hidden_size to width
    biases = inner * width + hidden_size if bias else 0
    return (inner + 1) * hidden_size * width + biases


def expert_params(moe: Moe, hidden_size: int) -> int:
    """Weights of one routed expert. [params]"""
    space = moe.expert_hidden_size or hidden_size
    return mlp_params(space, moe.expert_intermediate_size, gated=moe.gated, bias=moe.expert_bias)


def mlp_terms(mlp: Mlp | Moe, hidden_size: int) -> list[Term]:
    """What every token passes through, by name; the routed experts are :func:`expert_params` times their number."""
    if isinstance(mlp, Mlp):
        return [("MLP", mlp_params(hidden_size, mlp.intermediate_size, gated=mlp.gated, bias=mlp.bias))]
    terms = [("router", mlp.num_experts * (hidden_size + mlp.router_bias) + mlp.router_norm_params)]
    if mlp.shared_intermediate_size:
        shared = mlp_params(hidden_size, mlp.shared_intermediate_size, gated=mlp.gated, bias=mlp.shared_bias)
        terms.append(("shared experts", shared))
    if mlp.shared_gate:
        terms.append(("gate of the shared experts", hidden_size))
    if mlp.expert_hidden_size:
        biases = hidden_size + mlp.expert_hidden_size if mlp.shared_bias else 0
        both = 2 * hidden_size * mlp.expert_hidden_size + biases
        terms.append(("projections into and out of the expert space", both))
        if mlp.latent_norm:
            terms.append(("norm of the expert space", mlp.expert_hidden_size))
    if mlp.parallel_dense:
        terms += mlp_terms(mlp.parallel_dense, hidden_size)
    return terms
