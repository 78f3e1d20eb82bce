"""The derivations of activation memory: the paper's equation, the count of kept tensors, the logits."""

from __future__ import annotations

from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from core.activations import (
    Recompute,
    activation_bytes_per_layer,
    layer_activation_bytes,
    layer_tensors,
    logits_bytes,
)
from core.kept_tensors import FP32_BYTES, ActivationOptions, Run
from core.model_spec import Layer
from core.working import Term, Working, number, product, scalar

_KORTHIKANTI = "Korthikanti et al. 2022, arXiv:2205.05198"


def activation_working(
    *,
    seq_len: ArrayLike,
    micro_batch_size: ArrayLike,
    hidden_size: ArrayLike,
    num_attention_heads: ArrayLike,
    tensor_parallel: ArrayLike = 1,
    sequence_parallel: bool = False,
    recompute: Recompute = "none",
) -> Working:
    """The derivation of :func:`activation_bytes_per_layer`."""
    value = activation_bytes_per_layer(
        seq_len=seq_len,
        micro_batch_size=micro_batch_size,
        hidden_size=hidden_size,
        num_attention_heads=num_attention_heads,
        tensor_parallel=tensor_parallel,
        sequence_parallel=sequence_parallel,
        recompute=recompute,
    )
    s, b, h, a, t = (
        scalar(name, given)
        for name, given in (
            ("seq_len", seq_len),
            ("micro_batch_size", micro_batch_size),
            ("hidden_size", hidden_size),
            ("num_attention_heads", num_attention_heads),
            ("tensor_parallel", tensor_parallel),
        )
    )
    outside = t if sequence_parallel else 1.0
    over_t = " / t" if sequence_parallel else ""

    def term(label: str, factors: tuple[float, ...], shares: float, why: str) -> Term:
        expression = product(*factors) + (f" / {number(shares)}" if shares != 1 else "")
        return Term(label, expression, float(np.prod(factors)) / shares, "bytes", why)

    if recompute == "full":
        formula = f"2 s b h{over_t}"
        terms: tuple[Term, ...] = (term("layer input", (2, s, b, h), outside, "all else is made again"),)
    else:
        formula = f"10 s b h{over_t} + 24 s b h / t"
        terms = (
            term(
                "norms, projection inputs, dropout masks", (10, s, b, h), outside, "outside the tensor-parallel parts"
            ),
            term("Q, K, V, attention output, MLP", (24, s, b, h), t, "inside the tensor-parallel parts"),
        )
        if recompute == "none":
            formula += " + 5 a s s b / t"
            terms += (term("attention scores", (5, a, s, s, b), t, "softmax 2, dropout mask 1, dropout output 2"),)
    return Working(
        name=f"Activations of one layer, recompute {recompute}",
        formula=formula,
        terms=terms,
        value=scalar("activations", value),
        unit="bytes",
        assumptions=(
            "a GPT layer: ungated MLP of 4 h, dropout, 16-bit activations, attention that stores its scores",
            "one micro-batch, one GPU",
        ),
        source=f"{_KORTHIKANTI}, table 2",
    )


def layer_activation_working(
    layer: Layer,
    hidden_size: int,
    *,
    recompute: Recompute = "none",
    residual_streams: int = 1,
    **options: Unpack[ActivationOptions],
) -> Working:
    """The derivation of :func:`layer_activation_bytes`, one term for each kept tensor."""
    run = Run.of(**options)
    tensors = layer_tensors(layer, hidden_size, recompute=recompute, residual_streams=residual_streams, **options)
    total = layer_activation_bytes(
        layer, hidden_size, recompute=recompute, residual_streams=residual_streams, **options
    )
    return Working(
        name=f"Activations of one layer, recompute {recompute}",
        formula="sum over kept tensors of: bytes an element × s × b × width / GPUs that share it",
        terms=tuple(tensor.term(run) for tensor in tensors),
        value=scalar("activations", total),
        unit="bytes",
        assumptions=(
            "tiled attention: scores are never stored" if run.fused_attention else "attention stores its scores",
            "dropout masks kept" if run.dropout else "no dropout",
            "one micro-batch, one GPU; one norm before each part",
            "activation functions fused" if run.fused_mlp else "activation functions unfused",
        ),
        source=f"counted tensor by tensor; equals {_KORTHIKANTI}, table 2, for a GPT layer",
    )


def logits_working(
    *,
    seq_len: ArrayLike,
    micro_batch_size: ArrayLike,
    vocab_size: ArrayLike,
    tensor_parallel: ArrayLike = 1,
    copies: ArrayLike = 1,
) -> Working:
    """The derivation of :func:`logits_bytes`."""
    value = logits_bytes(
        seq_len=seq_len,
        micro_batch_size=micro_batch_size,
        vocab_size=vocab_size,
        tensor_parallel=tensor_parallel,
        copies=copies,
    )
    n, s, b, v, t = (
        scalar(name, given)
        for name, given in (
            ("copies", copies),
            ("seq_len", seq_len),
            ("micro_batch_size", micro_batch_size),
            ("vocab_size", vocab_size),
            ("tensor_parallel", tensor_parallel),
        )
    )
    expression = product(FP32_BYTES, n, s, b, v) + (f" / {number(t)}" if t != 1 else "")
    total = scalar("logits", value)
    return Working(
        name="Logits in fp32",
        formula="4 × copies × s b V / t",
        terms=(Term("logits", expression, total, "bytes", "the loss is computed in fp32"),),
        value=total,
        unit="bytes",
        assumptions=(
            f"copies alive at once: {number(n)}" + (", the logits and their softmax" if n == 2 else ""),
            "one micro-batch, last pipeline stage",
        ),
        source=f"{_KORTHIKANTI}, section 4.3: 4 s b V / t for one copy",
    )
