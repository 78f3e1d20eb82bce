"""Serving on the whiteboard: floors of a step, tokens a second, requests that fit, queues, speculation, hand-offs."""

from __future__ import annotations

import math

from core.checks import not_negative, positive, whole
from core.hardware import Accelerator
from core.reliability import straggler_chance
from core.roofline import time_floor_s
from core.rounding import rounded_down, rounded_up
from core.serving_metrics import decode_tokens_per_s as tokens_per_s_floor
from core.serving_metrics import request_latency_s
from core.speculation import expected_speculative_tokens, speculative_speedup
from core.whiteboard.hardware import move_floor_s


def decode_step_floor_s(
    weight_bytes: float, kv_bytes_per_request: float, batch: float, bandwidth_bytes_per_s: float
) -> float:
    """The least time of a decode step that reads the weights once and each request's cache: bytes over bandwidth. [s]

    A floor: full bandwidth, perfect overlap. Source: Austin et al. 2025, How to Scale Your Model, chapter Inference.
    """
    return move_floor_s(weight_bytes + kv_bytes_per_request * batch, bandwidth_bytes_per_s)


def decode_tokens_per_s(
    weight_bytes: float, kv_bytes_per_request: float, batch: float, bandwidth_bytes_per_s: float
) -> float:
    """Tokens of all requests a second at that floor: one a request and step. [tokens/s]"""
    return float(tokens_per_s_floor(weight_bytes, kv_bytes_per_request, batch, bandwidth_bytes_per_s))


def decode_ceiling_tokens_per_s(
    num_params: float,
    weight_bytes: float,
    kv_bytes_per_request: float,
    batch: float,
    num_gpus: float,
    accelerator: Accelerator,
) -> float:
    """Tokens of all requests a second where a step is as short as bytes and 16-bit arithmetic allow. [tokens/s]

    The batch over :func:`checking_floor_s` with one token a request.
    """
    step = checking_floor_s(num_params, weight_bytes, kv_bytes_per_request, batch, 1.0, num_gpus, accelerator)
    return batch / step


def batch_gain(weight_bytes: float, kv_bytes_per_request: float, batch: float) -> float:
    """Tokens a second of a batch over those of one request, both at the floor; the bandwidth cancels. [x]"""
    one, many = (decode_tokens_per_s(weight_bytes, kv_bytes_per_request, size, 1.0) for size in (1.0, batch))
    return many / one


def decode_intensity(num_params: float, weight_bytes: float, kv_bytes_per_request: float, batch: float) -> float:
    """FLOP for each byte of a decode step: 2 a weight and request, over weights and caches. [FLOP/byte]

    Attention's own FLOPs are left out, as in 2 N a token. Source: How to Scale Your Model, chapter Inference.
    """
    return 2 * num_params * batch / (weight_bytes + kv_bytes_per_request * batch)


def requests_that_fit(usable_bytes: float, weight_bytes: float, kv_bytes_per_request: float) -> float:
    """Whole requests whose cache fits beside the weights. [requests]"""
    left = float(not_negative("usable_bytes", usable_bytes)) - weight_bytes
    return float(max(rounded_down(left / float(positive("kv_bytes_per_request", kv_bytes_per_request))), 0))


def requests_that_fit_in_groups(
    num_gpus: float,
    gpus_per_request: float,
    usable_bytes: float,
    weight_bytes: float,
    kv_bytes_per_request: float,
) -> float:
    """Whole requests of all GPUs, where a group of them shares the cache of each of its requests evenly. [requests]

    A group of one is data-parallel attention: what is left over on one GPU is of no use to a request on another.

    Args:
        num_gpus: GPUs of the server, whole groups. [GPUs]
        gpus_per_request: GPUs of a group. [GPUs]
        usable_bytes, weight_bytes: of each GPU. [bytes]
        kv_bytes_per_request: cache of a request, on all GPUs of its group together. [bytes]
    """
    group = float(whole("gpus_per_request", gpus_per_request))
    groups = float(whole("num_gpus / gpus_per_request", num_gpus / group))
    return groups * requests_that_fit(group * usable_bytes, group * weight_bytes, kv_bytes_per_request)


def requests_within_step(
    step_s: float, weight_bytes: float, kv_bytes_per_request: float, bandwidth_bytes_per_s: float
) -> float:
    """The largest batch whose floor stays within a time for the step; 0 where the weights alone take longer. [requests]

    What may be read in that time, less the weights, over a cache: :func:`decode_step_floor_s` solved for the batch.
    """
    return requests_that_fit(step_s * bandwidth_bytes_per_s, weight_bytes, kv_bytes_per_request)


