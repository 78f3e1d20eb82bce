"""How much of a drill's worked solution is shown: less with each exposure, more again after misses."""

from __future__ import annotations

from collections.abc import Iterable

from core.progress.document import Attempt
from core.progress.schedule import first_answers

LAST_LEVEL = 2  # from the third exposure on only the answer is asked


def steps_shown(attempts: Iterable[Attempt], card_id: str, total_steps: int) -> int:
    """How many of the first steps to show worked, 0 to ``total_steps - 1``.

    Args:
        attempts: those that count.
        card_id: of the drill.
        total_steps: of its worked solution.

    First all but the last step, the second time all but the last two, then none. Two misses in a row step back.
    """
    level, misses = 0, 0
    for attempt in first_answers(attempt for attempt in attempts if attempt.card_id == card_id):
        misses = 0 if attempt.correct else misses + 1
        if misses == 2:
            level, misses = max(0, level - 1), 0
        else:
            level = min(LAST_LEVEL, level + 1)
    return 0 if level == LAST_LEVEL else max(0, total_steps - 1 - level)
