"""How long prefill and decode take: floors that nothing can beat, and estimates that say what they assume.

A floor overlaps everything at datasheet rates and sends no message. An estimate runs one kernel after another at stated
efficiencies (:class:`core.serving_rates.Efficiencies`) and waits for messages. Never show one as the other.
"""

from __future__ import annotations

from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from core.bend import bend_batch
from core.checks import Floats, whole
from core.hardware import Accelerator
from core.model_spec import ModelSpec
from core.serving_messages import Fabric, fabric_of
from core.serving_metrics import (
    cost_per_million_tokens,
    decode_tokens_per_s,
    inference_mfu,
    request_latency_s,
    time_per_token,
)
from core.serving_rates import (
    EFFICIENCIES,
    Efficiencies,
    StepTime,
    estimated_time,
    floor_time,
)
from core.serving_weights import ServingFormats
from core.serving_work import decode_work, prefill_work
from core.speculation import expected_speculative_tokens, speculative_operations, speculative_speedup

__all__ = [
    "EFFICIENCIES",
    "Efficiencies",
    "Fabric",
    "StepTime",
    "bend_batch",
    "cost_per_million_tokens",
    "decode_estimate_s",
    "decode_floor_s",
    "decode_tokens_per_s",
    "estimated_time",
    "expected_speculative_tokens",
    "fabric_of",
    "floor_time",
    "inference_mfu",
    "prefill_estimate_s",
    "prefill_floor_s",
    "request_latency_s",
    "speculative_operations",
    "speculative_speedup",
    "time_per_token",
    "verify_cost",
]


def decode_floor_s(
    model: ModelSpec,
    accelerator: Accelerator,
    seq_len: ArrayLike,
    *,
    batch: ArrayLike = 1,
    tensor_parallel: ArrayLike = 1,
    tokens_per_sequence: ArrayLike = 1,
    **formats: Unpack[ServingFormats],
) -> Floats:
    """The least time of one decode step: weights and cache over bandwidth, or FLOPs over the peak if that is longer.

    Args:
        model: the model; of routed experts those count that some token chooses, all being equally likely.
        accelerator: datasheet bandwidth and dense peak.
        seq_len: tokens of each sequence, the new one included. [tokens]
        batch: sequences that share the step. [sequences]
        tensor_parallel: GPUs that share the step; the fullest one's time. [GPUs]
        tokens_per_sequence: checked at once, see :func:`core.serving_work.decode_work`. [tokens]
        formats: see :class:`core.serving_weights.ServingFormats`.

    Returns:
        [s], broadcast. Measured steps take 1.3 to 4 times as long: communication, kernels' starts, rates below the
        datasheet's. Where no peak is confirmed it is the memory's time alone.

    Source: Pope et al. 2022, arXiv:2211.05102, section 2.1.
    """
    work = decode_work(
        model,
        seq_len,
        batch=batch,
        tensor_parallel=tensor_parallel,
        tokens_per_sequence=tokens_per_sequence,
        **formats,
    )
    return floor_time(work, accelerator).overlapped_s


def decode_estimate_s(
    model: ModelSpec,
    accelerator: Accelerator,
    seq_len: ArrayLike,
    *,
    batch: ArrayLike = 1,
    tensor_parallel: ArrayLike = 1,
    tokens_per_sequence: ArrayLike = 1,
    fabric: Fabric | None = None,
    efficiencies: Efficiencies = EFFICIENCIES,
    **formats: Unpack[ServingFormats],
) -> Floats:
    """What one decode step takes at stated efficiencies, messages and kernels' starts included.

    Args:
        model, accelerator, seq_len, batch, tensor_parallel, tokens_per_sequence, formats: as in
            :func:`decode_floor_s`.
        fabric: links between the GPUs; None takes the catalog's, see :func:`core.serving_rates.fabric_of`.
        efficiencies: what is reached of datasheet rates; each default says its source.

    Returns:
        [s], broadcast; NaN where several GPUs have no known link.

    Held to sums of measured kernels of Qwen3-8B on ten systems: 7% median error, 15% at the ninth decile. Leaves out
    stragglers, scheduling and preemption.
    """
    work = decode_work(
        model,
        seq_len,
        batch=batch,
        tensor_parallel=tensor_parallel,
        tokens_per_sequence=tokens_per_sequence,
        **formats,
    )
    return estimated_time(work, accelerator, tensor_parallel, fabric, efficiencies).sequential_s