def requests_with_shared_prefix(
    usable_bytes: float, weight_bytes: float, kv_bytes_per_request: float, sharing: float, prefix_share: float
) -> float:
    """Whole requests that fit when some of them begin alike and the common part is stored once. [requests]

    Args:
        usable_bytes, weight_bytes, kv_bytes_per_request: as in :func:`requests_that_fit`. [bytes]
        sharing: share of the requests that begin with the prefix, 0 to 1. [-]
        prefix_share: share of a request's cache that the prefix is, 0 to 1. [-]
    """
    prefix = kv_bytes_per_request * prefix_share
    each = kv_bytes_per_request - sharing * prefix  # on average
    stored = prefix if sharing > 0 else 0.0  # the one copy comes off the room
    return requests_that_fit(usable_bytes - stored, weight_bytes, each)


def server_load(
    requests_arriving_per_s: float, prefill_seconds: float, output_tokens: float, tokens_per_s: float
) -> float:
    """Share of the time that arriving work takes: each prompt its prefill, each answer its part of the decode rate. [-]

    From 1 on the queue grows without bound. Prefill and decode take turns on the same GPUs here; chunks that ride along
    in decode steps lower it. Source: the utilization law, Harchol-Balter 2013, chapter 6.
    """
    each = prefill_seconds + output_tokens / float(positive("tokens_per_s", tokens_per_s))
    return requests_arriving_per_s * each


def prefill_s(
    num_params: float, prompt_tokens: float, num_gpus: float, efficiency: float, accelerator: Accelerator
) -> float:
    """Time of a prompt's forward pass at a share of the dense 16-bit peak: 2 N FLOP a token. [s]

    Attention over the prompt is left out, which grows with its length. Source: Pope et al. 2022, arXiv:2211.05102.
    """
    rate = whole("num_gpus", num_gpus) * accelerator.peak_flops_per_s("bf16") * positive("efficiency", efficiency)
    flops = 2 * num_params * prompt_tokens
    return float(time_floor_s(flops, 0.0, peak_flops_per_s=rate, bytes_per_s=1.0))


def prefill_chunk_tokens(
    num_params: float, budget_s: float, num_gpus: float, efficiency: float, accelerator: Accelerator
) -> float:
    """Prompt tokens whose forward pass takes a given time: :func:`prefill_s` solved for the tokens. [tokens]

    What the decodes of the same step cost is left out. Source: Agrawal et al. 2024, arXiv:2403.02310.
    """
    return budget_s / prefill_s(num_params, 1.0, num_gpus, efficiency, accelerator)


def end_to_end_s(first_token_s: float, token_s: float, output_tokens: float) -> float:
    """From a request to its last token: the first one, then one step for each of the others. [s]"""
    return float(request_latency_s(first_token_s, token_s, output_tokens))


def concurrency(requests_arriving_per_s: float, latency_s: float) -> float:
    """Requests inside on average: arrivals a second times the time that each stays. [requests]

    Source: Little's law, Harchol-Balter 2013, Performance Modeling and Design of Computer Systems, chapter 6.
    """
    return float(positive("requests_arriving_per_s", requests_arriving_per_s) * positive("latency_s", latency_s))


def mm1_wait_s(requests_arriving_per_s: float, requests_served_per_s: float) -> float:
    r"""Mean wait before service of one server with Poisson arrivals and exponential service times. [s]

    :math:`\rho / (\mu - \lambda)` with the load :math:`\rho = \lambda / \mu`; service itself is not in it.
    Source: Harchol-Balter 2013, Performance Modeling and Design of Computer Systems, chapter 13.
    """
    spare = positive("requests_served_per_s - requests_arriving_per_s", requests_served_per_s - requests_arriving_per_s)
    return requests_arriving_per_s / requests_served_per_s / float(spare)


def verification_tokens(acceptance: float, draft_tokens: float) -> float:
    """Tokens that come out of one checking pass on average, its own one included. [tokens]"""
    return float(expected_speculative_tokens(acceptance, draft_tokens))


def speculation_speedup_memory_bound(acceptance: float, draft_tokens: float, draft_cost: float) -> float:
    """Speed-up while a checking pass takes as long as a plain step. [x]"""
    return float(speculative_speedup(acceptance, draft_tokens, draft_cost=draft_cost))


def speculation_speedup_compute_bound(acceptance: float, draft_tokens: float, draft_cost: float) -> float:
    """Speed-up where a checking pass takes as long as a step for each token that it checks. [x]"""
    each = draft_tokens + 1
    return float(speculative_speedup(acceptance, draft_tokens, draft_cost=draft_cost, verify_cost=each))


