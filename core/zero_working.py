"""The derivations of ZeRO memory: states on one GPU, and the largest model that fits."""

from __future__ import annotations

from numpy.typing import ArrayLike

from core.working import Term, Working, number, product, scalar
from core.zero import Offload, StateRecipe, largest_model, recipe_of, zero_memory


def zero_working(
    num_params: ArrayLike,
    data_parallel: ArrayLike,
    *,
    stage: ArrayLike,
    optimizer: str | StateRecipe = "adam",
    offload: Offload = "none",
) -> Working:
    """The derivation of :func:`zero_memory` for one GPU."""
    recipe = recipe_of(optimizer)
    psi, shards, level = (
        scalar(name, value)
        for name, value in (("num_params", num_params), ("data_parallel", data_parallel), ("stage", stage))
    )
    memory = zero_memory(psi, shards, stage=level, optimizer=recipe, offload=offload)
    parts = (
        ("weights", recipe.weight_bytes, 3, memory.weight_bytes),
        ("gradients", recipe.gradient_bytes, 2, memory.gradient_bytes),
        ("optimizer states", recipe.optimizer_bytes, 1, memory.optimizer_bytes),
    )
    symbols, terms = [], []
    for label, per_param, sharded_from, part_bytes in parts:
        held = float(part_bytes)
        divided = level >= sharded_from
        if held == 0:
            symbols.append("0")
            terms.append(Term(label, "0", 0.0, "bytes", "in host memory"))
            continue
        symbols.append(f"{number(per_param)}Ψ" + ("/N" if divided else ""))
        expression = product(per_param, psi) + (f" / {number(shards)}" if divided else "")
        terms.append(Term(label, expression, held, "bytes", "shared" if divided else "whole on every GPU"))
    return Working(
        name=f"Model states per GPU, ZeRO stage {int(level)}",
        formula=" + ".join(symbols),
        terms=tuple(terms),
        value=float(memory.total_bytes),
        unit="bytes",
        assumptions=(
            f"{recipe.label}: {number(recipe.total_bytes)} bytes a parameter before sharding",
            "Ψ parameters, N data-parallel GPUs, even shards",
            "no activations, buffers or fragmentation",
        ),
        source=f"Rajbhandari et al. 2020, arXiv:1910.02054; bytes a parameter: {recipe.source}",
    )


def largest_model_working(
    hbm_bytes: ArrayLike, data_parallel: ArrayLike, *, stage: ArrayLike, optimizer: str | StateRecipe = "adam"
) -> Working:
    """The derivation of :func:`largest_model`, without offload and model parallelism."""
    recipe = recipe_of(optimizer)
    room, shards, level = (
        scalar(name, value)
        for name, value in (("hbm_bytes", hbm_bytes), ("data_parallel", data_parallel), ("stage", stage))
    )
    value = float(largest_model(room, shards, stage=level, optimizer=recipe))
    states = ((recipe.weight_bytes, 3), (recipe.gradient_bytes, 2), (recipe.optimizer_bytes, 1))
    per_param = " + ".join(
        number(size) + (f" / {number(shards)}" if level >= sharded_from else "") for size, sharded_from in states
    )
    return Working(
        name=f"Largest model, ZeRO stage {int(level)}",
        formula="M / (bytes a parameter on one GPU)",
        terms=(Term("parameters", f"{number(room)} / ({per_param})", value, "params"),),
        value=value,
        unit="params",
        assumptions=(recipe.label, "all of M is free for model states"),
        source="Rajbhandari et al. 2020, arXiv:1910.02054, table 2",
    )
