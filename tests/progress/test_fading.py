"""Worked steps fade with exposure, and come back after two misses in a row."""

import pytest

from core.progress.fading import steps_shown
from tests.progress.made import attempt, day

CARD = "d-kv-cache-growth"


@pytest.mark.parametrize(
    ("results", "shown"),
    [
        ("", 2),
        ("r", 1),
        ("rr", 0),
        ("rrrrr", 0),
        ("w", 1),
        ("ww", 2),  # one forward, one back
        ("rrw", 0),
        ("rrww", 1),
        ("rrwrw", 0),  # not in a row
        ("rrwwww", 1),
        ("wwwwwwww", 2),  # who always misses is never left with the answer alone
        ("wwwwwww", 1),
    ],
)
def test_steps_of_three_that_are_shown(results, shown):
    log = [attempt(n, day(n), correct=result == "r") for n, result in enumerate(results)]
    assert steps_shown(log, CARD, 3) == shown


@pytest.mark.parametrize(("total", "first", "second"), [(1, 0, 0), (2, 1, 0), (5, 4, 3)])
def test_solutions_of_any_length(total, first, second):
    assert steps_shown([], CARD, total) == first
    assert steps_shown([attempt(0)], CARD, total) == second


def test_other_cards_do_not_count():
    assert steps_shown([attempt(0, card_id="d-other")], CARD, 3) == 2