def checking_floor_s(
    num_params: float,
    weight_bytes: float,
    kv_bytes_per_request: float,
    batch: float,
    tokens_per_request: float,
    num_gpus: float,
    accelerator: Accelerator,
) -> float:
    """Floor of one pass over so many tokens of each request: bytes over bandwidth, or FLOPs over the peak. [s]

    With one token a plain decode step. 2 N FLOP a token, attention left out. Source: How to Scale Your Model,
    chapter Inference.
    """
    return float(
        time_floor_s(
            2 * num_params * batch * tokens_per_request,
            weight_bytes + kv_bytes_per_request * batch,
            peak_flops_per_s=num_gpus * accelerator.peak_flops_per_s("bf16"),
            bytes_per_s=num_gpus * accelerator.hbm_bytes_per_s,
        )
    )


def verify_cost(
    num_params: float,
    weight_bytes: float,
    kv_bytes_per_request: float,
    batch: float,
    draft_tokens: float,
    num_gpus: float,
    accelerator: Accelerator,
) -> float:
    """Floor of the checking pass over that of a plain step: 1 while memory decides, up to draft_tokens + 1. [x]"""
    checking, plain = (
        checking_floor_s(num_params, weight_bytes, kv_bytes_per_request, batch, tokens, num_gpus, accelerator)
        for tokens in (draft_tokens + 1, 1.0)
    )
    return checking / plain


def speculation_speedup(
    acceptance: float,
    draft_tokens: float,
    draft_cost: float,
    num_params: float,
    weight_bytes: float,
    kv_bytes_per_request: float,
    batch: float,
    num_gpus: float,
    accelerator: Accelerator,
) -> float:
    """Speed-up at a batch, the checking pass priced by :func:`verify_cost`; below 1 it loses. [x]"""
    checking = verify_cost(num_params, weight_bytes, kv_bytes_per_request, batch, draft_tokens, num_gpus, accelerator)
    return float(speculative_speedup(acceptance, draft_tokens, draft_cost=draft_cost, verify_cost=checking))


def speculation_gains_up_to(
    acceptance: float,
    draft_tokens: float,
    draft_cost: float,
    num_params: float,
    weight_bytes: float,
    kv_bytes_per_request: float,
    most_requests: float,
    num_gpus: float,
    accelerator: Accelerator,
) -> float:
    """The largest batch, of those that fit, at which :func:`speculation_speedup` is 1 or more. [requests]

    Break-even is where the checking pass takes E - c x draft tokens plain steps. Plain steps wait for memory there, so
    both sides are straight lines in the batch; long caches may keep them from ever meeting.
    """
    worth = verification_tokens(acceptance, draft_tokens) - draft_tokens * draft_cost
    bandwidth = num_gpus * accelerator.hbm_bytes_per_s
    check_s = 2 * num_params * (draft_tokens + 1) / (num_gpus * accelerator.peak_flops_per_s("bf16"))
    gap_s = check_s - worth * kv_bytes_per_request / bandwidth  # how much faster checking grows with each request
    if worth < 1:
        return 0.0
    return float(
        most_requests if gap_s <= 0 else min(most_requests, math.floor(worth * weight_bytes / bandwidth / gap_s))
    )


def kv_transfer_s(tokens: float, kv_bytes_per_token: float, link_bytes_per_s: float) -> float:
    """Time to hand a prompt's cache from prefill to decode over one link, nothing overlapped. [s]"""
    return move_floor_s(tokens * kv_bytes_per_token, link_bytes_per_s)


def prefill_workers(requests_arriving_per_s: float, prefill_s: float, utilization: float) -> float:
    """Workers that keep each at or below a utilization, if one prompt is worked at a time. [workers]

    Work arriving a second over what a worker may take, rounded up.
    """
    work = positive("requests_arriving_per_s", requests_arriving_per_s) * positive("prefill_s", prefill_s)
    return float(rounded_up(float(work / positive("utilization", utilization))))


def slow_request_share(calls: float, slow_share: float) -> float:
    """Chance that at least one of several independent calls is slow: they are waited for as ranks of a step are. [-]

    Source: Dean and Barroso 2013, The Tail at Scale: 100 calls, each slow once in 100, give 63%.
    """
    return float(straggler_chance(slow_share, whole("calls", calls)))


def adapters_in_pool(
    pool_bytes: float, rank: float, hidden_size: float, matrices: float, element_bytes: float
) -> float:
    """LoRA adapters that fit, each with two matrices of hidden_size x rank beside every square target. [adapters]

    Source: Hu et al. 2021, arXiv:2106.09685, section 4.1.
    """
    adapter = 2 * whole("rank", rank) * hidden_size * matrices * element_bytes
    return float(rounded_down(float(pool_bytes / adapter)))
