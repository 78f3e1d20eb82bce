r"""How many weights a model stores, how many a token uses, and where they are.

Counts are exact integers: biases, norms, routers and gates included; tied embedding and head once; without
multi-token-prediction modules, vision towers and balancing buffers. Per-part formulas are in
:mod:`core.mixer_params` and :mod:`core.mlp_params`; here they are summed over layers.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.mixer_params import mixer_label, mixer_terms
from core.mlp_params import expert_params, mlp_terms
from core.model_spec import Layer, ModelSpec, Moe

EXPERTS = "routed experts"


@dataclass(frozen=True, slots=True)
class LayerParams:
    """Weights of one layer by what happens to them. [params]"""

    mixer: int
    mlp: int  # dense MLP, shared experts, router and gates
    experts: int  # routed experts, all of them
    active_experts: int  # the routed experts that one token uses
    norms: int
    other: int  # hyper-connections and named extras

    @property
    def dense(self) -> int:
        """What every token passes through, and what expert parallelism does not shard. [params]"""
        return self.mixer + self.mlp + self.norms + self.other

    @property
    def total(self) -> int:
        """Everything the layer stores. [params]"""
        return self.dense + self.experts

    @property
    def active(self) -> int:
        """What one token uses. [params]"""
        return self.dense + self.active_experts


@dataclass(frozen=True, slots=True)
class ParamCount:
    """Weights of a language model. [params]"""

    total: int  # stored: tied embedding and head once, no MTP module, no vision tower
    embedding: int  # the token embedding
    position_embedding: int  # a learned position table
    lookup_tables: int  # further tables of which a token reads a few rows (per-layer embeddings)
    lm_head: int  # also given where the embedding serves as head
    active: int  # used per token; input embedding and lookup tables excluded, a tied head counts as used
    experts: int  # routed experts of all layers


def hyper_connection_params(streams: int, hidden_size: int) -> int:
    r"""Weights of one hyper-connection: how a mixer or MLP reads from and writes to ``streams`` residuals. [params]

    From all streams together (width :math:`n h`) it computes n weights to read, n to write and n^2 to mix, so a matrix
    of (2 + n) n rows, a bias for each row, and one scale for each of the three groups.
    Source: DeepSeek-AI 2026, DeepSeek-V4 technical report, section 2.2; Xie et al. 2025, arXiv:2512.24880.
    """
    rows = (2 + streams) * streams
    return rows * streams * hidden_size + rows + 3


def hyper_head_params(streams: int, hidden_size: int) -> int:
    """Weights that merge the residual streams before the output head: one weight a stream, a bias each, a scale."""
    return streams * streams * hidden_size + streams + 1


def params_of_layer(layer: Layer, hidden_size: int, residual_streams: int = 1) -> LayerParams:
    """Weights of one layer of a model with this width. [params]"""
    mixer = sum(params for _, params in mixer_terms(layer.mixer, hidden_size)) if layer.mixer else 0
    mlp = sum(params for _, params in mlp_terms(layer.mlp, hidden_size)) if layer.mlp else 0
    experts = active = 0
    if isinstance(layer.mlp, Moe):
        one = expert_params(layer.mlp, hidden_size)
        experts, active = layer.mlp.num_experts * one, layer.mlp.top_k * one
    other = layer.extra_params
    if residual_streams > 1:
        parts = (layer.mixer is not None) + (layer.mlp is not None)
        other += parts * hyper_connection_params(residual_streams, hidden_size)
    return LayerParams(mixer, mlp, experts, active, layer.norm_params, other)


def distinct_layers(model: ModelSpec) -> list[tuple[LayerParams, int]]:
    """Each distinct layer's weights and how often it occurs."""
    return [
        (params_of_layer(layer, model.hidden_size, model.residual_streams), count)
        for layer, count in model.layer_counts.items()
    ]


