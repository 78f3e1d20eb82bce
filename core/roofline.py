"""The roofline: what an accelerator attains at a given arithmetic intensity, and the least time that work takes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats, not_negative, positive
from core.hardware import Accelerator


def ridge_point(accelerator: Accelerator, dtype: str) -> float:
    """Intensity above which compute, and below which memory bandwidth, is the limit: peak over bandwidth. [FLOP/byte]

    Source: Williams, Waterman and Patterson 2009, doi:10.1145/1498765.1498785.

    Raises:
        ValueError: the accelerator has no peak in ``dtype``.
    """
    return accelerator.peak_flops_per_s(dtype) / accelerator.hbm_bytes_per_s


def attainable_flops_per_s(intensity: ArrayLike, accelerator: Accelerator, dtype: str) -> Floats:
    """The roof over an intensity: the lower of the slope (bandwidth times intensity) and the peak.

    Args:
        intensity: FLOP for each byte moved from or to the main memory. [FLOP/byte]
        accelerator: the card; dense peak and pin-rate bandwidth, so measured kernels lie below.
        dtype: format of the multiplication, such as "bf16".

    Returns:
        [FLOP/s], in the shape of ``intensity``.
    """
    slope = not_negative("intensity", intensity) * accelerator.hbm_bytes_per_s
    return np.minimum(slope, accelerator.peak_flops_per_s(dtype))


def time_floor_s(
    flops: ArrayLike, num_bytes: ArrayLike, *, peak_flops_per_s: ArrayLike, bytes_per_s: ArrayLike
) -> Floats:
    """The least time for some work: the longer of computing it and moving its bytes, fully overlapped. [s]"""
    compute = not_negative("flops", flops) / positive("peak_flops_per_s", peak_flops_per_s)
    return np.maximum(compute, not_negative("num_bytes", num_bytes) / positive("bytes_per_s", bytes_per_s))


def matmul_intensity(
    rows: ArrayLike,
    inputs: ArrayLike,
    outputs: ArrayLike,
    *,
    weight_bytes: ArrayLike = 2.0,
    activation_bytes: ArrayLike = 2.0,
) -> Floats:
    """FLOP a byte of ``rows`` tokens times one weight matrix, each operand moved once.

    Args:
        rows: tokens; in decode, the batch. [tokens]
        inputs, outputs: shape of the weights. [elements]
        weight_bytes, activation_bytes: size of an element. [bytes]

    Returns:
        2 m k n / (w k n + a m (k + n)) [FLOP/byte], broadcast: close to m while m is far below k and n in 16-bit
        formats, for each weight of 2 bytes is then used 2 m times.
    """
    m, k, n = (positive(name, size) for name, size in (("rows", rows), ("inputs", inputs), ("outputs", outputs)))
    weights = positive("weight_bytes", weight_bytes) * k * n
    return np.asarray(2 * m * k * n / (weights + positive("activation_bytes", activation_bytes) * m * (k + n)))


def crossover_batch(accelerator: Accelerator, dtype: str, *, weight_bytes: ArrayLike = 2.0) -> Floats:
    """Sequences in a decode batch from which weight matrices stop being bound by bandwidth.

    Args:
        accelerator: the card.
        dtype: format of the multiplication.
        weight_bytes: size of a stored weight; 8-bit weights cross at half the batch if they multiply as 16-bit. [bytes]

    Returns:
        ridge x weight_bytes / 2 [sequences]: each weight makes 2 FLOP for each sequence. Activations are left out; they
        move the crossing up, little where widths are far above the ridge. KV reads never cross: each sequence has its
        own.
    """
    return np.asarray(ridge_point(accelerator, dtype) * positive("weight_bytes", weight_bytes) / 2)
