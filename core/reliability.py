r"""Failures, checkpoints and stragglers of a run in which all GPUs wait for each other.

Failures are independent and come at a constant rate, so that the times between them are exponential. Rates of parts
add: a cluster of n parts fails n times as often as one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats, not_negative, positive, share, whole


def mean_time_between_s(duration_s: ArrayLike, failures: ArrayLike) -> Floats:
    """MTBF from a log: the time observed over the failures in it. [s], broadcast.

    Args:
        duration_s: how long was observed. [s]
        failures: failures in that time, one or more. [failures]
    """
    return np.asarray(positive("duration_s", duration_s) / positive("failures", failures))


def expected_failures(duration_s: ArrayLike, mtbf_s: ArrayLike) -> Floats:
    """Failures in a time, on average: the time over the MTBF. [failures], broadcast."""
    return np.asarray(not_negative("duration_s", duration_s) / positive("mtbf_s", mtbf_s))


def cluster_mtbf_s(part_mtbf_s: ArrayLike, num_parts: ArrayLike) -> Floats:
    """MTBF of a job that stops when any of its parts does: that of one part over their number. [s], broadcast.

    Args:
        part_mtbf_s: of one GPU, or one node. [s]
        num_parts: as many of them as the job uses. [parts]

    Independent exponential times: their rates add, as in the failure model of Kokolis et al. 2024, arXiv:2410.21680.
    """
    return np.asarray(positive("part_mtbf_s", part_mtbf_s) / whole("num_parts", num_parts))


def survival(duration_s: ArrayLike, mtbf_s: ArrayLike) -> Floats:
    r"""Chance that a time passes without a failure, :math:`e^{-t/M}`. [-], broadcast."""
    return np.asarray(np.exp(-expected_failures(duration_s, mtbf_s)))


def cause_share(cause_mtbf_s: ArrayLike, mtbf_s: ArrayLike) -> Floats:
    """Share of the failures that one cause makes: its rate over the rate of all, so all's MTBF over its own. [-]

    Args:
        cause_mtbf_s: mean time between failures of that cause. [s]
        mtbf_s: mean time between failures of any cause, no longer than that. [s]
    """
    return share("mtbf_s / cause_mtbf_s", positive("mtbf_s", mtbf_s) / positive("cause_mtbf_s", cause_mtbf_s))


def mtbf_without_s(mtbf_s: ArrayLike, removed_share: ArrayLike) -> Floats:
    """MTBF once a share of the failures is cured: the rates of the others are left. [s], broadcast.

    Args:
        mtbf_s: before the cure. [s]
        removed_share: share of the failures that no longer happen, below 1. [-]
    """
    left = positive("1 - removed_share", 1 - share("removed_share", removed_share))
    return np.asarray(positive("mtbf_s", mtbf_s) / left)


def young_interval_s(checkpoint_s: ArrayLike, mtbf_s: ArrayLike) -> Floats:
    r"""Work between two checkpoints that loses least time, to first order: :math:`\sqrt{2 C M}`. [s], broadcast.

    Args:
        checkpoint_s: how long training stands still for a checkpoint, C: of an asynchronous one the copy, not the
            upload. [s]
        mtbf_s: mean time between failures, M, much longer than the checkpoint. [s]

    At this interval both halves of :func:`waste` are equal. Source: Young 1974, doi:10.1145/361147.361115.
    """
    return np.asarray(np.sqrt(2 * positive("checkpoint_s", checkpoint_s) * positive("mtbf_s", mtbf_s)))


def daly_interval_s(checkpoint_s: ArrayLike, mtbf_s: ArrayLike) -> Floats:
    r"""The same to higher order, which holds where checkpoints are not short beside the MTBF. [s], broadcast.

    :math:`\sqrt{2 C M} (1 + \frac{1}{3} \sqrt{C / 2M} + \frac{1}{9} C / 2M) - C` for C < 2 M, else M.
    Source: Daly 2006, doi:10.1016/j.future.2004.11.016.
    """
    stall, mtbf = np.broadcast_arrays(positive("checkpoint_s", checkpoint_s), positive("mtbf_s", mtbf_s))
    half = stall / (2 * mtbf)
    series = np.sqrt(2 * stall * mtbf) * (1 + np.sqrt(half) / 3 + half / 9) - stall
    return np.asarray(np.where(half < 1, series, mtbf))


def waste(checkpoint_s: ArrayLike, interval_s: ArrayLike, mtbf_s: ArrayLike) -> Floats:
    r"""Share of the time that goes into checkpoints and into work done twice: :math:`C / \tau + \tau / 2M`. [-]

    Args:
        checkpoint_s: as in :func:`young_interval_s`. [s]
        interval_s: work between two checkpoints, :math:`\tau`. [s]
        mtbf_s: mean time between failures, much longer than the interval. [s]

    To first order: a failure finds half an interval of work unsaved on average. Source: Young 1974.
    """
    interval = positive("interval_s", interval_s)
    return np.asarray(not_negative("checkpoint_s", checkpoint_s) / interval + expected_failures(interval, mtbf_s) / 2)


def goodput(checkpoint_s: ArrayLike, interval_s: ArrayLike, mtbf_s: ArrayLike, restart_s: ArrayLike) -> Floats:
    """Share of the time in which work is done that lasts, to first order. [-], broadcast.

    Args:
        checkpoint_s, interval_s, mtbf_s: as in :func:`waste`. [s]
        restart_s: from a failure until the lost work begins again: notice it, replace, load. [s]

    1 - waste - restart / MTBF; below 0 where the estimate no longer holds (:func:`exact_goodput` does).
    """
    down = not_negative("restart_s", restart_s) / positive("mtbf_s", mtbf_s)
    return np.asarray(1 - waste(checkpoint_s, interval_s, mtbf_s) - down)


def exact_goodput(checkpoint_s: ArrayLike, interval_s: ArrayLike, mtbf_s: ArrayLike, restart_s: ArrayLike) -> Floats:
    r"""The same without approximation: checkpoints and restarts may fail too. [-], broadcast.

    :math:`\tau / (M e^{R/M} (e^{(\tau + C)/M} - 1))`, useful time over expected time. Source: Daly 2006, the complete
    cost function.
    """
    mtbf, interval = positive("mtbf_s", mtbf_s), positive("interval_s", interval_s)
    segment = (interval + not_negative("checkpoint_s", checkpoint_s)) / mtbf
    expected = mtbf * np.exp(not_negative("restart_s", restart_s) / mtbf) * np.expm1(segment)
    return np.asarray(interval / expected)


def straggler_chance(slow_share: ArrayLike, num_ranks: ArrayLike) -> Floats:
    r"""Chance that at least one rank of a step is slow, :math:`1 - (1 - p)^n`: then all are. [-], broadcast.

    Args:
        slow_share: chance that one rank is slow in a step, independent of the others. [-]
        num_ranks: ranks that wait for each other. [ranks]

    Source: Dean and Barroso 2013, The Tail at Scale, doi:10.1145/2408776.2408794.
    """
    return np.asarray(1 - (1 - share("slow_share", slow_share)) ** whole("num_ranks", num_ranks))
