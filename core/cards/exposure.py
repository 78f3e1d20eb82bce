"""How much of a worked solution a learner still sees: it fades with exposure, and comes back after two misses."""

from __future__ import annotations

from collections.abc import Sequence


def shown_steps(steps: int, history: Sequence[bool]) -> int:
    """Worked steps to show before the answer: all but the last at first, one fewer each time, then none.

    Two misses in a row step back by one. Worked examples help beginners and hinder those who know (Kalyuga, Ayres,
    Chandler and Sweller 2003, doi:10.1207/S15326985EP3801_4).

    Args:
        steps: worked steps of the drill, of which the last gives the answer away.
        history: earlier answers to it, oldest first: right or not.
    """
    hidden = 1
    misses = 0
    for right in history:
        hidden = min(hidden + 1, steps)
        misses = 0 if right else misses + 1
        if misses == 2:
            hidden, misses = max(hidden - 2, 1), 0  # undo this exposure's step, and one more
    return steps - hidden
