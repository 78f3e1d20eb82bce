"""One optimizer step as a sum of times: work, memory traffic, exposed communication by axis, bubble, optimizer.

Estimates on arrays. The report of one scenario, every sweep and the planner make this same call.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike

from core.axis_traffic import AXES, model_flows, sent_by_axis
from core.checks import Floats
from core.data_traffic import data_flows
from core.efficiency import Efficiency
from core.exposure import PassTime, ends_exposed, fill_exposed, pass_exposed, step_exposed
from core.flops import BACKWARD_OVER_FORWARD, forward_flops_per_token
from core.flow_time import Interconnect, seconds, timed
from core.layout import Layout, LayoutOptions
from core.lora import ADAPTERS
from core.model_spec import ModelSpec
from core.stage_work import StageWork, optimizer_bytes, stage_work
from core.step_parts import StepTime, rebuilt


@dataclass(frozen=True, slots=True)
class Peaks:
    """What one GPU can do at most."""

    matrix_flops_per_s: float  # dense, in the format of the products with weights
    mixing_flops_per_s: float  # dense, in that of attention
    bytes_per_s: float  # of its main memory, at pin rate


def step_time(
    model: ModelSpec, peaks: Peaks, interconnect: Interconnect, efficiency: Efficiency, **options: Unpack[LayoutOptions]
) -> StepTime:
    """Estimated time of one optimizer step.

    Args:
        model: its stages may be unequal; the slowest sets the pace.
        peaks: of one GPU.
        interconnect: links and nodes.
        efficiency: what is reached of both, and what hides behind what.
        options: the layout, :class:`core.layout.LayoutOptions`; numbers may be arrays that broadcast, pipeline_parallel
            and virtual_stages too (each pair of them is one evaluation).

    Returns:
        m micro-batches on the slowest stage; as bubble one micro-batch on each other stage, over v when interleaved
        (1F1B: Narayanan et al. 2021, arXiv:2104.04473, section 2.2); what data parallelism cannot hide; and the
        optimizer's pass over its states.

    Leaves out stragglers, data loading, gaps between launches, checkpoints, uneven routing, CPU offload.
    """
    pipelines = {name: np.asarray(options.get(name, 1)) for name in ("pipeline_parallel", "virtual_stages")}
    if all(value.size == 1 for value in pipelines.values()):
        return _one_pipeline(model, peaks, interconnect, efficiency, options)
    numbers = {name: value for name, value in options.items() if not isinstance(value, str)} | pipelines
    rows = dict(zip(numbers, np.broadcast_arrays(*cast(Any, numbers.values())), strict=True))
    shape = rows["pipeline_parallel"].shape
    flat = {name: value.ravel() for name, value in rows.items()}
    pairs, which = np.unique(np.stack([flat[name] for name in pipelines]), axis=1, return_inverse=True)
    parts: list[tuple[Any, StepTime]] = []
    for number, (stages, virtual) in enumerate(pairs.T.tolist()):
        chosen = np.flatnonzero(which.ravel() == number)
        here = {name: value[chosen] for name, value in flat.items()} | {
            "pipeline_parallel": stages,
            "virtual_stages": virtual,
            "fused_attention": options.get("fused_attention", True),
        }
        parts.append(
            (chosen, _one_pipeline(model, peaks, interconnect, efficiency, cast(LayoutOptions, {**options, **here})))
        )
    return _joined(parts, shape)


def required_flops_per_token(model: ModelSpec, seq_len: ArrayLike, *, recipe: str, causal: bool) -> Floats:
    """Model FLOPs of one token: forward, and twice that backward, or once where the weights are frozen. [FLOP]"""
    backward = 1 if recipe in ADAPTERS else BACKWARD_OVER_FORWARD
    return (1 + backward) * forward_flops_per_token(model, seq_len, causal=causal)


def _one_pipeline(
    model: ModelSpec, peaks: Peaks, interconnect: Interconnect, efficiency: Efficiency, options: LayoutOptions
) -> StepTime:
    layout = Layout.of(**options)
    groups = layout.groups(interconnect.gpus_per_node)
    flows = timed((*model_flows(model, layout), *data_flows(model, layout)), groups, interconnect)
    forward, backward = _passes(stage_work(model, layout), peaks, efficiency, frozen=layout.recipe in ADAPTERS)
    overlap = efficiency.overlap
    ahead = pass_exposed(flows, forward, ("forward",), overlap)
    back = pass_exposed(flows, backward, ("backward", "again"), overlap)
    forward_s, backward_s = forward.work_s + sum(ahead.values()), backward.work_s + sum(back.values())
    wide = np.broadcast_shapes((*layout.shape, layout.pipeline_parallel), np.shape(forward_s + backward_s))
    stage_s = np.broadcast_to(forward_s + backward_s, wide)
    slowest = np.argmax(stage_s, axis=-1, keepdims=True)
    m = np.broadcast_to(layout.num_micro_batches[..., 0], wide[:-1])

    def on_slowest(values: Floats) -> Floats:
        return np.take_along_axis(np.broadcast_to(values, wide), slowest, -1)[..., 0]

    exposed = {axis: m * on_slowest(ahead[axis] + back[axis]) for axis in AXES}
    first, last = ends_exposed(flows)
    each_pass = np.maximum(m * on_slowest(ahead["data"]), first) + np.maximum(m * on_slowest(back["data"]), last)
    exposed["data"] = each_pass + step_exposed(flows, forward_s, backward_s, overlap)
    exposed["pipeline"] = exposed["pipeline"] + fill_exposed(flows, layout.pipeline_parallel)
    repeated = ("forward", "backward", "again")
    hidden = {
        axis: m * on_slowest(seconds(flows, axis=axis, when=repeated))
        + on_slowest(seconds(flows, axis=axis, when=("step",)))
        - exposed[axis]
        for axis in AXES
    }
    memory = peaks.bytes_per_s * efficiency.bandwidth_share  # one long pass, so the job's other losses do not count
    busiest = sent_by_axis(tuple(flow.flow for flow in flows))
    return StepTime(
        matrix_s=m * on_slowest(forward.matrix_s + backward.matrix_s),
        mixing_s=m * on_slowest(forward.mixing_s + backward.mixing_s),
        moved_s=m * on_slowest(forward.moved_s + backward.moved_s),
        **{f"{axis}_s": exposed[axis] for axis in AXES},
        bubble_s=(stage_s.sum(axis=-1) - on_slowest(stage_s)) / layout.virtual_stages,
        optimizer_s=np.broadcast_to(optimizer_bytes(model, layout).max(axis=-1) / memory, wide[:-1]),
        hidden_s={axis: np.maximum(left, 0.0) for axis, left in hidden.items()},
        sent_bytes={axis: np.broadcast_to(busiest[axis], wide).max(axis=-1) for axis in AXES},
        slowest_stage=slowest[..., 0].astype(np.float64),
    )


def _passes(work: StageWork, peaks: Peaks, efficiency: Efficiency, *, frozen: bool) -> tuple[PassTime, PassTime]:
    """Forward and backward pass of one micro-batch. Frozen weights need no gradient, their inputs do."""
    job = efficiency.job_share
    matrix = peaks.matrix_flops_per_s * job * efficiency.matmul_share
    mixing = peaks.mixing_flops_per_s * job * efficiency.attention_share
    memory = peaks.bytes_per_s * job * efficiency.bandwidth_share
    products = 1 if frozen else BACKWARD_OVER_FORWARD
    ahead, back = efficiency.forward_passes, efficiency.backward_passes
    return (
        PassTime(work.matrix_flops / matrix, work.mixing_flops / mixing, ahead * work.moved_bytes / memory),
        PassTime(
            (products * work.matrix_flops + work.again_matrix_flops) / matrix,
            (BACKWARD_OVER_FORWARD * work.mixing_flops + work.again_mixing_flops) / mixing,
            (back * work.moved_bytes + ahead * work.again_bytes) / memory,
        ),
    )


def _joined(parts: list[tuple[Any, StepTime]], shape: tuple[int, ...]) -> StepTime:
    """Rows of several pipelines back in their order."""

    def together(read: Callable[[StepTime], Floats]) -> Floats:
        whole = np.empty(int(np.prod(shape)))
        for chosen, part in parts:
            whole[chosen] = read(part)
        return whole.reshape(shape)

    return rebuilt(together)
