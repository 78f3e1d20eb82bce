"""Product and cost on the whiteboard: what tokens cost, what a cascade saves, budgets of time and of quality.

Prices are in any one currency, a second or a token each; a cost "per token" times 10^6 is the usual one per million.
"""

from __future__ import annotations

from core.checks import not_negative, positive, share, whole
from core.hardware import Accelerator
from core.rounding import rounded_down, rounded_up
from core.serving_metrics import cost_per_million_tokens
from core.whiteboard.bottleneck import training_time_s
from core.whiteboard.serving import decode_step_floor_s

_SECONDS_PER_HOUR = 3600.0


def cost_per_token(tokens_per_s: float, num_gpus: float, price_per_gpu_s: float, utilization: float = 1.0) -> float:
    """Rent of all GPUs over the tokens that they serve together. [money/token]

    Args:
        tokens_per_s: of all GPUs together while they are busy. [tokens/s]
        num_gpus: GPUs that are paid for. [GPUs]
        price_per_gpu_s: rent of one, an hour's over 3600. [money/s]
        utilization: share of the paid time in which they serve at that rate. [-]
    """
    million = cost_per_million_tokens(
        tokens_per_s,
        num_gpus=num_gpus,
        price_per_gpu_hour=price_per_gpu_s * _SECONDS_PER_HOUR,
        utilization=utilization,
    )
    return float(million) / 1e6


def cost_at_load(full_cost: float, utilization: float) -> float:
    """Cost of a token when the GPUs are busy for a share of the paid time; full_cost holds when always. [money]"""
    return float(not_negative("full_cost", full_cost) / positive("utilization", share("utilization", utilization)))


def training_bill(
    num_params: float, tokens: float, mfu: float, price_per_gpu_s: float, accelerator: Accelerator
) -> float:
    """Rent of a training run: 6 N D model FLOPs at a share of the dense 16-bit peak. [money]

    It does not depend on the number of GPUs while MFU stays. Source: Kaplan et al. 2020, arXiv:2001.08361, section 2.1.
    """
    gpu_seconds = training_time_s(num_params, tokens, 1, float(share("mfu", mfu)), accelerator)
    return gpu_seconds * float(not_negative("price_per_gpu_s", price_per_gpu_s))


def cascade_cost(student_cost: float, large_cost: float, accepted_share: float) -> float:
    """Mean cost when a student tries everything and the large model works what is not accepted. [money]

    Every request pays the student. Source: Chen et al. 2023, arXiv:2305.05176, LLM cascade.
    """
    escalated = 1 - float(share("accepted_share", accepted_share))
    return student_cost + escalated * large_cost


def least_accepted_share(student_cost: float, large_cost: float) -> float:
    """Accepted share below which a cascade costs more than the large model alone: where both are equal. [-]"""
    return float(not_negative("student_cost", student_cost) / positive("large_cost", large_cost))


def added_errors(accepted_share: float, student_error: float, large_error: float) -> float:
    """Wrong answers that a cascade adds, as a share of all requests. [-]

    Args:
        accepted_share: share of the requests that the student keeps. [-]
        student_error: share of those that it answers wrongly. [-]
        large_error: share of the same requests that the large model would have answered wrongly. [-]
    """
    return float(share("accepted_share", accepted_share)) * (student_error - large_error)


def cascade_latency_s(student_s: float, large_s: float, accepted_share: float) -> float:
    """Mean time to an answer: escalated requests wait for both, one after the other. [s]"""
    return cascade_cost(student_s, large_s, accepted_share)  # times add as costs do


def cache_cost(cost: float, hit_share: float) -> float:
    """Mean cost when a share of the requests is answered from a cache of responses, itself taken as free. [money]"""
    return cost * (1 - float(share("hit_share", hit_share)))


def tokens_to_repay(spent: float, saving_per_token: float) -> float:
    """Tokens after which a one-off cost has come back. [tokens]"""
    return float(not_negative("spent", spent) / positive("saving_per_token", saving_per_token))


def replicas(peak_per_s: float, capacity_per_s: float, utilization: float) -> float:
    """Replicas that carry a peak with each busy for no more than a share of the time. [replicas]

    Args:
        peak_per_s: requests, or anything else counted, per second. [1/s]
        capacity_per_s: what one replica can do when always busy. [1/s]
        utilization: share up to which it shall be. [-]
    """
    usable = positive("capacity_per_s", capacity_per_s) * positive("utilization", share("utilization", utilization))
    return float(rounded_up(float(positive("peak_per_s", peak_per_s) / usable)))


def downtime_s(availability: float, fallback_availability: float, period_s: float) -> float:
    """Time of a period in which a service and its independent fallback are both down, switched over at once. [s]

    Source: Treynor et al. 2017, The Calculus of Service Availability (what is shared is not independent).
    """
    both = (1 - share("availability", availability)) * (1 - share("fallback_availability", fallback_availability))
    return float(both * positive("period_s", period_s))


