"""Scores rest on evidence, the whole is judged after the items, and a commit is final."""

from __future__ import annotations

import pytest

from core.mock.events import EventError
from core.mock.fold_rating import MAX_LINES, commit_refusals
from tests.core.mock.made import ITEMS, at_phase, opened, scored, whole


def test_a_score_without_evidence_is_not_committed():
    room = at_phase(2)
    for item in ITEMS:
        room.does("interviewer", "score_drafted", item=item, level=3)
    room.does("interviewer", "overall", judgement="lean hire", reason="good")
    for item in ITEMS[:-1]:
        room.does("interviewer", "evidence", text="heard", item=item)
    with pytest.raises(EventError, match=r"plan has a score without evidence: link one line to it \(#plan\)"):
        room.does("interviewer", "committed")
    room.writes("interviewer", "committed", {})
    assert room.state.ratings["interviewer"].committed is None
    room.does("interviewer", "evidence", text="heard", item="plan").does("interviewer", "committed")
    assert room.state.ratings["interviewer"].committed is not None


def test_evidence_of_another_rater_does_not_carry_a_score():
    room = at_phase(2).does("rater", "joined", holder="r")
    scored(room)
    for item in ITEMS:
        room.does("rater", "score_drafted", item=item, level=3)
    room.does("rater", "overall", judgement="lean hire", reason="good")
    with pytest.raises(EventError, match="define has a score without evidence"):
        room.does("rater", "committed")


def test_not_observed_needs_no_evidence():
    room = at_phase(2)
    for item in ITEMS:
        room.does("interviewer", "score_drafted", item=item, level=0)
    room.does("interviewer", "overall", judgement="lean no", reason="too little was seen")
    room.does("interviewer", "committed")
    assert room.state.ratings["interviewer"].committed is not None


def test_the_whole_is_judged_after_the_items_and_before_the_commit():
    room = at_phase(2)
    with pytest.raises(EventError, match="Score the items first, then the whole: define, arithmetic, causes, plan"):
        room.does("interviewer", "overall", judgement="lean hire", reason="x")
    for item in ITEMS:
        room.does("interviewer", "score_drafted", item=item, level=0)
    with pytest.raises(EventError, match="no judgement as a whole"):
        room.does("interviewer", "committed")
    with pytest.raises(EventError, match="reason is empty"):
        room.does("interviewer", "overall", judgement="lean hire", reason=" ")


def test_a_commit_is_final():
    room = scored(at_phase(2)).does("interviewer", "committed")
    line = room.state.ratings["interviewer"].evidence[0].id
    for kind, fields in (
        ("score_drafted", {"item": "plan", "level": 1}),
        ("evidence", {"text": "late"}),
        ("evidence_linked", {"evidence": line, "item": "plan"}),
        ("evidence_removed", {"evidence": line}),
        ("overall", {"judgement": "no hire", "reason": "x"}),
        ("committed", {}),
    ):
        with pytest.raises(EventError, match="scores are committed"):
            room.does("interviewer", kind, **fields)
    room.does("interviewer", "note", text="a note may still be taken")


def test_evidence_is_stamped_with_time_and_phase():
    room = at_phase(3)
    room.does("interviewer", "evidence", text="derived 8N over 6N unaided", sign="+", item="arithmetic", after_s=12)
    (line,) = room.state.ratings["interviewer"].evidence
    assert (line.mark.t, line.mark.phase, line.sign) == (192, 3, "+")


def test_an_own_line_is_moved_or_removed_and_no_other():
    room = opened().does("interviewer", "evidence", text="x")
    line = room.state.ratings["interviewer"].evidence[0].id
    room.does("interviewer", "evidence_linked", evidence=line, item="plan")
    assert room.state.ratings["interviewer"].evidence[0].item == "plan"
    with pytest.raises(EventError, match="no line of yours"):
        room.does("rater", "evidence_removed", evidence=line)
    room.does("interviewer", "evidence_removed", evidence=line)
    assert room.state.ratings["interviewer"].evidence == ()


@pytest.mark.parametrize("kind", ["evidence", "score_drafted", "evidence_linked"])
def test_an_item_is_one_of_the_scorecard(kind):
    room = opened()
    fields = {"evidence": {"text": "x"}, "score_drafted": {"level": 2}, "evidence_linked": {"evidence": 1}}[kind]
    with pytest.raises(EventError, match="charm is no item of this scorecard: define, arithmetic, causes, plan"):
        room.does("interviewer", kind, item="charm", **fields)


def test_a_score_is_taken_back():
    room = opened().does("interviewer", "score_drafted", item="plan", level=2)
    room.does("interviewer", "score_drafted", item="plan", level=None)
    assert "plan" not in room.state.ratings["interviewer"].scores
    assert len(commit_refusals(room.state, room.state.ratings["interviewer"])) == len(ITEMS) + 1


@pytest.mark.parametrize("level", [-1, 5, 2.5, "high"])
def test_a_level_is_one_of_the_scale(level):
    with pytest.raises(EventError, match="level"):
        opened().does("interviewer", "score_drafted", item="plan", level=level)


def test_lines_are_bounded():
    room = opened()
    for number in range(MAX_LINES):
        room.writes("interviewer", "note", {"text": f"n{number}"})
        room.writes("interviewer", "evidence", {"text": f"e{number}"})
    with pytest.raises(EventError, match="500 notes"):
        room.does("interviewer", "note", text="x")
    with pytest.raises(EventError, match="500 lines"):
        room.does("interviewer", "evidence", text="x")


def test_the_self_rating_is_final_and_comes_in_a_session():
    with pytest.raises(EventError, match="not begun"):
        opened().does("candidate", "self_rated", overall="lean no")
    with pytest.raises(EventError, match="not begun"):
        opened().does("candidate", "feedback", clear=1, fair=1, useful=1)
    room = whole()
    with pytest.raises(EventError, match="stays as it is"):
        room.does("candidate", "self_rated", overall="strong hire")


def test_ratings_are_revealed_when_interviewer_and_candidate_have_both_committed():
    room = scored(at_phase(7))
    assert not room.state.revealed
    room.does("candidate", "self_rated", overall="lean no")
    assert not room.state.revealed
    assert room.does("interviewer", "committed").state.revealed


def test_a_summary_is_the_leading_raters():
    room = opened().does("interviewer", "summary", strengths=["a", "b"], changes=["c"])
    assert room.state.summary is not None
    assert room.state.summary.strengths == ("a", "b")
    with pytest.raises(EventError, match="leads"):
        room.does("rater", "summary", strengths=[], changes=[])
