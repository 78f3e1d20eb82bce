"""The weight matrices that a token is multiplied with, part by part: shapes, from which FLOPs and bytes follow.

Biases, norms and lookup tables are no matrices. Shapes are those of one GPU of a tensor-parallel group: heads and MLP
widths are split (the fullest GPU's share where they do not divide), latents, routers and indexers lie on every GPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats
from core.kv_layers import heads_per_gpu
from core.model_spec import (
    Attention,
    CompressedAttention,
    Indexer,
    LatentAttention,
    Layer,
    LinearAttention,
    LinearMixer,
    Mixer,
    Mlp,
    MlpKind,
    ModelSpec,
    StateSpace,
)

Size = Floats | float  # a share of one GPU, so not always whole; an array over tensor-parallel degrees


@dataclass(frozen=True, slots=True)
class Matrix:
    """``stored`` matrices of one shape, of which a token passes ``used``: heads of a batched product, or experts."""

    label: str
    inputs: Size  # [elements]
    outputs: Size  # [elements]
    stored: Size = 1.0
    used: Size = 1.0
    kind: str = "projection"

    @property
    def params(self) -> Floats:
        """Weights of all of them. [params]"""
        return np.asarray(self.inputs * self.outputs * self.stored, dtype=np.float64)

    @property
    def flops(self) -> Floats:
        """A multiplication and an addition for each weight that a token meets. [FLOP per token]"""
        return np.asarray(2 * self.inputs * self.outputs * self.used, dtype=np.float64)


def attention_matrices(mixer: Attention, hidden_size: int, gpus: Floats) -> Iterator[Matrix]:
    """Query, key and value projections as one product, for they share their input; and the output projection."""
    heads, kv_heads = heads_per_gpu(mixer.num_heads, gpus), heads_per_gpu(mixer.num_kv_heads, gpus)
    queries = heads * mixer.head_dim * (2 if mixer.output_gate else 1)  # the gate is a second set of queries
    if mixer.shares_kv:
        yield Matrix("query projection", hidden_size, queries)
    else:
        made = mixer.head_dim + (0 if mixer.keys_are_values else mixer.v_head_dim)
        yield Matrix("query, key and value projections", hidden_size, queries + kv_heads * made)
    yield Matrix("output projection", heads * mixer.v_head_dim, hidden_size)


def indexer_matrices(indexer: Indexer, hidden_size: int, query_width: int) -> Iterator[Matrix]:
    """Sparse attention's chooser: queries, one key, and a weight for each of its heads."""
    queries = indexer.num_heads * indexer.head_dim
    yield Matrix("indexer queries", query_width, queries, kind="indexer")
    yield Matrix("indexer key and head weights", hidden_size, indexer.head_dim + indexer.num_heads, kind="indexer")


def latent_matrices(mixer: LatentAttention, hidden_size: int, gpus: Floats, *, absorbed: bool) -> Iterator[Matrix]:
    """MLA. Expanded: keys and values of each head are made from the latent. Absorbed: queries go into the latent's

    space instead, and the mixed latents come out of it; the same weights, so as many FLOPs a token.
    """
    heads, rank = heads_per_gpu(mixer.num_heads, gpus), mixer.q_lora_rank
    latent = mixer.kv_lora_rank + mixer.qk_rope_head_dim
    queries = heads * (mixer.qk_nope_head_dim + mixer.qk_rope_head_dim)
    if rank is None:
        yield Matrix("query projection", hidden_size, queries)
        yield Matrix("key/value latent", hidden_size, latent)
    else:
        yield Matrix("query and key/value latents", hidden_size, rank + latent)
        yield Matrix("queries from their latent", rank, queries)
    if absorbed:
        yield Matrix("queries into the latent", mixer.qk_nope_head_dim, mixer.kv_lora_rank, heads, heads)
        yield Matrix("values out of the latent", mixer.kv_lora_rank, mixer.v_head_dim, heads, heads)
    else:
        expanded = heads * (mixer.qk_nope_head_dim + mixer.v_head_dim)
        yield Matrix("keys and values from the latent", mixer.kv_lora_rank, expanded)
    if mixer.output_gate:
        yield Matrix("output gate", hidden_size, heads * mixer.v_head_dim)
    yield Matrix("output projection", heads * mixer.v_head_dim, hidden_size)
    if mixer.indexer:
        yield from indexer_matrices(mixer.indexer, hidden_size, rank or hidden_size)


