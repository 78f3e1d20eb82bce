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
        (kept_weights(recipe), 3, memory.weight_bytes),
        ([trained_state(recipe, "gradients", "gradient_bytes")], 2, memory.gradient_bytes),
        ([trained_state(recipe, "optimizer states", "optimizer_bytes")], 1, memory.optimizer_bytes),
    )
    symbols, terms = [], []
    for kept, sharded_from, part_bytes in parts:
        divided = level >= sharded_from
        for label, symbol, share, each in kept:
            if not part_bytes:
                symbols.append("0")
                terms.append(Term(label, "0", 0.0, "bytes", "in host memory"))
                continue
            symbols.append(f"{number(each)}{symbol}" + ("/N" if divided else ""))
            expression = product(each, share * psi) + (f" / {number(shards)}" if divided else "")
            held = each * share * psi / (shards if divided else 1)
            terms.append(Term(label, expression, held, "bytes", "shared" if divided else "whole on every GPU"))
    return Working(
        name=f"Model states per GPU, ZeRO stage {int(level)}",
        formula=" + ".join(symbols),
        terms=tuple(terms),
        value=float(memory.total_bytes),
        unit="bytes",
        assumptions=(
            f"{recipe.label}: {recipe.total_bytes:.4g} bytes a parameter before sharding",
            "Ψ parameters, N data-parallel GPUs, even shards",
            *(["A trained parameters, all in adapters"] if recipe.adapters else []),
            "no activations, buffers or fragmentation",
        ),
        source=f"Rajbhandari et al. 2020, arXiv:1910.02054; bytes a parameter: {recipe.source}",
    )


Kept = tuple[str, str, float, float]  # label, symbol, share of the parameters, bytes of each


def kept_weights(recipe: StateRecipe) -> list[Kept]:
    """The weights that a recipe keeps: one kind, or a frozen base and its adapters."""
    if not recipe.adapters:
        return [("weights", "Ψ", 1.0, recipe.weight_bytes)]
    frozen = [(kind.label, kind.symbol, kind.share, kind.bytes_per_weight) for kind in recipe.adapters.frozen]
    return [*frozen, trained_state(recipe, "weights", "weight_bytes")]


def trained_state(recipe: StateRecipe, label: str, field: str) -> Kept:
    """A state of the trained parameters: all of them, or the adapters."""
    if adapters := recipe.adapters:
        return f"adapters' {label}", "A", adapters.trained_share, float(getattr(adapters.trained, field))
    return label, "Ψ", 1.0, float(getattr(recipe, field))


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
        assumptions=(
            recipe.label,
            *(["adapters grow with the model"] if recipe.adapters else []),
            "all of M is free for model states",
        ),
        source="Rajbhandari et al. 2020, arXiv:1910.02054, table 2",
    )
