"""Activations: what the forward pass keeps on each GPU until the backward pass has used it.

Two floors of detail: the equations of Korthikanti et al. for a GPT layer, and a count of kept tensors for real layers,
which gives the same where both apply. Whole models and pipeline stages are in :mod:`core.stage_activations`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats, divides, one_of, positive, whole
from core.kept_tensors import FP32_BYTES, MASK_BYTES, ActivationOptions, Kept, Run
from core.mixer_activations import mixer_tensors
from core.mlp_activations import mlp_tensors
from core.model_spec import Attention, Layer

Recompute = Literal["none", "selective", "full"]
RECOMPUTES: tuple[Recompute, ...] = ("none", "selective", "full")


def activation_bytes_per_layer(
    *,
    seq_len: ArrayLike,
    micro_batch_size: ArrayLike,
    hidden_size: ArrayLike,
    num_attention_heads: ArrayLike,
    tensor_parallel: ArrayLike = 1,
    sequence_parallel: ArrayLike = False,
    recompute: Recompute = "none",
) -> Floats:
    """What one GPT layer keeps on one GPU for one micro-batch, by the paper's equations.

    Args:
        seq_len: tokens of one sequence, s. [tokens]
        micro_batch_size: sequences of one forward pass, b. [sequences]
        hidden_size: h. [elements]
        num_attention_heads: a. [heads]
        tensor_parallel: GPUs that split heads and MLP widths, t; a multiple of none but a divisor of a. [GPUs]
        sequence_parallel: whether the parts outside those splits are split along the sequence too. [-]
        recompute: "none"; "selective" makes the attention scores again; "full" keeps the layer's input alone.

    Returns:
        [bytes per GPU], broadcast:
        none s b h (10 + 24/t + 5 a s / (h t)), with sequence parallelism s b h / t (34 + 5 a s / h);
        selective the same without the last term; full 2 s b h, with sequence parallelism over t.

    Assumes 16-bit activations, one-byte dropout masks, attention that stores its scores, an ungated MLP of 4 h.
    For other layers and tiled attention see :func:`layer_activation_bytes`.
    Source: Korthikanti et al. 2022, arXiv:2205.05198, table 2 and equations 1 to 4.
    """
    one_of("recompute", recompute, RECOMPUTES)
    divides("tensor_parallel", tensor_parallel, "num_attention_heads", num_attention_heads)
    s, b, h, a, t, sp = np.broadcast_arrays(
        whole("seq_len", seq_len),
        whole("micro_batch_size", micro_batch_size),
        whole("hidden_size", hidden_size),
        whole("num_attention_heads", num_attention_heads),
        whole("tensor_parallel", tensor_parallel),
        np.asarray(sequence_parallel, dtype=bool),
    )
    outside = np.where(sp, t, 1.0)  # split of what tensor parallelism leaves whole
    if recompute == "full":
        return np.asarray(2 * s * b * h / outside)
    # Outside: two norms 4, inputs of the QKV and first MLP matrices 4, two dropout masks 2 (1 byte each).
    # Inside: Q, K, V 6, attention output 2, before and after the activation function 8 + 8.
    kept = s * b * h * (10 / outside + 24 / t)
    if recompute == "none":  # scores: softmax output 2, dropout mask 1, dropout output 2
        kept = kept + 5 * a * s**2 * b / t
    return np.asarray(kept)


def layer_tensors(
    layer: Layer,
    hidden_size: int,
    *,
    recompute: Recompute = "none",
    residual_streams: int = 1,
    **options: Unpack[ActivationOptions],
) -> tuple[Kept, ...]:
    """The tensors that a real layer keeps, in the order in which the forward pass makes them.

    Assumes one norm in front of each part: norms behind a part (Gemma) would keep one hidden-sized tensor more. Norm
    statistics, rotary tables and token ids are left out: they are a few bytes a token.
    """
    one_of("recompute", recompute, RECOMPUTES)
    run = Run.of(**options)
    _refuse_uneven_heads(layer, run)
    if recompute == "full":
        width = hidden_size * residual_streams
        return (Kept("layer input", width, run.whole, "to run the layer's forward pass again"),)
    kept = _all_tensors(layer, hidden_size, residual_streams, run)
    return tuple(tensor for tensor in kept if recompute == "none" or not tensor.core)


def layer_activation_bytes(
    layer: Layer,
    hidden_size: int,
    *,
    recompute: Recompute = "none",
    residual_streams: int = 1,
    **options: Unpack[ActivationOptions],
) -> Floats:
    """What a real layer keeps on one GPU for one micro-batch: the sum of :func:`layer_tensors`. [bytes per GPU]"""
    run = Run.of(**options)
    tensors = layer_tensors(layer, hidden_size, recompute=recompute, residual_streams=residual_streams, **options)
    return np.asarray(sum((tensor.bytes(run) for tensor in tensors), np.zeros(())))


def _all_tensors(layer: Layer, hidden_size: int, residual_streams: int, run: Run) -> Iterator[Kept]:
    parts = (
        ("mixer", mixer_tensors(layer.mixer, run) if layer.mixer else None),
        ("MLP", mlp_tensors(layer.mlp, hidden_size, run) if layer.mlp else None),
    )
    for name, own in parts:
        if own is None:
            continue
        if residual_streams > 1:  # hyper-connections read, mix and write all streams around each part
            streams = hidden_size * residual_streams
            yield Kept(f"residual streams at the {name}", streams, run.whole, "gradient of the mixing weights")
        yield Kept(f"input of the norm before the {name}", hidden_size, run.whole, "gradient of the norm")
        yield Kept(f"input of the {name}", hidden_size, run.whole, "gradient of its first matrices")
        yield from own
        if run.dropout:
            mask = "which elements were dropped"
            yield Kept(f"dropout mask behind the {name}", hidden_size, run.whole, mask, MASK_BYTES)


def _refuse_uneven_heads(layer: Layer, run: Run) -> None:
    heads = getattr(layer.mixer, "num_heads", None) or getattr(layer.mixer, "num_value_heads", None)
    if heads:
        divides("tensor_parallel", run.tensor_parallel, "num_attention_heads", heads)
    if isinstance(layer.mixer, Attention):
        groups = layer.mixer.num_kv_heads
        t = np.atleast_1d(run.tensor_parallel)
        bad = t[(groups % t != 0) & (t % groups != 0)]
        if bad.size:
            raise ValueError(
                f"tensor_parallel={int(bad[0])} neither divides num_kv_heads={groups} nor is a multiple of it"
            )


def logits_bytes(
    *,
    seq_len: ArrayLike,
    micro_batch_size: ArrayLike,
    vocab_size: ArrayLike,
    tensor_parallel: ArrayLike = 1,
    context_parallel: ArrayLike = 1,
    copies: ArrayLike = 1,
    element_bytes: ArrayLike = FP32_BYTES,
) -> Floats:
    """Logits of one micro-batch on one GPU, at the end of the forward pass.

    Args:
        seq_len: tokens of one sequence, s. [tokens]
        micro_batch_size: sequences of one forward pass, b. [sequences]
        vocab_size: V, padded as the run pads it. [tokens]
        tensor_parallel: GPUs that split the vocabulary, t. [GPUs]
        context_parallel: GPUs that split the sequence. [GPUs]
        copies: how many are alive at once. 1: the paper's, for the loss. 2: the fp32 logits and their softmax. 3: and
            their gradient, as an unfused loss keeps. [-]
        element_bytes: 4, for the loss is computed in fp32. [bytes]

    Returns:
        [bytes per GPU], 4 s b V / t for one copy, broadcast.

    Source: Korthikanti et al. 2022, arXiv:2205.05198, section 4.3 (4 s b v / t).
    """
    s, b, v, t, c, n, size = np.broadcast_arrays(
        whole("seq_len", seq_len),
        whole("micro_batch_size", micro_batch_size),
        whole("vocab_size", vocab_size),
        whole("tensor_parallel", tensor_parallel),
        whole("context_parallel", context_parallel),
        positive("copies", copies),
        positive("element_bytes", element_bytes),
    )
    return np.asarray(size * n * s * b * v / (t * c))