def count_params(model: ModelSpec) -> ParamCount:
    """Stored and active weights of a model; see :class:`ParamCount` for what each counts. [params]"""
    layers = distinct_layers(model)
    embedding = model.vocab_size * (model.embedding_size or model.hidden_size)
    positions = model.position_embeddings * (model.position_embedding_size or model.hidden_size)
    tables = sum(params for _, params in model.lookup_tables)
    head_bias = model.vocab_size if model.lm_head_bias else 0
    around = model.embedding_extra_params - tables + model.final_norm_params + model.final_extra_params
    if model.residual_streams > 1:
        around += hyper_head_params(model.residual_streams, model.hidden_size)
    stored_head = (0 if model.tie_word_embeddings else embedding) + head_bias
    return ParamCount(
        total=embedding + positions + tables + around + stored_head + sum(n * layer.total for layer, n in layers),
        embedding=embedding,
        position_embedding=positions,
        lookup_tables=tables,
        lm_head=embedding + head_bias,
        active=positions + around + embedding + head_bias + sum(n * layer.active for layer, n in layers),
        experts=sum(n * layer.experts for layer, n in layers),
    )


@dataclass(frozen=True, slots=True)
class LayerArrays:
    """One entry a layer, first layer first. Floats, exact to 2^53: an absurd config must not overflow. [params]"""

    dense: NDArray[np.float64]
    experts: NDArray[np.float64]

    @property
    def total(self) -> NDArray[np.float64]:
        """Everything a layer stores."""
        return self.dense + self.experts


def split_layer_params(model: ModelSpec) -> LayerArrays:
    """Each layer's weights, routed experts apart from the rest: for pipeline stages and expert parallelism. [params]"""
    known: dict[int, LayerParams] = {}  # by identity: readers repeat one object for equal layers
    for layer in model.layers:
        if id(layer) not in known:
            known[id(layer)] = params_of_layer(layer, model.hidden_size, model.residual_streams)
    rows = [known[id(layer)] for layer in model.layers]
    return LayerArrays(
        dense=np.array([row.dense for row in rows], dtype=np.float64),
        experts=np.array([row.experts for row in rows], dtype=np.float64),
    )


def layer_params(model: ModelSpec) -> NDArray[np.float64]:
    """Weights of each layer, shape (num_layers,). [params]"""
    return split_layer_params(model).total


def breakdown(model: ModelSpec) -> list[tuple[str, int]]:
    """What the total is the sum of, in reading order; the terms add up to ``count_params().total``."""
    counts: dict[str, int] = defaultdict(int)
    params: dict[str, int] = defaultdict(int)

    def add(label: str, number: int, times: int = 1) -> None:
        if number:
            counts[label] += times
            params[label] += times * number

    for layer, times in model.layer_counts.items():
        own = params_of_layer(layer, model.hidden_size, model.residual_streams)
        if layer.mixer:
            add(mixer_label(layer.mixer), own.mixer, times)
        moe = isinstance(layer.mlp, Moe)
        add("router and shared experts" if moe else "MLP", own.mlp, times)
        add(EXPERTS, own.experts, times)
        add("norms of a layer", own.norms, times)
        for name, number in layer.extras:
            add(name, number, times)
        add("hyper-connections", own.other - layer.extra_params, times)
    count = count_params(model)
    rows = [("token embedding", count.embedding), ("position table", count.position_embedding)]
    rows += [*model.lookup_tables, *model.embedding_extras]
    rows += [(f"{counts[label]} x {label}", number) for label, number in params.items()]
    rows += [("final norm", model.final_norm_params), *model.final_extras]
    if model.residual_streams > 1:
        rows.append(("merge of the residual streams", hyper_head_params(model.residual_streams, model.hidden_size)))
    if not model.tie_word_embeddings:
        rows.append(("output head", count.embedding))
    if model.lm_head_bias:
        rows.append(("output head bias", model.vocab_size))
    return [(label, number) for label, number in rows if number]
