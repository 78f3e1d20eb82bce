"""The shared board: one pad, a table of claims, sliders under one hand, answers locked once."""

from __future__ import annotations

import pytest

from core.mock.events import EventError
from core.mock.fold_board import HOLD_S, MAX_CLAIMS, held_by_another
from tests.core.mock.made import CARD, DRILL, at_phase, opened


def test_a_twist_never_touches_the_pad():
    room = at_phase(4).does("candidate", "pad", text="half a sen")
    room.does("interviewer", "twist_applied", twist="padding", card=CARD)
    assert room.state.pad == "half a sen"


def test_a_pad_of_a_hundred_kilobytes_is_refused_in_words_and_the_old_one_stays():
    room = opened().does("candidate", "pad", text="before")
    with pytest.raises(EventError, match="text has 100,000 characters, and at most 20,000"):
        room.does("candidate", "pad", text="x" * 100_000)
    assert room.state.pad == "before"


@pytest.mark.parametrize("text", ["", "🙂", "مرحبا بالعالم", "<script>alert(1)</script>", "a\x00b", "  spaces \n"])
def test_a_pad_is_kept_as_it_was_typed(text):
    assert opened().does("candidate", "pad", text=text).state.pad == text


def test_a_claim_is_changed_and_removed_by_its_row():
    room = opened().does("candidate", "claim", row="c1", claim="ratio", number="1.33", unit="x", confidence=80)
    room.does("candidate", "claim", row="c1", claim="ratio", number="1.77", unit="x")
    assert [claim.number for claim in room.state.claims.values()] == ["1.77"]
    room.does("interviewer", "claim_checked", row="c1", card=CARD, number="ratio")
    room.does("candidate", "claim_removed", row="c1")
    assert not room.state.claims
    assert not room.state.checked
    with pytest.raises(EventError, match="gone already"):
        room.does("candidate", "claim_removed", row="c1")


def test_the_table_holds_so_many_claims():
    room = opened()
    for row in range(MAX_CLAIMS):
        room.does("candidate", "claim", row=f"c{row}", claim="x")
    with pytest.raises(EventError, match=f"{MAX_CLAIMS} claims"):
        room.does("candidate", "claim", row="more", claim="x")
    room.does("candidate", "claim", row="c0", claim="changed")


def test_a_claim_is_checked_against_a_number_that_the_cards_compute():
    room = opened().does("candidate", "claim", row="c1", claim="x")
    for fields, says in (
        ({"row": "c2", "card": CARD, "number": "ratio"}, "claim is gone"),
        ({"row": "c1", "card": CARD, "number": "nothing"}, "no such number"),
        ({"row": "c1", "card": DRILL, "number": "answer"}, "no such number"),
    ):
        with pytest.raises(EventError, match=says):
            room.does("interviewer", "claim_checked", **fields)
    room.does("interviewer", "claim_checked", row="c1", card=CARD, number="ratio")
    room.does("interviewer", "claim_unchecked", row="c1")
    assert not room.state.checked
    with pytest.raises(EventError, match="beside no number"):
        room.does("interviewer", "claim_unchecked", row="c1")


def test_two_hands_do_not_fight_over_the_sliders():
    room = at_phase(2).does("candidate", "hold", on=True)
    with pytest.raises(EventError, match="candidate has the sliders"):
        room.does("interviewer", "sliders", values={"batch": 8}, after_s=HOLD_S - 1)
    room.does("candidate", "sliders", values={"batch": 4.0})
    assert room.state.sliders == {"batch": 4.0}
    with pytest.raises(EventError, match="candidate has the sliders"):
        room.does("interviewer", "hold", on=False, after_s=HOLD_S - 1)
    room.does("interviewer", "sliders", values={"seq_len": 8192}, after_s=1)  # the hand has rested for so long
    assert room.state.sliders == {"batch": 4.0, "seq_len": 8192}
    assert room.state.sliders_seq == room.state.seq
    assert room.state.hold is not None
    assert room.state.hold.role == "interviewer"


def test_a_hold_that_is_given_back_is_free_at_once():
    room = at_phase(2).does("candidate", "hold", on=True).does("candidate", "hold", on=False)
    assert not held_by_another(room.state, "interviewer", room.at)
    room.does("interviewer", "sliders", values={"batch": 8})


def test_a_slider_between_two_hands_moves_with_the_first_one():
    room = at_phase(2).does("candidate", "sliders", values={"batch": 4})
    room.writes("interviewer", "sliders", {"values": {"batch": 99}})
    assert room.state.sliders == {"batch": 4}


def test_an_answer_is_locked_once_and_only_for_a_drill_that_was_shown():
    room = at_phase(2)
    with pytest.raises(EventError, match="not been shown"):
        room.does("candidate", "answer_locked", drill=DRILL, text="1", confidence=50)
    room.does("interviewer", "phase_started", phase=5)
    room.does("candidate", "answer_locked", drill=DRILL, text="2350 tok/s", confidence=50)
    with pytest.raises(EventError, match="is locked"):
        room.does("candidate", "answer_locked", drill=DRILL, text="2345 tok/s", confidence=90)
    assert room.state.answers[DRILL].text == "2350 tok/s"


def test_stuck_can_be_taken_back():
    room = at_phase(2).does("candidate", "stuck").does("candidate", "stuck", on=False)
    assert not room.state.stuck


def test_the_calculator_has_a_bounded_number_of_values():
    room = opened().does("candidate", "sliders", values={f"v{n}": 1 for n in range(60)})
    with pytest.raises(EventError, match="at most 80 values"):
        room.does("candidate", "sliders", values={f"w{n}": 1 for n in range(60)})
