"""The derivation of what a ZeRO stage sends in a step."""

from __future__ import annotations

from numpy.typing import ArrayLike

from core.collectives import zero_traffic
from core.working import Term, Working, number, product, scalar
from core.zero import StateRecipe, recipe_of


def traffic_working(
    num_params: ArrayLike,
    data_parallel: ArrayLike,
    *,
    stage: ArrayLike,
    optimizer: str | StateRecipe = "adam",
    accumulation_steps: ArrayLike = 1,
) -> Working:
    """The derivation of :func:`core.collectives.zero_traffic`, in bytes that one GPU sends."""
    recipe = recipe_of(optimizer)
    psi, n, level, m = (
        scalar(name, value)
        for name, value in (
            ("num_params", num_params),
            ("data_parallel", data_parallel),
            ("stage", stage),
            ("accumulation_steps", accumulation_steps),
        )
    )
    traffic = zero_traffic(psi, n, stage=level, optimizer=recipe, accumulation_steps=m)
    wide, narrow = recipe.gradient_bytes, recipe.weight_bytes
    updated = narrow if recipe.updated_weight_bytes is None else recipe.updated_weight_bytes
    # label, passes over the parameters, as a symbol, bytes an element
    parts: list[tuple[str, float, str, float]] = {
        0: [("gradients, all-reduce", 2.0, "2", wide)],
        1: [("gradients, reduce-scatter", 1.0, "", wide), ("updated weights, all-gather", 1.0, "", updated)],
        2: [
            ("gradients, reduce-scatter each micro-batch", m, "m", wide),
            ("updated weights, all-gather", 1.0, "", updated),
        ],
        3: [
            ("weights, all-gather forward and backward, each micro-batch", 2 * m, "2 m", narrow),
            ("gradients, reduce-scatter each micro-batch", m, "m", wide),
        ],
    }[int(level)]
    ring = f"({number(n)} - 1) / {number(n)}"

    def term(label: str, passes: float, size: float) -> Term:
        value = passes * size * psi * (n - 1) / n
        return Term(label, f"{product(passes, size, psi)} × {ring}", value, "bytes", f"{number(size)} bytes an element")

    return Working(
        name=f"Data-parallel traffic of one GPU and step, ZeRO stage {int(level)}",
        formula=" + ".join(
            (f"{symbol} × " if symbol else "") + f"{number(size)} Ψ (N - 1) / N" for _, _, symbol, size in parts
        ),
        terms=tuple(term(label, passes, size) for label, passes, _, size in parts),
        value=float(traffic.total_bytes),
        unit="bytes",
        assumptions=(
            "Ψ parameters, N data-parallel GPUs in a ring, m micro-batches a step",
            "bytes sent; as many are received",
            "tensor- and pipeline-parallel traffic is not in it",
        ),
        source="Rajbhandari et al. 2020, arXiv:1910.02054, section 7",
    )
