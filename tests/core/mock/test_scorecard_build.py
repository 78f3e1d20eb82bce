"""A card says what happened; each copy holds what its reader may have, and the log restores the room."""

from __future__ import annotations

import pytest

from core.mock.fold import fold
from core.mock.scorecard_build import SEALED, ScorecardError, events_of, restored, scorecard
from core.mock.state import RoomState
from tests.core.mock.made import DRILL, Played, at_phase, bank, opened, pack, plan, scored, whole
from tests.core.mock.walk import on_a_candidates_card, private_texts, strings


def made(room, **options):
    return scorecard(room.state, room.log, pack(), bank(), **options)


def test_the_interviewers_copy_has_one_of_everything():
    card = made(whole(level=2))
    assert [item.id for item in card.items] == ["define", "arithmetic", "causes", "plan"]
    arithmetic = card.items[1]
    assert (arithmetic.level, arithmetic.hint_cost, arithmetic.after_hints) == (2, 0.25, 1.75)
    assert (arithmetic.evidence[0].sign, arithmetic.evidence[0].phase) == ("+", "Wrap")
    assert [hint.item for hint in card.hints] == ["arithmetic"]
    assert [twist.id for twist in card.twists] == ["long-context", "slow-rail"]
    assert [part.name for part in card.timeline][:2] == ["Set-up", "Clarify"]
    assert card.overall is not None
    assert (card.overall.judgement, card.overall.nearest) == ("lean hire", "no hire")
    assert card.self_ is not None
    assert card.self_.words == "I forgot the price."
    assert (card.strengths, card.changes) == (("Asked first",), ("Price each fix",))
    assert len(card.next_drills) == 5
    assert (card.claims[0].claim, card.claims[0].conf, card.pad) == ("HFU ceiling", 0.8, "8N over 6N")
    assert [other.levels for other in card.others] == [{"define": 1, "arithmetic": 1, "causes": 1, "plan": 1}]
    assert [note.text for note in card.notes] == ["private: nervous at first"]
    assert card.feedback is not None
    assert card.duration_s == 1989
    assert len(card.log) == len(whole().log)


@pytest.mark.parametrize("level", [1, 2, 3, 4])
def test_the_candidates_copy_has_no_note_no_other_rater_no_log_and_of_the_pack_what_was_scored(level):
    room = whole(level)
    card = made(room, audience="candidate")
    assert (card.notes, card.others, card.log, card.feedback) == ((), (), (), None)
    shown = "\n".join(strings(card))
    assert "nervous" not in shown
    texts = {where: text for where, text in private_texts(room.state).items() if " truth " not in where}
    assert {where for where, text in texts.items() if text in shown} == on_a_candidates_card(room.state)


def test_each_item_says_in_words_what_was_scored_and_the_level_that_was_reached():
    arithmetic = made(whole(3)).items[1]
    assert (arithmetic.title, arithmetic.dimension) == ("Tests the story of recomputation with numbers", "Numbers")
    assert arithmetic.reached == "Derives 8/6 and the ceiling of 46.7%, and sees that 62% lies above it"
    early = made(opened()).items[1]
    assert early.title == arithmetic.title
    assert early.reached == ""


def test_a_twist_that_was_not_public_is_not_in_the_candidates_copy():
    room = at_phase(4).does("interviewer", "twist_applied", twist="slow-rail", public=False)
    scored(room).does("interviewer", "committed").does("candidate", "self_rated", overall="lean no")
    assert made(room, audience="candidate").twists == ()
    assert len(made(room).twists) == 1


def test_the_candidates_copy_comes_when_both_have_committed():
    with pytest.raises(ScorecardError, match="when the interviewer and the candidate have both committed"):
        made(scored(at_phase(7)), audience="candidate")


def test_names_can_be_left_out():
    assert made(whole()).names == {"interviewer": "Interviewer", "candidate": "Candidate"}
    assert made(whole(), with_names=False).names == {}


def test_a_room_is_restored_from_its_card_to_the_same_state():
    room = whole()
    assert restored(made(room), RoomState(plan())) == room.state
    with pytest.raises(ScorecardError, match="holds no log"):
        restored(made(room, audience="candidate"), RoomState(plan()))


def test_a_card_is_made_at_any_time_after_the_opening():
    assert made(opened()).overall is None
    empty = Played()
    with pytest.raises(ScorecardError, match="not been opened"):
        made(empty)


def test_what_is_sealed_is_blanked_in_the_log_and_the_rest_keeps_its_numbers():
    room = scored(at_phase(7)).does("rater", "joined", holder="r")
    scored(room, "rater").does("rater", "committed")
    room.does("candidate", "self_rated", overall="lean no", words="secret doubt")
    card = made(room)
    shown = "\n".join(strings(card))
    assert "secret doubt" not in shown
    assert "rater heard this" not in shown
    assert card.self_ is None
    assert [line.kind for line in card.log].count(
        SEALED
    ) == 11  # 4 lines, 4 scores, a judgement, a commit, a self-rating
    again = fold(RoomState(plan()), events_of(card))
    assert again.ratings["interviewer"] == room.state.ratings["interviewer"]
    room.does("interviewer", "committed")
    assert SEALED not in [line.kind for line in made(room).log]


def test_a_second_raters_copy_is_sealed_from_the_other_side():
    room = scored(at_phase(7)).does("interviewer", "committed").does("rater", "joined", holder="r")
    room.does("interviewer", "summary", strengths=["was calm"], changes=[])
    room.does("candidate", "self_rated", overall="lean no", words="secret doubt")
    card = made(room, rater="rater")
    shown = "\n".join(strings(card))
    assert ("secret doubt" in shown, "interviewer heard" in shown, "was calm" in shown) == (False, False, False)


def test_numbers_of_drills_are_there():
    room = at_phase(5).does("candidate", "answer_locked", drill=DRILL, text="1000", confidence=90)
    (row,) = made(room).numbers
    assert (row.said, row.right, row.conf) == (1000.0, False, 0.9)