def prefill_floor_s(
    model: ModelSpec,
    accelerator: Accelerator,
    prompt_len: ArrayLike,
    *,
    batch: ArrayLike = 1,
    tensor_parallel: ArrayLike = 1,
    cached_tokens: ArrayLike = 0,
    **formats: Unpack[ServingFormats],
) -> Floats:
    """The least time until the first token of ``batch`` prompts, from when they start to run.

    Args:
        model: the model.
        accelerator: datasheet bandwidth and dense peak.
        prompt_len: tokens of each prompt. [tokens]
        batch: prompts that run together. [sequences]
        tensor_parallel: GPUs that share the work. [GPUs]
        cached_tokens: of each prompt, found in a prefix cache; they save their matrices and their own attention, and
            are still attended to. [tokens]
        formats: see :class:`core.serving_weights.ServingFormats`.

    Returns:
        [s], broadcast: FLOPs over the peak, or bytes over bandwidth if that is longer, as for short prompts. NaN where
        no peak is confirmed. Causal attention; logits of the last token only.

    Source: Pope et al. 2022, arXiv:2211.05102, section 2.1 (2N FLOPs a token).
    """
    work = prefill_work(
        model, prompt_len, batch=batch, tensor_parallel=tensor_parallel, cached_tokens=cached_tokens, **formats
    )
    time = floor_time(work, accelerator)
    return np.maximum(time.bandwidth_s, time.compute_s)


def prefill_estimate_s(
    model: ModelSpec,
    accelerator: Accelerator,
    prompt_len: ArrayLike,
    *,
    batch: ArrayLike = 1,
    tensor_parallel: ArrayLike = 1,
    cached_tokens: ArrayLike = 0,
    fabric: Fabric | None = None,
    efficiencies: Efficiencies = EFFICIENCIES,
    **formats: Unpack[ServingFormats],
) -> Floats:
    """What prefill takes at stated efficiencies; arguments as in :func:`prefill_floor_s` and :func:`decode_estimate_s`.

    Without the wait in a queue, and as one pass: chunks add a weight read and kernels' starts each. [s]
    """
    work = prefill_work(
        model, prompt_len, batch=batch, tensor_parallel=tensor_parallel, cached_tokens=cached_tokens, **formats
    )
    time = estimated_time(work, accelerator, tensor_parallel, fabric, efficiencies)
    return time.sequential_s + 0.0 * time.compute_s  # without a peak there is no estimate


def verify_cost(
    model: ModelSpec,
    accelerator: Accelerator,
    seq_len: ArrayLike,
    draft_tokens: ArrayLike,
    *,
    batch: ArrayLike = 1,
    tensor_parallel: ArrayLike = 1,
    **formats: Unpack[ServingFormats],
) -> Floats:
    """Time of checking a draft over that of a plain step, on floors: what :func:`speculative_speedup` needs.

    1 while memory is the limit, up to ``draft_tokens`` + 1 at large batches; more experts are hit besides. [-]
    """
    tokens = whole("draft_tokens", draft_tokens, low=0) + 1
    shape = {"batch": batch, "tensor_parallel": tensor_parallel}
    checking = decode_floor_s(model, accelerator, seq_len, tokens_per_sequence=tokens, **shape, **formats)
    return checking / decode_floor_s(model, accelerator, seq_len, **shape, **formats)
