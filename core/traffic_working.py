"""The derivation of what a ZeRO stage sends in a step."""

from __future__ import annotations

from numpy.typing import ArrayLike

from core.collectives import zero_traffic
from core.working import Term, Working, number, product, scalar
from core.zero import StateRecipe, recipe_of
from core.zero_working import Kept, kept_weights, trained_state


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
    gradients = trained_state(recipe, "gradients", "gradient_bytes")
    updated = trained_state(recipe, "updated weights", "weight_bytes")
    # what is sent, how, passes over it, as a symbol
    parts: list[tuple[Kept, str, float, str]] = {
        0: [(gradients, "all-reduce", 2.0, "2")],
        1: [(gradients, "reduce-scatter", 1.0, ""), (updated, "all-gather", 1.0, "")],
        2: [(gradients, "reduce-scatter each micro-batch", m, "m"), (updated, "all-gather", 1.0, "")],
        3: [
            *((w, "all-gather forward and backward, each micro-batch", 2 * m, "2 m") for w in kept_weights(recipe)),
            (gradients, "reduce-scatter each micro-batch", m, "m"),
        ],
    }[int(level)]
    ring = f"({number(n)} - 1) / {number(n)}"

    def term(sent: Kept, how: str, passes: float) -> Term:
        label, _, share, size = sent
        value = passes * size * share * psi * (n - 1) / n
        expression = f"{product(passes, size, share * psi)} × {ring}"
        return Term(f"{label}, {how}", expression, value, "bytes", f"{number(size)} bytes an element")

    return Working(
        name=f"Data-parallel traffic of one GPU and step, ZeRO stage {int(level)}",
        formula=" + ".join(
            (f"{times} × " if times else "") + f"{number(size)} {symbol} (N - 1) / N"
            for (_, symbol, _, size), _, _, times in parts
        ),
        terms=tuple(term(sent, how, passes) for sent, how, passes, _ in parts),
        value=float(traffic.total_bytes),
        unit="bytes",
        assumptions=(
            "Ψ parameters, N data-parallel GPUs in a ring, m micro-batches a step",
            *(["A trained parameters, all in adapters"] if recipe.adapters else []),
            "bytes sent; as many are received",
            "tensor- and pipeline-parallel traffic is not in it",
        ),
        source="Rajbhandari et al. 2020, arXiv:1910.02054, section 7",
    )