def padding_share(mean_tokens: float, bucket_tokens: float) -> float:
    """Share of the padded tokens that are padding, all sequences in one bucket. [-]"""
    return float(1 - share("mean_tokens / bucket_tokens", mean_tokens / positive("bucket_tokens", bucket_tokens)))


def samples_per_arm(rate: float, drop: float) -> float:
    r"""Graded samples in each of two groups that show a drop of a rate 8 times of 10, at the 5% level. [samples]

    :math:`16 p (1 - p) / d^2`, independent groups; 16 is 2 (1.96 + 0.84)^2 rounded up. Source: Lehr 1992,
    doi:10.1002/sim.4780110811.
    """
    variance = share("rate", rate) * (1 - share("rate", rate))
    return float(16 * variance / positive("drop", drop) ** 2)


def reading_tokens_per_s(words_per_s: float, tokens_per_word: float) -> float:
    """Tokens a second at which a text appears as fast as it is read. [tokens/s]"""
    return float(positive("words_per_s", words_per_s) * positive("tokens_per_word", tokens_per_word))


def first_token_budget_s(target_s: float, network_s: float, lookup_s: float, safety_s: float) -> float:
    """What a target for the first token leaves for queue and prefill. [s]

    Args:
        target_s: from the user's request to the first token on the user's screen. [s]
        network_s: there and back. [s]
        lookup_s: features fetched before the prompt is complete, up to its timeout. [s]
        safety_s: filters before and after. [s]
    """
    return target_s - network_s - lookup_s - safety_s


def request_s(
    prefill_s: float,
    output_tokens: float,
    weight_bytes: float,
    kv_bytes_per_request: float,
    batch: float,
    bandwidth_bytes_per_s: float,
) -> float:
    """A replica's time for one request, prefill and its part of the decode steps, when both take turns. [s]"""
    step = decode_step_floor_s(weight_bytes, kv_bytes_per_request, batch, bandwidth_bytes_per_s)
    return prefill_s + output_tokens * step / float(whole("batch", batch))


def token_s(
    prefill_s: float,
    output_tokens: float,
    weight_bytes: float,
    kv_bytes_per_request: float,
    batch: float,
    bandwidth_bytes_per_s: float,
) -> float:
    """Time per output token at full load: the step, and the prefills that come between two steps. [s]

    Each step ends batch / output_tokens requests, and as many prompts take their places.
    """
    step = decode_step_floor_s(weight_bytes, kv_bytes_per_request, batch, bandwidth_bytes_per_s)
    return step + batch / float(positive("output_tokens", output_tokens)) * prefill_s


def batch_within(
    target_s: float,
    prefill_s: float,
    output_tokens: float,
    weight_bytes: float,
    kv_bytes_per_request: float,
    usable_bytes: float,
    bandwidth_bytes_per_s: float,
) -> float:
    """The largest batch whose :func:`token_s` keeps a target and whose caches fit; 0 where none does. [requests]"""
    each = kv_bytes_per_request / bandwidth_bytes_per_s + prefill_s / float(positive("output_tokens", output_tokens))
    in_time = (target_s - weight_bytes / bandwidth_bytes_per_s) / each
    in_memory = (usable_bytes - weight_bytes) / float(positive("kv_bytes_per_request", kv_bytes_per_request))
    return float(max(rounded_down(min(in_time, in_memory)), 0))


def replicas_at_batch(
    peak_per_s: float,
    utilization: float,
    prefill_s: float,
    output_tokens: float,
    weight_bytes: float,
    kv_bytes_per_request: float,
    batch: float,
    bandwidth_bytes_per_s: float,
) -> float:
    """:func:`replicas` for a peak of requests when each replica decodes at a given batch. [replicas]"""
    each = request_s(prefill_s, output_tokens, weight_bytes, kv_bytes_per_request, batch, bandwidth_bytes_per_s)
    return replicas(peak_per_s, 1 / each, utilization)


def replicas_within(
    peak_per_s: float,
    utilization: float,
    target_s: float,
    prefill_s: float,
    output_tokens: float,
    weight_bytes: float,
    kv_bytes_per_request: float,
    usable_bytes: float,
    bandwidth_bytes_per_s: float,
) -> float:
    """:func:`replicas_at_batch` at the largest batch that keeps a target for the time per token. [replicas]

    Raises:
        ValueError: not even one request keeps the target.
    """
    batch = batch_within(
        target_s,
        prefill_s,
        output_tokens,
        weight_bytes,
        kv_bytes_per_request,
        usable_bytes,
        bandwidth_bytes_per_s,
    )
    return replicas_at_batch(
        peak_per_s,
        utilization,
        prefill_s,
        output_tokens,
        weight_bytes,
        kv_bytes_per_request,
        batch,
        bandwidth_bytes_per_s,
    )
