"""Experts and rollouts on the whiteboard: who is read, who is hot, what crosses the link, what generation costs.

Routing is taken as uniform unless a function says otherwise; real routing is uneven.
"""

from __future__ import annotations

from core.checks import not_negative, positive, share, whole
from core.collectives import bytes_per_rank
from core.hardware import Accelerator
from core.roofline import crossover_batch
from core.rounding import rounded_down, rounded_up
from core.serving_metrics import expert_exchange_s
from core.serving_weights import experts_hit_share
from core.whiteboard.bottleneck import speedup_of_part
from core.whiteboard.hardware import move_floor_s


def active_share(shared_params: float, experts: float, top_k: float, expert_params: float) -> float:
    """Parameters that a token uses over all of them; an expert's are those of all layers together. [-]"""
    total = positive("shared + experts x expert", shared_params + experts * expert_params)
    return float((shared_params + top_k * expert_params) / total)


def distinct_experts(experts: float, top_k: float, tokens: float) -> float:
    r"""Experts of a layer that at least one of so many tokens chose: :math:`E (1 - (1 - k/E)^{tokens})`. [experts]"""
    return float(experts * experts_hit_share(top_k, experts, tokens))


def tokens_per_expert(tokens: float, top_k: float, experts: float) -> float:
    """Tokens that an expert works on average. [tokens]"""
    return float(positive("tokens", tokens) * whole("top_k", top_k) / whole("experts", experts))


def dense_critical_batch(accelerator: Accelerator) -> float:
    """Tokens from which 16-bit matrices of a dense layer stop waiting for memory. [tokens]"""
    return float(crossover_batch(accelerator, "bf16"))


def critical_batch(experts: float, top_k: float, accelerator: Accelerator) -> float:
    """Tokens from which 16-bit experts stop waiting for memory: each must get as many as a dense layer. [tokens]

    Source: Austin et al. 2025, How to Scale Your Model, chapter Inference: the dense batch times E/k.
    """
    return dense_critical_batch(accelerator) * experts / float(whole("top_k", top_k))


def expert_slots(capacity_factor: float, tokens: float, top_k: float, experts: float) -> float:
    """Places that each expert keeps: its even share of all copies times the factor, rounded up. [slots]

    Source: Fedus et al. 2021, arXiv:2101.03961, equation 3, with the k copies of a token counted.
    """
    even = tokens_per_expert(tokens, top_k, experts)
    return float(rounded_up(float(positive("capacity_factor", capacity_factor)) * even))


def hottest_over_mean(hottest_tokens: float, mean_tokens: float) -> float:
    """How much longer a layer's experts take when all wait for the one with most tokens, at equal rates. [x]"""
    return float(hottest_tokens / positive("mean_tokens", mean_tokens))


def expert_bytes_per_gpu(experts: float, expert_params: float, expert_parallel: float, element_bytes: float) -> float:
    """Routed experts on one GPU, spread evenly; shared parts are not in it. [bytes]"""
    return float(experts / whole("expert_parallel", expert_parallel) * expert_params * element_bytes)


def exchange_s(
    tokens: float,
    top_k: float,
    hidden_size: float,
    element_bytes: float,
    expert_parallel: float,
    link_bytes_per_s: float,
) -> float:
    """Floor of one layer's two all-to-alls: copies of the tokens of one GPU go to their experts and come back. [s]

    Each copy is sent for itself; what stays on its own GPU is not sent.
    """
    copies = tokens * top_k * hidden_size * element_bytes
    one_way = bytes_per_rank("all_to_all", copies * expert_parallel, expert_parallel)
    return move_floor_s(2 * float(one_way), link_bytes_per_s)


def exchange_step_s(
    tokens: float,
    top_k: float,
    hidden_size: float,
    layers: float,
    dispatch_bytes: float,
    combine_bytes: float,
    link_bytes_per_s: float,
) -> float:
    """Floor of a decode step's exchanges in all layers, if every copy crosses the link. [s]

    Source: Zhao et al. 2025, arXiv:2505.09343, section 2.3.2.
    """
    layer = expert_exchange_s(
        tokens,
        top_k,
        hidden_size,
        bytes_per_s=link_bytes_per_s,
        dispatch_bytes=dispatch_bytes,
        combine_bytes=combine_bytes,
    )
    return float(whole("layers", layers) * layer)


def tokens_within_exchange(
    budget_s: float,
    top_k: float,
    hidden_size: float,
    layers: float,
    dispatch_bytes: float,
    combine_bytes: float,
    link_bytes_per_s: float,
) -> float:
    """Whole tokens of one GPU whose exchanges fit into a time: :func:`exchange_step_s` solved for them. [tokens]"""
    one = exchange_step_s(1.0, top_k, hidden_size, layers, dispatch_bytes, combine_bytes, link_bytes_per_s)
    return float(rounded_down(budget_s / one))


def requests_per_gpu(
    usable_bytes: float,
    shared_bytes: float,
    routed_bytes: float,
    expert_parallel: float,
    kv_bytes_per_request: float,
) -> float:
    """Whole requests that one GPU of an expert-parallel group holds, attention being data-parallel. [requests]

    Args:
        usable_bytes: of one GPU. [bytes]
        shared_bytes: attention, shared experts and embeddings, of which every GPU keeps a copy. [bytes]
        routed_bytes: all routed experts, of which the group keeps one copy. [bytes]
        expert_parallel: GPUs of the group. [GPUs]
        kv_bytes_per_request: [bytes]
    """
    left = usable_bytes - shared_bytes - routed_bytes / float(whole("expert_parallel", expert_parallel))
    return float(max(rounded_down(left / float(positive("kv_bytes_per_request", kv_bytes_per_request))), 0))


def decode_read_bytes(shared_bytes: float, expert_bytes: float, experts: float, top_k: float, tokens: float) -> float:
    """Weights that a decode step reads: what all tokens share, and each expert that some token chose. [bytes]"""
    read = not_negative("expert_bytes", expert_bytes) * distinct_experts(experts, top_k, tokens)
    return float(shared_bytes + read)


def rl_step_speedup(generation_share: float, generation_speedup: float) -> float:
    """Speed-up of a whole step when only generation gets faster and nothing overlaps. [x] Source: Amdahl 1967."""
    part = share("generation_share", generation_share)
    return speedup_of_part(float(part), float(positive("generation_speedup", generation_speedup)))


def rollout_efficiency(mean_tokens: float, longest_tokens: float) -> float:
    """Share of the places' steps that make a token, if all wait for the longest answer and none is refilled. [-]"""
    return float(mean_tokens / positive("longest_tokens", longest_tokens))


def weight_push_s(num_params: float, element_bytes: float, link_bytes_per_s: float) -> float:
    """Time to send one copy of the weights from trainer to generator at a whole rate, nothing overlapped. [s]"""
    return move_floor_s(num_params * element_bytes, link_bytes_per_s)


def rollout_s(prompts: float, group_size: float, answer_tokens: float, tokens_per_s: float) -> float:
    """Time to generate a group of answers to every prompt at a steady rate of all engines together. [s]

    Source: Shao et al. 2024, arXiv:2402.03300, section 4: a group of outputs for each question.
    """
    return float(prompts * group_size * answer_tokens / positive("tokens_per_s", tokens_per_s))
