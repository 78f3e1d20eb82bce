"""Reliability and data on the whiteboard: checkpoints, failures, stragglers, and the loader as a queue.

Failures are independent and come at a constant rate, as in :mod:`core.reliability`.
"""

from __future__ import annotations

import math

from core import reliability
from core.checks import not_negative, positive, share, whole
from core.rounding import rounded_up
from core.whiteboard.hardware import move_floor_s
from core.zero import zero_memory

_NINETY_NINE = 2.326  # standard deviations below which 99% of a normal distribution lie


def checkpoint_bytes(num_params: float) -> float:
    """Weights and optimizer states of mixed-precision Adam: 2 + 12 bytes per parameter, no gradients. [bytes]"""
    states = zero_memory(num_params, 1, stage=0)
    return float(states.weight_bytes + states.optimizer_bytes)


def checkpoint_write_s(num_params: float, bytes_per_s: float) -> float:
    """Time to write one to storage at a rate that all ranks share. [s]"""
    return move_floor_s(checkpoint_bytes(num_params), bytes_per_s)


def snapshot_stall_s(num_params: float, num_gpus: float, bytes_per_s_per_gpu: float) -> float:
    """Time in which each GPU copies its even share of a checkpoint to host memory; only that blocks training. [s]"""
    return checkpoint_write_s(num_params, float(whole("num_gpus", num_gpus)) * bytes_per_s_per_gpu)


def cluster_mtbf_s(gpu_mtbf_s: float, num_gpus: float) -> float:
    """Mean time between failures of a job that needs all of its GPUs. [s]"""
    return float(reliability.cluster_mtbf_s(gpu_mtbf_s, num_gpus))


def mean_gap_s(duration_s: float, interruptions: float) -> float:
    """Mean time between interruptions, from a log. [s]"""
    return float(reliability.mean_time_between_s(duration_s, interruptions))


def mtbf_without_s(mtbf_s: float, removed_share: float) -> float:
    """The same after a share of the interruptions is cured. [s]"""
    return float(reliability.mtbf_without_s(mtbf_s, removed_share))


def interruptions(duration_s: float, mtbf_s: float) -> float:
    """Interruptions in a run, on average. [events]"""
    return float(reliability.expected_failures(duration_s, mtbf_s))


def survival(duration_s: float, mtbf_s: float) -> float:
    """Chance that a time passes without a failure. [-]"""
    return float(reliability.survival(duration_s, mtbf_s))


def straggler_chance(slow_share: float, num_ranks: float) -> float:
    """Chance that a step has at least one slow rank, and so is slow. [-]"""
    return float(reliability.straggler_chance(slow_share, num_ranks))


def young_interval_s(checkpoint_s: float, mtbf_s: float) -> float:
    """Work between two checkpoints that loses least, to first order. [s]"""
    return float(reliability.young_interval_s(checkpoint_s, mtbf_s))


def daly_interval_s(checkpoint_s: float, mtbf_s: float) -> float:
    """The same to higher order. [s]"""
    return float(reliability.daly_interval_s(checkpoint_s, mtbf_s))


def waste(checkpoint_s: float, interval_s: float, mtbf_s: float) -> float:
    """Share of the time that checkpoints and repeated work take. [-]"""
    return float(reliability.waste(checkpoint_s, interval_s, mtbf_s))


def goodput(checkpoint_s: float, interval_s: float, mtbf_s: float, restart_s: float) -> float:
    """Share of the time that trains, after checkpoints, repeated work and restarts, to first order. [-]"""
    return float(reliability.goodput(checkpoint_s, interval_s, mtbf_s, restart_s))


def exact_goodput(checkpoint_s: float, interval_s: float, mtbf_s: float, restart_s: float) -> float:
    """The same where failures may also hit checkpoints and restarts. [-]"""
    return float(reliability.exact_goodput(checkpoint_s, interval_s, mtbf_s, restart_s))


def interval_for_storage_s(write_s: float, storage_share: float) -> float:
    """Shortest interval at which checkpoint writes keep storage busy for no more than a share of the time. [s]"""
    return float(positive("write_s", write_s) / positive("storage_share", share("storage_share", storage_share)))


def background_goodput(stall_s: float, write_s: float, interval_s: float, mtbf_s: float, restart_s: float) -> float:
    """:func:`goodput` of checkpoints written in the background, to first order. [-]

    A failure falls back to the last one that was complete: half an interval old on average, and its write on top.
    """
    return goodput(stall_s, interval_s, mtbf_s, restart_s + float(not_negative("write_s", write_s)))


def interruption_budget_s(mtbf_s: float, goodput: float) -> float:
    """What each interruption may cost in all so that a share of the time still trains: (1 - goodput) x MTBF. [s]"""
    return float(positive("mtbf_s", mtbf_s) * (1 - share("goodput", goodput)))


def spare_nodes(mtbf_s: float, hardware_share: float, repair_s: float) -> float:
    """Nodes to keep ready so that 99% of the time one is free when another breaks. [nodes]

    Those in repair number rate x repair time on average (Little's law) and spread like a Poisson count, here taken as
    normal: mean + 2.33 standard deviations, rounded up. Each hardware interruption takes one node out.

    Args:
        mtbf_s: mean time between interruptions of any cause. [s]
        hardware_share: share of them after which a node has to be repaired. [-]
        repair_s: how long a node is away. [s]
    """
    away = interruptions(repair_s, mtbf_s) * float(share("hardware_share", hardware_share))
    return float(rounded_up(away + _NINETY_NINE * math.sqrt(away)))


def loader_workers(samples_per_s: float, seconds_per_sample: float) -> float:
    """Loader processes that are busy on average at a rate of samples, rounded up. [workers]

    Source: Little's law, Harchol-Balter 2013, chapter 6: rate x time in service.
    """
    busy = positive("samples_per_s", samples_per_s) * positive("seconds_per_sample", seconds_per_sample)
    return float(rounded_up(float(busy)))
