"""Closed forms of papers for a whole model at once: FLOPs from parameter counts and shapes, and training time.

For a model of mixed layers use :mod:`core.flops`, which agrees where these apply.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats, positive, whole

# A forward pass is 2 FLOP a parameter, a backward pass 4; full recomputation is another forward pass.
MODEL_FLOPS_PER_PARAM = 6
RECOMPUTED_FLOPS_PER_PARAM = 8


def training_flops(num_params: ArrayLike, tokens: ArrayLike) -> Floats:
    """Model FLOPs of a whole training run, C = 6 N D, without attention's own.

    Args:
        num_params: N, active ones for a mixture of experts. [params]
        tokens: D. [tokens]

    Returns:
        [FLOP], broadcast. Source: Kaplan et al. 2020, arXiv:2001.08361, section 2.1.
    """
    return np.asarray(MODEL_FLOPS_PER_PARAM * positive("num_params", num_params) * positive("tokens", tokens))


def training_time_s(
    num_params: ArrayLike,
    tokens: ArrayLike,
    *,
    num_gpus: ArrayLike,
    flops_per_s: ArrayLike,
    recompute: bool,
) -> Floats:
    """Time of a training run, 8 T P / (n X) with full recomputation and 6 T P / (n X) without.

    Args:
        num_params: P. [params]
        tokens: T. [tokens]
        num_gpus: n. [GPUs]
        flops_per_s: X, what one GPU achieves: hardware FLOP/s, recomputed ones included, if ``recompute``; model FLOP/s
            otherwise. Mixing the two is an error of a third. [FLOP/s]
        recompute: whether X counts the forward passes that are made again.

    Returns:
        [s], broadcast. Source: Narayanan et al. 2021, arXiv:2104.04473, section 5.1 and appendix (equation 4).
    """
    per_param = RECOMPUTED_FLOPS_PER_PARAM if recompute else MODEL_FLOPS_PER_PARAM
    work = per_param * positive("num_params", num_params) * positive("tokens", tokens)
    return np.asarray(work / (whole("num_gpus", num_gpus) * positive("flops_per_s", flops_per_s)))


def megatron_flops_per_iteration(
    batch: ArrayLike,
    *,
    seq_len: ArrayLike,
    num_layers: ArrayLike,
    hidden_size: ArrayLike,
    vocab_size: ArrayLike,
    recompute: Literal["none", "selective", "full"] = "full",
) -> Floats:
    """FLOPs of one training step of a GPT with MLPs of 4 h, attention not causal.

    Args:
        batch: sequences of the step, B. [sequences]
        seq_len: s. [tokens]
        num_layers: l. [layers]
        hidden_size: h. [elements]
        vocab_size: V, padded as the run pads it. [tokens]
        recompute: "full" is the paper's equation 3; "none" counts model FLOPs; "selective" is Korthikanti's equation 8.

    Returns:
        [FLOP], broadcast: full 96 B s l h^2 (1 + s/(6h) + V/(16 l h)); none 72 B s l h^2 (1 + s/(6h) + V/(12 l h));
        selective the same with s/(3h). 96 is 72 x 4/3: a share of the peak made of it is HFU, of which MFU is 3/4.
        A gated MLP or one of another width needs :func:`core.flops.train_flops_per_token`.

    Sources: Narayanan et al. 2021, arXiv:2104.04473, equation 3; Korthikanti et al. 2022, arXiv:2205.05198, appendix A.
    """
    names = ("batch", "seq_len", "num_layers", "hidden_size", "vocab_size")
    values = (batch, seq_len, num_layers, hidden_size, vocab_size)
    b, s, layers, h, v = (whole(name, value) for name, value in zip(names, values, strict=True))
    factor, attention, head = {"full": (96, 6, 16), "none": (72, 6, 12), "selective": (72, 3, 12)}[recompute]
    return np.asarray(factor * b * s * layers * h**2 * (1 + s / (attention * h) + v / (head * layers * h)))


def palm_flops_per_token(
    num_params: ArrayLike,
    *,
    num_layers: ArrayLike,
    num_heads: ArrayLike,
    head_dim: ArrayLike,
    seq_len: ArrayLike,
) -> Floats:
    """Training FLOPs of a token, 6 N + 12 L H Q T, attention not causal. [FLOP per token], broadcast.

    Args:
        num_params: N, all of them: the paper counts the embedding too, whose lookup stands for the tied head. [params]
        num_layers, num_heads, head_dim, seq_len: L, H, Q and T.

    Source: Chowdhery et al. 2022, arXiv:2204.02311, appendix B.
    """
    names = ("num_layers", "num_heads", "head_dim", "seq_len")
    values = (num_layers, num_heads, head_dim, seq_len)
    sizes = [whole(name, value) for name, value in zip(names, values, strict=True)]
    attention = 12 * sizes[0] * sizes[1] * sizes[2] * sizes[3]
    return np.asarray(MODEL_FLOPS_PER_PARAM * positive("num_params", num_params) + attention)
