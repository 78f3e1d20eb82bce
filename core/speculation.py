"""Speculative decoding: a cheap draft proposes tokens, one pass of the target checks them all.

Every formula assumes that each draft token is accepted with the same chance, whatever came before (i.i.d.).
Source: Leviathan et al. 2022, arXiv:2211.17192.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from core.checks import Floats, not_negative, numbers, positive, whole

MOST_DRAFT_TOKENS = 1000


def expected_speculative_tokens(acceptance: ArrayLike, draft_tokens: ArrayLike) -> Floats:
    r"""Tokens that one pass of the target yields on average, its own one included.

    Args:
        acceptance: chance that a draft token is accepted, :math:`\alpha`, 0 to 1. [-]
        draft_tokens: proposed before each pass, :math:`\gamma`; 0 is plain decoding. [tokens]

    Returns:
        :math:`(1 - \alpha^{\gamma + 1}) / (1 - \alpha)` [tokens], broadcast. The pass adds one token of its own even
        where it refuses the draft, so one draft token gives 1 + acceptance.

    Source: Leviathan et al. 2022, arXiv:2211.17192, equation 1.
    """
    alpha, gamma = np.broadcast_arrays(_share("acceptance", acceptance), _draft(draft_tokens))
    certain = alpha == 1.0  # the sum 1 + a + ... + a^g has no closed form there
    return np.asarray(np.where(certain, gamma + 1, (1 - alpha ** (gamma + 1)) / np.where(certain, 1.0, 1 - alpha)))


def speculative_speedup(
    acceptance: ArrayLike, draft_tokens: ArrayLike, *, draft_cost: ArrayLike = 0.0, verify_cost: ArrayLike = 1.0
) -> Floats:
    r"""How many times more tokens a second come out than without a draft; below 1 it loses.

    Args:
        acceptance: as in :func:`expected_speculative_tokens`. [-]
        draft_tokens: as there. [tokens]
        draft_cost: time of one draft token over one decode step of the target, c. [-]
        verify_cost: time of the checking pass over one decode step. 1 while decode waits for memory, so that the other
            tokens ride along; up to ``draft_tokens`` + 1 once it is bound by compute. See
            :func:`core.serving.verify_cost`. [-]

    Returns:
        :math:`E / (v + \gamma c)` [x], broadcast.

    Source: Leviathan et al. 2022, arXiv:2211.17192, theorem 3.8, which takes v = 1.
    """
    tokens = expected_speculative_tokens(acceptance, draft_tokens)
    drafting = _draft(draft_tokens) * not_negative("draft_cost", draft_cost)
    return np.asarray(tokens / (positive("verify_cost", verify_cost) + drafting))


def speculative_operations(
    acceptance: ArrayLike, draft_tokens: ArrayLike, *, draft_operations: ArrayLike = 0.0
) -> Floats:
    r"""FLOPs for each token that comes out, over those of plain decoding: never below 1.

    Args:
        acceptance: as in :func:`expected_speculative_tokens`. [-]
        draft_tokens: as there. [tokens]
        draft_operations: FLOPs of a draft token over those of a target token, :math:`\hat c`. [-]

    Returns:
        :math:`(\gamma \hat c + \gamma + 1) / E` [x], broadcast.

    Source: Leviathan et al. 2022, arXiv:2211.17192, theorem 3.11.
    """
    gamma = _draft(draft_tokens)
    spent = gamma * not_negative("draft_operations", draft_operations) + gamma + 1
    return np.asarray(spent / expected_speculative_tokens(acceptance, draft_tokens))


def _draft(draft_tokens: ArrayLike) -> Floats:
    return whole("draft_tokens", draft_tokens, low=0, high=MOST_DRAFT_TOKENS)


def _share(name: str, value: ArrayLike) -> Floats:
    array = not_negative(name, numbers(name, value))
    if np.any(array > 1):
        raise ValueError(f"{name}={float(array[array > 1].flat[0]):.12g} must be a share from 0 to 1")
    return array
