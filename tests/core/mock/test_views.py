"""Nothing private reaches a candidate or an observer, at any phase; each role sees exactly its own."""

from __future__ import annotations

import dataclasses

import pytest

from core.mock.fold import fold
from core.mock.state import RoomState
from core.mock.views import CandidateView, ObserverView, RaterView, view_for
from tests.core.mock.made import CARD, DRILL, ITEMS, at_phase, bank, opened, pack, plan, scored, whole
from tests.core.mock.walk import private_texts, strings

WHOLE = whole()


def seen(role, state) -> str:
    return "\n".join(strings(view_for(role, state, pack(), bank())))


@pytest.mark.parametrize("role", ["candidate", "observer"])
@pytest.mark.parametrize("events", range(len(WHOLE.log) + 1))
def test_no_private_text_is_in_a_public_view_after_any_event(events, role):
    state = fold(RoomState(plan()), WHOLE.log[:events])
    shown = seen(role, state)
    texts = private_texts(state)
    assert len(texts) > 80
    leaked = {where: text for where, text in texts.items() if text in shown}
    if role == "candidate" and state.revealed:  # the table of numbers is part of the debrief
        leaked = {where: text for where, text in leaked.items() if " truth " not in where}
    assert leaked == {}


@pytest.mark.parametrize("seed", [3, 417])
@pytest.mark.parametrize("phase", range(8))
def test_the_same_holds_for_other_numbers(phase, seed):
    state = at_phase(phase, seed=seed).state
    for role in ("candidate", "observer"):
        shown = seen(role, state)
        assert [where for where, text in private_texts(state).items() if text in shown] == []


def test_the_walk_would_find_a_leak():
    """The same texts are in the console, but for parts of cards that no page of a session shows."""
    state = at_phase(3).state
    shown = seen("interviewer", state)
    missing = [where.split(" ", 1)[1] for where, text in private_texts(state).items() if text not in shown]
    unused = ("##", "tradeoffs.", "stress.", "lens.", "twists.experts.")
    assert [field for field in missing if not field.startswith(unused)] == []
    assert len(missing) < len(private_texts(state)) / 2


def test_what_raters_write_is_sealed_until_both_have_committed():
    room = scored(at_phase(7))
    room.does("interviewer", "note", text="a private note")
    words = ["interviewer heard this", "interviewer would hire", "a private note"]
    for _ in range(2):
        for role in ("candidate", "observer", "rater"):
            shown = seen(role, room.state)
            assert [word for word in words if word in shown] == []
        room.does("interviewer", "committed") if not room.state.ratings["interviewer"].committed else None
    room.does("candidate", "self_rated", overall="lean no", words="I forgot the price")
    shown = seen("candidate", room.state)
    assert [word in shown for word in words] == [True, True, False]
    assert "heard this" not in seen("observer", room.state)
    assert "heard this" not in seen("rater", room.state)  # who has not committed yet


def test_the_self_rating_is_sealed_to_every_rater_who_has_not_committed():
    room = scored(at_phase(7)).does("candidate", "self_rated", overall="strong hire", words="I was splendid")
    for role in ("interviewer", "rater", "observer"):
        assert "splendid" not in seen(role, room.state)
    view = view_for("interviewer", room.state, pack(), bank())
    assert isinstance(view, RaterView)
    assert view.private.candidate_committed
    room.does("interviewer", "committed")
    assert "splendid" in seen("interviewer", room.state)
    assert "splendid" not in seen("rater", room.state)
    assert "splendid" not in seen("observer", room.state)


def test_a_second_raters_scores_are_unreadable_before_the_own_commit():
    room = scored(at_phase(7)).does("rater", "joined", holder="r")
    scored(room, "rater").does("rater", "committed")
    view = view_for("interviewer", room.state, pack(), bank())
    assert isinstance(view, RaterView)
    assert view.private.others == ()
    assert "rater heard this" not in seen("interviewer", room.state)
    room.does("interviewer", "committed")
    assert "rater heard this" in seen("interviewer", room.state)


def test_the_candidate_sees_what_was_released():
    view = view_for("candidate", WHOLE.state, pack(), bank())
    assert isinstance(view, CandidateView)
    public = view.public
    assert len(public.prompts) == 1
    assert public.prompts[0].startswith("A dense 70B model trains")
    assert [reply.give for reply in public.replies] == ["Full, in every layer."]
    assert len(public.hints) == 1
    assert len(public.banners) == 2
    assert [(drill.number, drill.unit) for drill in public.drills] == [(0, "tok/s")]
    assert (public.pad, public.phase_name, public.finished) == ("8N over 6N", "Wrap", True)
    assert [answer.text for answer in view.answers] == ["2350 tok/s"]
    assert view.debrief is not None
    assert view.gave_feedback


def test_a_twist_that_is_not_public_has_no_banner():
    room = at_phase(4).does("interviewer", "twist_applied", twist="padding", card=CARD, public=False)
    room.does("interviewer", "twist_applied", twist="half-budget")
    view = view_for("observer", room.state, pack(), bank())
    assert isinstance(view, ObserverView)
    assert [banner[:12] for banner in view.public.banners] == ["Finance asks"]


def test_a_hint_after_a_twist_prints_the_numbers_of_that_moment():
    room = at_phase(4).does("interviewer", "hint_released", card=CARD, hint=3)
    room.does("interviewer", "twist_applied", twist="padding", card=CARD)
    before = view_for("candidate", room.state, pack(), bank()).public.hints
    assert before[0].startswith("10.6N ran")
    other = at_phase(4).does("interviewer", "twist_applied", twist="padding", card=CARD)
    other.does("interviewer", "hint_released", card=CARD, hint=3)
    assert view_for("candidate", other.state, pack(), bank()).public.hints[0].startswith("8.5N ran")


def test_a_candidate_learns_of_no_second_rater_and_no_observer():
    room = opened().does("rater", "joined", holder="hidden-tab", handle="Hidden Rater")
    shown = seen("candidate", room.state)
    assert "idden" not in shown
    assert "Interviewer" in shown


def test_the_views_follow_the_log_and_nothing_else():
    state = at_phase(5).state
    for role in ("interviewer", "rater", "candidate", "observer"):
        assert view_for(role, state, pack(), bank()) == view_for(role, fold(state, []), pack(), bank())


def test_the_drill_is_asked_with_its_unit_and_time_and_without_its_answer():
    view = view_for("candidate", at_phase(5).state, pack(), bank())
    (drill,) = view.public.drills
    assert dataclasses.asdict(drill).keys() == {"number", "prompt", "seconds", "unit", "rtol"}
    assert DRILL not in seen("candidate", at_phase(5).state)
    assert CARD not in seen("candidate", at_phase(5).state)


def test_item_names_come_with_the_debrief_only():
    before = seen("candidate", at_phase(5).state).split("\n")
    assert not set(ITEMS) & set(before)
    assert set(ITEMS) <= set(seen("candidate", WHOLE.state).split("\n"))