def compressed_matrices(mixer: CompressedAttention, hidden_size: int, gpus: Floats) -> Iterator[Matrix]:
    """DeepSeek-V4: query latent, one shared key/value, compressor, and an output projection of groups."""
    heads, groups = heads_per_gpu(mixer.num_heads, gpus), heads_per_gpu(mixer.o_groups, gpus)
    yield Matrix("query latent and shared key/value", hidden_size, mixer.q_lora_rank + mixer.head_dim)
    yield Matrix("queries from their latent", mixer.q_lora_rank, heads * mixer.head_dim)
    if mixer.ratio:  # contents and pooling weights; twice where neighbouring groups overlap
        overlap = 2 if mixer.indexer else 1
        yield Matrix("compressor", hidden_size, 2 * overlap * mixer.head_dim)
    if mixer.indexer:
        yield from indexer_matrices(mixer.indexer, hidden_size, mixer.q_lora_rank)
        # Pooled keys in the place of plain ones: contents and weights, both twice, less the key counted above.
        yield Matrix("compressor of indexer keys", hidden_size, 3 * mixer.indexer.head_dim, kind="indexer")
    yield Matrix(
        "grouped output projection",
        mixer.num_heads * mixer.head_dim / mixer.o_groups,
        mixer.o_lora_rank,
        groups,
        groups,
    )
    yield Matrix("output projection", groups * mixer.o_lora_rank, hidden_size)


def linear_matrices(mixer: LinearAttention, hidden_size: int, gpus: Floats) -> Iterator[Matrix]:
    """Linear attention: projections with the gates that share their input, short convolution, output."""
    key_heads, heads = heads_per_gpu(mixer.num_key_heads, gpus), heads_per_gpu(mixer.num_value_heads, gpus)
    keys, values, narrow = key_heads * mixer.key_head_dim, heads * mixer.value_head_dim, mixer.value_head_dim
    mixed = 2 * keys + values
    low_rank_gate = mixer.rule == "kda" and not mixer.full_rank_gate
    beside = {"gated_delta": 2 * heads, "kda": key_heads, "lightning": 0.0 * heads}[mixer.rule]  # step size, decay
    yield Matrix("query, key, value and gate projections", hidden_size, mixed + beside + values * (not low_rank_gate))
    if mixer.rule == "kda":  # a decay for each channel, through a narrow pair; a low-rank gate has a pair of its own
        pairs = 2 if low_rank_gate else 1
        yield Matrix("decay and gate, narrow", hidden_size, pairs * narrow)
        yield Matrix("decay and gate, wide", narrow, values, pairs, pairs)
    if mixer.conv_kernel:
        yield Matrix("short convolution", mixer.conv_kernel, 1, mixed, mixed, "convolution")
    yield Matrix("output projection", values, hidden_size)


def state_space_matrices(mixer: StateSpace, hidden_size: int, gpus: Floats) -> Iterator[Matrix]:
    """Mamba-2: one projection to gate, input, B, C and step size; convolution; output."""
    heads = heads_per_gpu(mixer.num_heads, gpus)
    inner, groups = heads * mixer.head_dim, heads_per_gpu(mixer.num_groups, gpus)
    convolved = inner + 2 * groups * mixer.state_size
    yield Matrix("input projection", hidden_size, inner + convolved + heads)
    yield Matrix("short convolution", mixer.conv_kernel, 1, convolved, convolved, "convolution")
    yield Matrix("output projection", inner, hidden_size)


def mixer_matrices(
    mixer: Mixer, hidden_size: int, *, tensor_parallel: ArrayLike = 1, absorbed: bool = False
) -> Iterator[Matrix]:
    """All matrices of a token mixer on one GPU; ``absorbed`` is for latent attention."""
    gpus = np.asarray(tensor_parallel, dtype=np.float64)
    match mixer:
        case Attention():
            yield from attention_matrices(mixer, hidden_size, gpus)
        case LatentAttention():
            yield from latent_matrices(mixer, hidden_size, gpus, absorbed=absorbed)
        case CompressedAttention():
            yield from compressed_matrices(mixer, hidden_size, gpus)
        case LinearAttention():
            yield from linear_matrices(mixer, hidden_size, gpus)
        case StateSpace():
            yield from state_space_matrices(mixer, hidden_size, gpus)
        case LinearMixer():
            yield Matrix("matrix", hidden_size, hidden_size / gpus)


