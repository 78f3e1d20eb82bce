"""What the MLP of a layer keeps for its backward pass: plain and gated, dense and routed to experts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from core.kept_tensors import FP32_BYTES, Kept, Run
from core.model_spec import Mlp, MlpKind, Moe


def inner_tensors(name: str, width: ArrayLike, *, gated: bool, shares: ArrayLike, run: Run) -> Iterator[Kept]:
    """Between the first and the last matrix."""
    size = np.asarray(width)
    if gated:
        yield Kept(f"{name}: gate and up projections", 2 * size, shares, "gradients of the gate and of each other")
        if not run.fused_mlp:
            yield Kept(f"{name}: gate after its activation function", size, shares, "gradient of the up projection")
        yield Kept(f"{name}: their product", size, shares, "gradient of the down projection")
    else:
        yield Kept(f"{name}: before the activation function", size, shares, "gradient of the activation function")
        yield Kept(f"{name}: after it", size, shares, "gradient of the down projection")


def routed_tensors(mlp: Moe, hidden_size: int, run: Run) -> Iterator[Kept]:
    """Routed experts: ``top_k`` copies of each token, each through a narrow MLP, then weighed and added up."""
    expert_width = mlp.expert_hidden_size or hidden_size
    copies = mlp.top_k * run.expert_load  # on the busiest GPU
    yield Kept("router scores", mlp.num_experts, run.whole, "gradient of the router", FP32_BYTES)
    if mlp.expert_hidden_size:
        yield Kept("narrowed input", expert_width * (2 if mlp.latent_norm else 1), run.whole, "norm, experts' input")
    yield Kept("tokens at the experts", expert_width * copies, run.expert_tokens, "gradient of the first matrices")
    # An expert's width is split over expert_tensor_parallel, which cancels: as many GPUs see as many times the tokens.
    yield from inner_tensors(
        "experts",
        mlp.expert_intermediate_size * copies,
        gated=mlp.gated,
        shares=run.split,
        run=run,
    )
    if run.keep_expert_outputs:
        yield Kept("experts' outputs", expert_width * copies, run.expert_tokens, "gradient of the routing weights")
    if mlp.expert_hidden_size:
        yield Kept("sum of the experts, before it is widened", expert_width, run.whole, "gradient of the widening")


def mlp_tensors(mlp: MlpKind, hidden_size: int, run: Run) -> Iterator[Kept]:
    """All of an MLP's own tensors; its input is common to all kinds and lies in :mod:`core.activations`."""
    if isinstance(mlp, Mlp):
        yield from inner_tensors("MLP", mlp.intermediate_size, gated=mlp.gated, shares=run.split, run=run)
        return
    yield from routed_tensors(mlp, hidden_size, run)
    if mlp.shared_intermediate_size:
        yield from inner_tensors(
            "shared experts", mlp.shared_intermediate_size, gated=mlp.gated, shares=run.split, run=run
        )
    if mlp.parallel_dense:
        dense = mlp.parallel_dense
        yield Kept(
            "input of the dense MLP beside the experts", hidden_size, run.whole, "gradient of its first matrices"
        )
        yield from inner_tensors("dense MLP", dense.intermediate_size, gated=dense.gated, shares=run.split, run=run)
