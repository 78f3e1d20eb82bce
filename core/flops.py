"""FLOPs of a model, forward, backward and recomputed, for each token; and the share of the peak that they make.

Model FLOPs count what the mathematics needs: 2 for each weight of each matrix that a token meets, and its token mixing
(:mod:`core.token_mixing`). Embeddings are lookups; norms, activation functions and softmax are left out, as in the
papers. Hardware FLOPs add what is computed again. MFU divides the first by the peak, HFU the second.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from core.activations import RECOMPUTES, Recompute
from core.checks import Floats, one_of, positive, whole
from core.matrices import layer_matrices, outer_matrices
from core.model_spec import ModelSpec
from core.paged_attention import MOST_TOKENS
from core.token_mixing import View, mixing

# Backward makes two products of each forward one: the gradient of its input and that of its weights (or other operand).
BACKWARD_OVER_FORWARD = 2

Latents = Literal["expanded", "absorbed"]


@dataclass(frozen=True, slots=True)
class ForwardFlops:
    """One token's forward pass by what the FLOPs depend on; each field is broadcast. [FLOP per token]"""

    matrices: Floats  # of all layers, and beside the embedding
    attention: Floats  # scores and values: grows with the sequence
    indexer: Floats  # sparse attention's choice: grows with the sequence
    state: Floats  # linear attention and state space: constant
    head: Floats  # logits

    @property
    def layers(self) -> Floats:
        """Everything but the logits. [FLOP per token]"""
        return self.matrices + self.attention + self.indexer + self.state

    @property
    def total(self) -> Floats:
        """All of it. [FLOP per token]"""
        return self.layers + self.head


def forward_parts(model: ModelSpec, seq_len: ArrayLike, *, view: View, latents: Latents = "expanded") -> ForwardFlops:
    """One token's forward pass by parts; see :func:`forward_flops_per_token`, which is the sum.

    Args:
        model: the model.
        seq_len: tokens of the sequence. [tokens]
        view: which queries are counted, see :data:`core.token_mixing.View`.
        latents: how latent attention runs: "expanded" to keys and values of every head, or "absorbed".
    """
    tokens = whole("seq_len", seq_len, high=MOST_TOKENS)
    absorbed = one_of("latents", latents, ("expanded", "absorbed")) == "absorbed"
    sums = {kind: np.zeros_like(tokens) for kind in ("attention", "indexer", "state")}
    matrices = 0.0
    for layer, count in model.layer_counts.items():
        matrices += count * sum(float(m.flops) for m in layer_matrices(layer, model, absorbed=absorbed))
        if layer.mixer:
            for part in mixing(layer.mixer, tokens, view, absorbed=absorbed):
                sums[part.kind] = sums[part.kind] + count * part.flops
    outside = {matrix.label: float(matrix.flops) for matrix in outer_matrices(model)}
    head = outside.pop("output head")
    whole_shape = np.ones_like(tokens)
    return ForwardFlops(matrices=(matrices + sum(outside.values())) * whole_shape, head=head * whole_shape, **sums)


def forward_flops_per_token(
    model: ModelSpec, seq_len: ArrayLike, *, causal: bool, latents: Latents = "expanded"
) -> Floats:
    """Forward FLOPs of one token, averaged over a sequence of ``seq_len``.

    Args:
        model: the model, layer kinds mixed or not; of routed experts the chosen ones count.
        seq_len: tokens of the sequence. [tokens]
        causal: True counts the tokens that each query sees, (n + 1) / 2 on average. False charges every query with all
            tokens that the last one sees, as Megatron-LM's and PaLM's formulas do: twice the attention. Both respect
            windows, chunks and top-k.
        latents: as in :func:`forward_parts`.

    Returns:
        [FLOP per token], broadcast.

    Sources: Narayanan et al. 2021, arXiv:2104.04473, appendix; Chowdhery et al. 2022, arXiv:2204.02311, appendix B.
    """
    return forward_parts(model, seq_len, view=view_of(causal), latents=latents).total


