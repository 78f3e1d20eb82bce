"""The table of numbers: read in the unit that was asked, compared with the truth of that moment."""

from __future__ import annotations

import pytest

from core.mock.numbers import number_rows
from core.mock.truth import truths
from tests.core.mock.made import CARD, DRILL, at_phase, bank


def rows(room):
    return number_rows(room.state, truths(room.state, bank()))


@pytest.mark.parametrize(
    ("typed", "said", "right"),
    [("2350 tok/s", 2350.0, True), ("2.35k", 2350.0, True), ("1000", 1000.0, False), ("no idea", None, False)],
)
def test_a_locked_answer_is_read_and_compared(typed, said, right):
    room = at_phase(5).does("candidate", "answer_locked", drill=DRILL, text=typed, confidence=70)
    (row,) = rows(room)
    assert (row.said, row.right, row.confidence, row.unit) == (said, right, 70, "tok/s")
    assert row.truth == pytest.approx(2344.7, abs=0.05)


def test_a_claim_is_set_beside_the_truth_of_the_moment_in_which_it_was_checked():
    room = at_phase(4).does("candidate", "claim", row="c1", claim="attention", number="7.7", unit="%", confidence=80)
    room.does("interviewer", "claim_checked", row="c1", card=CARD, number="attention")
    room.does("interviewer", "twist_applied", twist="long-context", card=CARD)
    room.does("candidate", "claim", row="c2", claim="attention now", number="0.31")
    room.does("interviewer", "claim_checked", row="c2", card=CARD, number="attention")
    first, second = rows(room)
    assert (first.right, round(first.truth, 2), first.confidence) == (True, 7.67, 80)
    assert round(second.truth, 1) == 30.7
    assert not second.right  # 0.31 in the asked unit is 0.31%
    assert second.confidence is None


def test_a_claim_that_is_no_number_is_kept_as_typed():
    room = at_phase(4).does("candidate", "claim", row="c1", claim="x", number="a lot", unit="furlong")
    room.does("interviewer", "claim_checked", row="c1", card=CARD, number="ratio")
    (row,) = rows(room)
    assert (row.said, row.right, row.typed) == (None, False, "a lot furlong")
