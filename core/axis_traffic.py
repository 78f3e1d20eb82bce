"""Who sends what to whom in a training step: the collectives of each axis of parallelism, their sizes and how many.

A flow is one kind of call; :mod:`core.step_time` gives it a time and says how much of it hides behind work.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats
from core.collectives import bytes_per_rank
from core.kv_layers import heads_per_gpu
from core.layout import Layout
from core.model_spec import Attention, CompressedAttention, LatentAttention, Layer, Mixer, ModelSpec, Moe
from core.stage_work import per_stage

Axis = Literal["tensor", "context", "expert", "pipeline", "data"]
AXES: tuple[Axis, ...] = ("tensor", "context", "expert", "pipeline", "data")
When = Literal["forward", "backward", "again", "step"]  # "again": in the backward pass, for recomputation


@dataclass(frozen=True, slots=True, eq=False)
class Flow:
    """One kind of call of a GPU of each stage; the last axis is the stage."""

    axis: Axis
    group: str  # the groups of core.placement that it runs in
    what: str
    op: str
    when: When
    num_bytes: Floats  # the whole tensor of one call [bytes]
    ranks: Floats  # [GPUs]
    calls: Floats  # in one micro-batch; of "step" flows, in one optimizer step
    micro_batches: Floats  # how often a step repeats that; 1 for "step" flows
    beside: bool = False  # what it carries is not waited for, so it may run beside work of the same layer

    @property
    def sent_bytes(self) -> Floats:
        """What one GPU sends for it in a step, the busiest where they differ. [bytes]"""
        return bytes_per_rank(self.op, self.num_bytes, self.ranks) * self.calls * self.micro_batches


def model_flows(model: ModelSpec, layout: Layout) -> tuple[Flow, ...]:
    """The flows of tensor, context, expert and pipeline parallelism; those of data parallelism are in
    :mod:`core.data_traffic`."""
    flows = (
        *_tensor_flows(model, layout),
        *_context_flows(model, layout),
        *_expert_flows(model, layout),
        *_pipeline_flows(model, layout),
    )
    return tuple(flow for flow in flows if np.any(flow.ranks > 1) and np.any(flow.calls > 0))


def sent_by_axis(flows: tuple[Flow, ...]) -> dict[Axis, Floats]:
    """Bytes that one GPU of each stage sends in a step, by axis; every axis has an entry. [bytes]"""
    zero: Floats = np.zeros(())
    return {axis: sum((flow.sent_bytes for flow in flows if flow.axis == axis), zero) for axis in AXES}


def _passes(layout: Layout) -> tuple[When, ...]:
    """When a layer's forward traffic happens, and once more where the forward pass is made again."""
    return ("forward", "again") if layout.recompute == "full" else ("forward",)


def _tensor_flows(model: ModelSpec, layout: Layout) -> Iterator[Flow]:
    """Each part of a layer (mixer, MLP) sums its output over the tensor-parallel GPUs; so does its input's gradient.

    Without sequence parallelism that is an all-reduce; with it a reduce-scatter behind the part and an all-gather in
    front of it, which send as much, and the input that was kept as a shard is gathered once more for the weights'
    gradient. Where experts lie on other GPUs the tokens that arrive, ``top_k`` times as many, are gathered and reduced
    in the place of the layer's own. Embedding and loss are left out: one all-reduce more at either end of the model.
    Sources: Shoeybi et al. 2019, arXiv:1909.08053, section 3; Korthikanti et al. 2022, arXiv:2205.05198, section 4.2.2.
    """
    t, sharded = layout.tensor_parallel, layout.sequence_parallel > 0
    routed_away = layout.expert_parallel > 1
    kinds: list[tuple[str, dict[Layer, ArrayLike], float]] = [
        ("hidden states", {layer: _own_parts(layer, routed_away) for layer in model.layer_counts}, 1.0)
    ]
    if model.num_experts:
        top_k = max(layer.mlp.top_k for layer in model.layer_counts if isinstance(layer.mlp, Moe))
        routed: dict[Layer, ArrayLike] = {
            layer: np.where(routed_away & isinstance(layer.mlp, Moe), 1.0, 0.0) for layer in model.layer_counts
        }
        kinds.append(("tokens of the experts", routed, float(top_k)))
    for what, parts, times in kinds:
        calls = per_stage(model, layout, parts)
        size = layout.hidden_bytes(model.hidden_size * times) + 0 * calls
        rest = (layout.num_micro_batches,)
        for when in (*_passes(layout), "backward"):
            whole, halves = np.where(sharded, 0.0, calls), np.where(sharded, calls, 0.0)
            yield Flow("tensor", "tensor", what, "all_reduce", when, size, t, whole, *rest)
            yield Flow("tensor", "tensor", what, "all_gather", when, size, t, halves, *rest)
            yield Flow("tensor", "tensor", what, "reduce_scatter", when, size, t, halves, *rest)
        again = np.where(sharded, calls, 0.0)
        kept = f"{what}, kept as shards"
        yield Flow("tensor", "tensor", kept, "all_gather", "backward", size, t, again, *rest, beside=True)