def decode_flops_per_token(model: ModelSpec, context_len: ArrayLike, *, latents: Latents = "absorbed") -> Floats:
    """Forward FLOPs of the token that makes a sequence ``context_len`` long: it sees every cached one. [FLOP]"""
    return forward_parts(model, context_len, view="last", latents=latents).total


def train_flops_per_token(
    model: ModelSpec, seq_len: ArrayLike, *, causal: bool, recompute: Recompute = "none"
) -> Floats:
    """Forward and backward FLOPs of one token, and those of recomputation if asked for.

    Args:
        model, seq_len, causal: as in :func:`forward_flops_per_token`.
        recompute: "none" gives model FLOPs, three times the forward pass. "selective" makes attention scores and their
            product with the values once more, "full" each layer's forward pass; the output head is never made again.

    Returns:
        [FLOP per token], broadcast.

    Sources: Narayanan et al. 2021, arXiv:2104.04473, equation 3 (full); Korthikanti et al. 2022, arXiv:2205.05198,
    appendix A, whose equation 8 adds three times the attention that selective recomputation makes again.
    """
    forward = forward_parts(model, seq_len, view=view_of(causal))
    again = {"none": np.zeros(()), "selective": forward.attention, "full": forward.layers}
    return (1 + BACKWARD_OVER_FORWARD) * forward.total + again[one_of("recompute", recompute, RECOMPUTES)]


def utilization(
    tokens_per_s: ArrayLike, flops_per_token: ArrayLike, *, num_gpus: ArrayLike, peak_flops_per_s: ArrayLike
) -> Floats:
    """Share of the peak of all GPUs together that ``tokens_per_s`` make use of. [-], 0.5 is 50 %"""
    done = positive("tokens_per_s", tokens_per_s) * positive("flops_per_token", flops_per_token)
    return done / (whole("num_gpus", num_gpus) * positive("peak_flops_per_s", peak_flops_per_s))


def mfu(
    tokens_per_s: ArrayLike,
    model: ModelSpec,
    seq_len: ArrayLike,
    *,
    num_gpus: ArrayLike,
    peak_flops_per_s: ArrayLike,
    causal: bool,
) -> Floats:
    """Model FLOPs utilization of a training run.

    Args:
        tokens_per_s: of all GPUs together. [tokens/s]
        model, seq_len, causal: as in :func:`forward_flops_per_token`.
        num_gpus: all of them. [GPUs]
        peak_flops_per_s: dense peak of one; the sparse figure of a datasheet would halve the result. [FLOP/s]

    Returns:
        [-], broadcast; 0.4 is 40 %.

    Source: Chowdhery et al. 2022, arXiv:2204.02311, section 4.1 and appendix B.
    """
    return hfu(
        tokens_per_s,
        model,
        seq_len,
        num_gpus=num_gpus,
        peak_flops_per_s=peak_flops_per_s,
        causal=causal,
        recompute="none",
    )


def hfu(
    tokens_per_s: ArrayLike,
    model: ModelSpec,
    seq_len: ArrayLike,
    *,
    num_gpus: ArrayLike,
    peak_flops_per_s: ArrayLike,
    causal: bool,
    recompute: Recompute,
) -> Floats:
    """Hardware FLOPs utilization: as :func:`mfu`, with the forward passes that are made again. [-]"""
    per_token = train_flops_per_token(model, seq_len, causal=causal, recompute=recompute)
    return utilization(tokens_per_s, per_token, num_gpus=num_gpus, peak_flops_per_s=peak_flops_per_s)


def recompute_ceiling(model: ModelSpec, seq_len: ArrayLike, *, causal: bool, recompute: Recompute = "full") -> Floats:
    """HFU over MFU that recomputation alone explains; at most 4/3, and a little less, as no head is made again.

    A wider gap has another cause: attention counted in one figure and not in the other, padding, a profiler's
    "tensor active" share reported as HFU. Stalls lower both figures and leave the ratio alone. [-]
    """
    counted = train_flops_per_token(model, seq_len, causal=causal)
    return train_flops_per_token(model, seq_len, causal=causal, recompute=recompute) / counted


def view_of(causal: bool) -> View:
    """The queries that a count with or without the causal mask is about."""
    return "causal" if causal else "full"
