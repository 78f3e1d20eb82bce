"""What a served request feels and costs: tokens a second, time per token in both definitions, MFU, price."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats, not_negative, positive, whole
from core.flops import utilization

_SECONDS_PER_HOUR = 3600.0


def decode_tokens_per_s(
    weight_bytes: ArrayLike, kv_bytes_per_sequence: ArrayLike, batch: ArrayLike, bytes_per_s: ArrayLike
) -> Floats:
    """Tokens a second of a whole batch, if memory bandwidth alone limits: a ceiling, never a promise.

    Args:
        weight_bytes: read once a step, for all sequences. [bytes]
        kv_bytes_per_sequence: each sequence's own cache, read every step. [bytes]
        batch: sequences, each of which gets one token a step. [sequences]
        bytes_per_s: bandwidth of all GPUs that share the weights. [bytes/s]

    Returns:
        batch / ((weights + batch x cache) / bandwidth) [tokens/s], broadcast.

    Source: Pope et al. 2022, arXiv:2211.05102, section 2.1: both are loaded once in each step.
    """
    sequences = whole("batch", batch)
    step_bytes = positive("weight_bytes", weight_bytes) + sequences * not_negative(
        "kv_bytes_per_sequence", kv_bytes_per_sequence
    )
    return np.asarray(sequences * positive("bytes_per_s", bytes_per_s) / step_bytes)


@dataclass(frozen=True, slots=True)
class TimePerToken:
    """Time per output token (TPOT), as two communities define it; each field is broadcast. [s]"""

    after_first_s: Floats  # (latency - time to first token) / (n - 1): the pace that a reader sees
    over_all_s: Floats  # latency / n: prefill and queue are smeared over the answer


def time_per_token(latency_s: ArrayLike, first_token_s: ArrayLike, output_tokens: ArrayLike) -> TimePerToken:
    """TPOT of one request in both definitions; say which one a number is.

    Args:
        latency_s: from the request to its last token. [s]
        first_token_s: from the request to its first token (TTFT). [s]
        output_tokens: tokens of the answer, two or more. [tokens]

    Source: the first is vLLM's and MLPerf's; the second is what dividing a benchmark's latency gives
    (configiq issue 8).
    """
    latency, first, tokens = np.broadcast_arrays(
        positive("latency_s", latency_s),
        positive("first_token_s", first_token_s),
        whole("output_tokens", output_tokens, low=2),
    )
    if np.any(first > latency):
        raise ValueError("first_token_s is longer than latency_s; the first token cannot come after the last")
    return TimePerToken(after_first_s=(latency - first) / (tokens - 1), over_all_s=latency / tokens)


def request_latency_s(first_token_s: ArrayLike, token_s: ArrayLike, output_tokens: ArrayLike) -> Floats:
    """From a request to its last token: the first one, then n - 1 steps. [s]"""
    steps = whole("output_tokens", output_tokens) - 1
    return positive("first_token_s", first_token_s) + steps * positive("token_s", token_s)


def inference_mfu(
    num_params: ArrayLike,
    num_tokens: ArrayLike,
    seconds: ArrayLike,
    *,
    num_gpus: ArrayLike,
    peak_flops_per_s: ArrayLike,
) -> Floats:
    """Model FLOPs of a forward pass over what the chips could have done in that time.

    Args:
        num_params: weights that a token uses; of a MoE model the active ones. [params]
        num_tokens: tokens processed, prompts and answers. [tokens]
        seconds: how long that took. [s]
        num_gpus: chips. [GPUs]
        peak_flops_per_s: dense peak of one chip. [FLOP/s]

    Returns:
        2 N tokens / (chips x peak x time) [-]: two FLOPs a weight and token. Attention is left out, as in the source.

    Source: Pope et al. 2022, arXiv:2211.05102, tables 2 and 3.
    """
    rate = positive("num_tokens", num_tokens) / positive("seconds", seconds)
    flops = 2 * positive("num_params", num_params)
    return utilization(rate, flops, num_gpus=num_gpus, peak_flops_per_s=peak_flops_per_s)


def cost_per_million_tokens(
    tokens_per_s: ArrayLike, *, num_gpus: ArrayLike, price_per_gpu_hour: ArrayLike, utilization: ArrayLike = 1.0
) -> Floats:
    """Price of a million tokens, in the currency of ``price_per_gpu_hour``.

    Args:
        tokens_per_s: of all GPUs together, while they serve. [tokens/s]
        num_gpus: GPUs that are paid for. [GPUs]
        price_per_gpu_hour: rent of one. [currency per hour]
        utilization: share of the paid time in which they serve at that rate. [-]

    Returns:
        GPUs x price / 3600 / (tokens a second x utilization) x 10^6, broadcast.
    """
    per_second = whole("num_gpus", num_gpus) * not_negative("price_per_gpu_hour", price_per_gpu_hour)
    served = positive("tokens_per_s", tokens_per_s) * positive("utilization", utilization)
    return np.asarray(1e6 * per_second / _SECONDS_PER_HOUR / served)


def expert_exchange_s(
    tokens: ArrayLike,
    experts_per_token: ArrayLike,
    hidden_size: ArrayLike,
    *,
    bytes_per_s: ArrayLike,
    dispatch_bytes: ArrayLike = 1.0,
    combine_bytes: ArrayLike = 2.0,
) -> Floats:
    """Time of one layer's expert-parallel exchange: each token goes to its experts and comes back. A floor.

    Args:
        tokens: tokens of one GPU in one pass. [tokens]
        experts_per_token: places that a token is sent to, a shared expert included. [experts]
        hidden_size: width of a token. [elements]
        bytes_per_s: one way, of one GPU's link. [bytes/s]
        dispatch_bytes: size of an element on its way there, FP8. [bytes]
        combine_bytes: size of an element on its way back, BF16. [bytes]

    Returns:
        [s], broadcast. A decode step does this in every layer; the source plans two micro-batches, so twice.

    Source: DeepSeek-AI 2025, arXiv:2505.09343, section 2.3.2: 120.96 us at 50 GB/s.
    """
    sent = whole("tokens", tokens) * whole("experts_per_token", experts_per_token) * whole("hidden_size", hidden_size)
    width = not_negative("dispatch_bytes", dispatch_bytes) + not_negative("combine_bytes", combine_bytes)
    return np.asarray(sent * width / positive("bytes_per_s", bytes_per_s))
