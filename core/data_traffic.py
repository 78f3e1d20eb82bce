"""What data parallelism sends in a step: gradients and weights by ZeRO stage, in buckets or layer by layer."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from core.axis_traffic import Flow, When
from core.checks import Floats
from core.layout import Layout
from core.lora import named_recipe
from core.memory import stage_params
from core.model_spec import ModelSpec
from core.zero import StateRecipe

# Elements that one call carries. Source: Megatron-LM, core/distributed/distributed_data_parallel_config.py: the larger
# of 40 million parameters and a million a data-parallel rank.
BUCKET_ELEMENTS = 40e6
BUCKET_ELEMENTS_A_RANK = 1e6


def data_flows(model: ModelSpec, layout: Layout) -> tuple[Flow, ...]:
    """The flows of data parallelism, dense weights over all replicas and experts over those that hold the same ones.

    Stage 0 all-reduces gradients once a step. Stage 1 reduce-scatters them and all-gathers the updated weights, once a
    step and not once a micro-batch. Stage 2 can keep no whole gradient, so it reduces every micro-batch; stage 3
    gathers each layer's weights for every forward and every backward pass as well. Sent bytes are those of
    :func:`core.collectives.zero_traffic`.
    Source: Rajbhandari et al. 2020, arXiv:1910.02054, section 7.
    """
    params = stage_params(model, layout.pipeline_parallel, layout.virtual_stages)
    recipe = named_recipe(model, layout.recipe)
    replicas = layout.data_parallel * layout.context_parallel
    t, e = layout.tensor_parallel, layout.expert_parallel
    shares = [("replicas", "", params.dense / t, params.largest_unit / t, replicas)]
    if params.experts.any():
        split, unit = params.experts / (t * e), params.largest_expert_unit / (t * e)
        shares.append(("expert_replicas", " of experts", split, unit, replicas / e))
    flows = [flow for share in shares for flow in _flows(layout, recipe, *share)]
    return tuple(flow for flow in flows if np.any(flow.ranks > 1) and np.any(flow.calls > 0))


def _flows(
    layout: Layout, recipe: StateRecipe, group: str, of: str, count: Floats, unit: Floats, ranks: Floats
) -> Iterator[Flow]:
    stage, m = layout.zero_stage, layout.num_micro_batches
    once, changed = np.ones_like(m), recipe.updated_weight_bytes
    bucket = np.maximum(BUCKET_ELEMENTS, BUCKET_ELEMENTS_A_RANK * ranks)
    # ZeRO-3 moves a layer at a time, the others a bucket. The last call carries what is left; here all are equal.
    calls = np.ceil(count / np.where(stage >= 3, np.maximum(unit, 1.0), bucket))
    each = count / np.maximum(calls, 1.0)
    gradients, weights = each * recipe.gradient_bytes, each * recipe.weight_bytes
    updated = weights if changed is None else each * changed

    def flow(what: str, op: str, when: When, size: Floats, active: NDArray[np.bool_], times: Floats) -> Flow:
        here = np.where(active, calls, 0.0)
        return Flow("data", group, what + of, op, when, size + 0 * here, ranks, here, times)

    yield flow("gradients", "all_reduce", "step", gradients, stage == 0, once)
    yield flow("gradients", "reduce_scatter", "step", gradients, stage == 1, once)
    yield flow("gradients", "reduce_scatter", "backward", gradients, stage >= 2, m)
    yield flow("updated weights", "all_gather", "step", updated, (stage == 1) | (stage == 2), once)
    yield flow("weights", "all_gather", "forward", weights, stage >= 3, m)
    yield flow("weights", "all_gather", "backward", weights, stage >= 3, m)
