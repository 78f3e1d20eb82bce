"""Where the curve of throughput over batch bends: compute takes as long as memory."""

from __future__ import annotations

from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats
from core.hardware import Accelerator
from core.model_spec import ModelSpec
from core.serving_rates import floor_time
from core.serving_weights import ServingFormats, experts_hit_share, served_matrices, vector_bytes
from core.serving_work import decode_work

_MOST_BATCH = 1e12
_HALVINGS = 60  # of the exponent's range: far below a thousandth of a sequence


def bend_batch(
    model: ModelSpec,
    accelerator: Accelerator,
    seq_len: ArrayLike | None = None,
    *,
    tensor_parallel: ArrayLike = 1,
    **formats: Unpack[ServingFormats],
) -> Floats:
    """The batch at which a decode step's FLOPs take as long as its bytes: below it another request is nearly free.

    Args:
        model: the model.
        accelerator: datasheet bandwidth and dense peak.
        seq_len: tokens of each sequence; None leaves attention and its cache out, which gives the ridge point for a
            dense model in 16 bits, and about E / k times as much for a MoE model. [tokens]
        tensor_parallel: GPUs that share the step. [GPUs]
        formats: see :class:`core.serving_weights.ServingFormats`.

    Returns:
        [sequences], not rounded, broadcast. Infinite where each request's cache takes longer to read than its FLOPs to
        compute, so that no batch is ever bound by compute; NaN where no peak is confirmed.

    Source: Pope et al. 2022, arXiv:2211.05102, section 2.1; the ridge of Williams et al. 2009.
    """
    attends = 0.0 if seq_len is None else 1.0
    one = floor_time(
        decode_work(model, 1 if seq_len is None else seq_len, tensor_parallel=tensor_parallel, **formats), accelerator
    )
    # Compute, cache and states are proportional to the batch.
    gain = one.matmul_s + attends * one.attention_s - attends * one.kv_s

    matrices = list(served_matrices(model, tensor_parallel, formats))
    always = sum((m.stored_bytes for m in matrices if m.moe is None), np.asarray(vector_bytes(model, formats)))
    experts = [(m.stored_bytes, m.moe) for m in matrices if m.moe is not None]

    def ahead(batch: Floats) -> Floats:
        """Compute less memory: convex in the batch and below 0 at none, so it crosses 0 once at most. [s]"""
        hit = sum((size * experts_hit_share(moe.top_k, moe.num_experts, batch) for size, moe in experts), always)
        return batch * gain - hit / accelerator.hbm_bytes_per_s

    low, high = np.full_like(gain, 1e-3), np.full_like(gain, _MOST_BATCH)
    for _ in range(_HALVINGS):
        middle = np.sqrt(low * high)
        above = ahead(middle) > 0
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.select([np.isnan(gain), gain <= 0], [np.nan, np.inf], high)