def dense_matrices(name: str, inputs: int, width: Size, *, gated: bool) -> Iterator[Matrix]:
    """An MLP on one GPU. A gate shares the up projection's input, so both are one product."""
    first = f"{name} gate and up projections" if gated else f"{name} up projection"
    yield Matrix(first, inputs, width * (2 if gated else 1), kind="mlp")
    yield Matrix(f"{name} down projection", width, inputs, kind="mlp")


def mlp_matrices(
    mlp: MlpKind, hidden_size: int, *, tensor_parallel: ArrayLike = 1, expert_parallel: ArrayLike = 1
) -> Iterator[Matrix]:
    """All matrices of an MLP on one GPU; each expert is split like a dense MLP, and a GPU stores its share of them."""
    gpus = np.asarray(tensor_parallel, dtype=np.float64)
    if isinstance(mlp, Mlp):
        yield from dense_matrices("MLP", hidden_size, mlp.intermediate_size / gpus, gated=mlp.gated)
        return
    yield Matrix("router", hidden_size, mlp.num_experts, kind="router")
    if mlp.expert_hidden_size:
        yield Matrix("projection into the expert space", hidden_size, mlp.expert_hidden_size, kind="mlp")
    space = mlp.expert_hidden_size or hidden_size
    stored = mlp.num_experts / np.asarray(expert_parallel, dtype=np.float64)
    for one in dense_matrices("expert", space, mlp.expert_intermediate_size / gpus, gated=mlp.gated):
        yield Matrix(one.label, one.inputs, one.outputs, stored, mlp.top_k, "experts")
    if mlp.expert_hidden_size:
        yield Matrix("projection out of the expert space", mlp.expert_hidden_size, hidden_size, kind="mlp")
    if mlp.shared_intermediate_size:
        width = mlp.shared_intermediate_size / gpus
        yield from dense_matrices("shared expert", hidden_size, width, gated=mlp.gated)
    if mlp.shared_gate:
        yield Matrix("gate of the shared experts", hidden_size, 1, kind="router")
    if mlp.parallel_dense:
        yield from mlp_matrices(mlp.parallel_dense, hidden_size, tensor_parallel=tensor_parallel)


def layer_matrices(
    layer: Layer,
    model: ModelSpec,
    *,
    tensor_parallel: ArrayLike = 1,
    expert_parallel: ArrayLike = 1,
    absorbed: bool = False,
) -> Iterator[Matrix]:
    """All matrices of one layer, hyper-connections and named extras included."""
    hidden = model.hidden_size
    if layer.mixer:
        yield from mixer_matrices(layer.mixer, hidden, tensor_parallel=tensor_parallel, absorbed=absorbed)
    if layer.mlp:
        yield from mlp_matrices(layer.mlp, hidden, tensor_parallel=tensor_parallel, expert_parallel=expert_parallel)
    streams, parts = model.residual_streams, (layer.mixer is not None) + (layer.mlp is not None)
    if streams > 1 and parts:  # reads from, writes to and mixes the residual streams around each part
        rows = (2 + streams) * streams
        yield Matrix("hyper-connections", streams * hidden, rows, parts, parts, "other")
    yield from _named(layer.extras)


def outer_matrices(model: ModelSpec, *, tensor_parallel: ArrayLike = 1) -> Iterator[Matrix]:
    """Matrices outside the layers: the output head, tied or not, and what stands beside the embedding."""
    if model.residual_streams > 1:
        width = model.residual_streams * model.hidden_size
        yield Matrix("merge of the residual streams", width, model.residual_streams, kind="other")
    yield from _named((*model.embedding_extras, *model.final_extras))
    columns = model.vocab_size / np.asarray(tensor_parallel, dtype=np.float64)
    yield Matrix("output head", model.embedding_size or model.hidden_size, columns, kind="head")


def _named(extras: tuple[tuple[str, int], ...]) -> Iterator[Matrix]:
    """Extras carry a number of weights and no shape; all but norms and scalars are small matrices."""
    for label, params in extras:
        if "norm" not in label and label != "activation":
            yield Matrix(label, params, 1, kind="named")