def _own_parts(layer: Layer, routed_away: ArrayLike) -> ArrayLike:
    """Parts of a layer whose output is as wide as its input and summed by itself."""
    mixers = 1.0 if layer.mixer is not None else 0.0
    if not isinstance(layer.mlp, Moe):
        return mixers + (1.0 if layer.mlp is not None else 0.0) + 0.0 * np.asarray(routed_away)
    beside = bool(layer.mlp.shared_intermediate_size or layer.mlp.parallel_dense)
    return mixers + np.where(routed_away, 1.0 if beside else 0.0, 1.0)


def _context_flows(model: ModelSpec, layout: Layout) -> Iterator[Flow]:
    """Every GPU of a context group needs all keys and values: passed round a ring (ring attention) or gathered.

    Both send c - 1 shards. The backward pass needs them once more, and sums their gradients on the way back. Windows
    would need fewer; the states of linear attention and state space, a few per sequence, are left out.
    Sources: Liu, Zaharia and Abbeel 2023, arXiv:2310.01889; Llama Team 2024, arXiv:2407.21783, section 3.3.2.
    """
    width: dict[Layer, ArrayLike] = {
        layer: _kv_elements(layer.mixer, layout.tensor_parallel) if layer.mixer else 0.0 * layout.tensor_parallel
        for layer in model.layer_counts
    }
    talks: dict[Layer, ArrayLike] = {layer: np.where(np.asarray(size) > 0, 1.0, 0.0) for layer, size in width.items()}
    calls = per_stage(model, layout, talks)
    together = layout.context_parallel * layout.hidden_bytes(1.0) * per_stage(model, layout, width)
    size = together / np.maximum(calls, 1.0)
    ranks, rest = layout.context_parallel, (layout.num_micro_batches,)
    for when in (*_passes(layout), "backward"):
        yield Flow("context", "context", "keys and values", "all_gather", when, size, ranks, calls, *rest)
    yield Flow(
        "context", "context", "gradients of keys and values", "reduce_scatter", "backward", size, ranks, calls, *rest
    )


def _kv_elements(mixer: Mixer, tensor_parallel: Floats) -> Floats:
    """Key and value elements of one token on one GPU that another context rank needs. [elements]"""
    match mixer:
        case Attention():
            heads = heads_per_gpu(mixer.num_kv_heads, tensor_parallel)
            return heads * (0 if mixer.shares_kv else mixer.head_dim + mixer.v_head_dim)
        case LatentAttention():  # training runs it expanded: every head has its own
            made = mixer.qk_nope_head_dim + mixer.qk_rope_head_dim + mixer.v_head_dim
            return heads_per_gpu(mixer.num_heads, tensor_parallel) * made
        case CompressedAttention():  # one shared vector a pooled entry, on every tensor-parallel GPU
            return mixer.head_dim / max(mixer.ratio, 1) + 0.0 * tensor_parallel
    return 0.0 * tensor_parallel


def _expert_flows(model: ModelSpec, layout: Layout) -> Iterator[Flow]:
    """Dispatch and combine: each GPU sends its tokens to the GPUs of their ``top_k`` experts and gets them back.

    Tensor-parallel GPUs send a share of the tokens each. Assumes even routing and one copy for each expert, though
    experts of one GPU or node could share one; no token is dropped.
    Sources: Lepikhin et al. 2020, arXiv:2006.16668, section 3.2; DeepSeek-AI 2024, arXiv:2412.19437, section 3.2.
    """
    width: dict[Layer, ArrayLike] = {
        layer: float(layer.mlp.top_k * (layer.mlp.expert_hidden_size or model.hidden_size))
        if isinstance(layer.mlp, Moe)
        else 0.0
        for layer in model.layer_counts
    }
    routes: dict[Layer, ArrayLike] = {layer: 1.0 if size else 0.0 for layer, size in width.items()}
    layers = per_stage(model, layout, routes)
    one = layout.hidden_bytes(1.0) / layout.tensor_parallel * per_stage(model, layout, width) / np.maximum(layers, 1.0)
    size, ranks = layout.expert_parallel * one, layout.expert_parallel
    for when in (*_passes(layout), "backward"):
        for what in ("dispatch", "combine"):
            yield Flow("expert", "expert", what, "all_to_all", when, size, ranks, layers, layout.num_micro_batches)


def _pipeline_flows(model: ModelSpec, layout: Layout) -> Iterator[Flow]:
    """Each stage sends the hidden states of a micro-batch on, and gets their gradient back, once a chunk.

    With sequence parallelism each tensor-parallel GPU sends its share; without it all send the same.
    Source: Narayanan et al. 2021, arXiv:2104.04473, section 3.2: b s h elements a micro-batch, v times if interleaved.
    """
    p, v = layout.pipeline_parallel, layout.virtual_stages
    if p == 1:
        return
    stage = np.arange(p)
    width = model.hidden_size * model.residual_streams
    size = layout.hidden_bytes(width) / layout.token_split + 0.0 * stage
    ranks = np.full(p, 2.0)
    rest = (layout.num_micro_batches,)
    yield Flow(
        "pipeline", "pipeline", "hidden states", "send", "forward", size, ranks, v - 1.0 * (stage == p - 1), *rest
    )
    yield Flow(
        "pipeline", "pipeline", "their gradients", "send", "backward", size, ranks, v - 1.0 * (stage == 0), *rest
    )
